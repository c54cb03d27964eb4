package adversarial

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/gates/judge"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// answers is a model with one answer, which keeps the question.
type answers struct {
	text     string
	err      error
	hang     bool
	question *string
}

func (answers) Name() string { return "m" }

func (a answers) Judge(ctx context.Context, instructions, question string) (string, error) {
	*a.question = instructions + question
	if a.hang {
		<-ctx.Done()
		return "", ctx.Err()
	}
	return a.text, a.err
}

func TestJudge(t *testing.T) {
	tests := []struct {
		name     string
		model    answers
		change   func(*Gate)
		decision executors.Decision
		audit    string
		message  string // for the model
		reason   string // for people
	}{
		{name: "allowed", model: answers{text: "ALLOW"}, decision: executors.Allow, audit: "allow"},
		{name: "denied", model: answers{text: "DENY: it touches production."}, decision: executors.Deny, audit: "deny:it touches production",
			message: "[adversarial] Tool call denied by policy", reason: "a policy forbids it: it touches production"},
		{name: "denied becomes a question", model: answers{text: "DENY: it touches production"}, change: func(g *Gate) { g.Config.OnDeny = "ask" },
			decision: executors.Ask, audit: "deny:it touches production", reason: "a policy forbids it: it touches production"},
		{name: "an allowance with a condition", model: answers{text: "ALLOW but be careful"}, decision: executors.Deny,
			audit: "error:the model gave an unexpected answer", message: "[adversarial] Tool call denied: policy check failed",
			reason: "the model gave an unexpected answer"},
		{name: "an error", model: answers{err: errors.New("status 500")}, decision: executors.Deny, audit: "error:status 500",
			message: "[adversarial] Tool call denied: policy check failed", reason: "status 500"},
		{name: "a timeout", model: answers{hang: true}, decision: executors.Deny, audit: "error:context deadline exceeded",
			message: "[adversarial] Tool call denied: policy check failed", reason: "context deadline exceeded"},
		{name: "an error with fail_open", model: answers{err: errors.New("status 500")}, change: func(g *Gate) { g.Config.FailOpen = true },
			decision: executors.Allow, audit: "error:status 500", reason: "status 500"},
		{name: "no model", change: func(g *Gate) { g.Model = func() judge.Model { return nil } }, decision: executors.Deny,
			audit: "error:no model can check the policies", message: "[adversarial] Tool call denied: policy check failed", reason: "no model can check the policies"},
		{name: "policies that cannot be read", model: answers{text: "ALLOW"}, change: func(g *Gate) { g.LoadErr = os.ErrNotExist }, decision: executors.Deny,
			audit: "error:file does not exist", message: "[adversarial] Tool call denied: policy check failed", reason: "file does not exist"},
		{name: "an exempt tool", change: func(g *Gate) { g.Config.ExemptTools = []string{"bash"} }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cfg := setting.Default[Config]()
			cfg.TimeoutMS = 100
			var question string
			tt.model.question = &question
			g := &Gate{Config: cfg, Policies: []string{"never touch production", "no network"}, Model: func() judge.Model { return tt.model }}
			if tt.change != nil {
				tt.change(g)
			}
			call := &executors.Call{Tool: "bash", Card: executors.Card{Script: command.Parse("deploy", command.Shell{})}, UserWords: "ship it",
				Record: &executors.Record{}}
			v, err := g.judge(t.Context(), call)
			if err != nil {
				t.Fatal(err)
			}
			message := ""
			if v.Failure != nil {
				message = v.Failure.Message
			}
			if v.Decision != tt.decision || call.Record.Adversarial != tt.audit || message != tt.message || v.Reason != tt.reason {
				t.Errorf("%+v, audit %q, message %q", v, call.Record.Adversarial, message)
			}
			for _, part := range []string{"- never touch production\n- no network", `"command":"deploy"`, `"the_user_wrote":"ship it"`} {
				if question != "" && !strings.Contains(question, part) {
					t.Errorf("the question lacks %s", part)
				}
			}
		})
	}
}

// A cancel of the turn is no verdict.
func TestJudgeCancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("the user stopped")
	cancel(stopped)
	g := &Gate{Config: setting.Default[Config](), Policies: []string{"p"}, Model: func() judge.Model { return answers{hang: true, question: new(string)} }}
	call := &executors.Call{Tool: "bash", Record: &executors.Record{}}
	if v, err := g.judge(ctx, call); err != stopped || v.Decision != "" || call.Record.Adversarial != "" {
		t.Errorf("%+v, %v, %q", v, err, call.Record.Adversarial)
	}
}

func TestLoad(t *testing.T) {
	home := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(home, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("good", "# comment\n\n  never push  \r\nno network")
	large := write("large", strings.Repeat("a\n", maxFile))
	tests := []struct {
		name string
		cfg  Config
		home string
		want []string
		err  string
	}{
		{name: "no file", cfg: Config{Policies: []string{"a"}}, want: []string{"a"}},
		{name: "both", cfg: Config{Policies: []string{"a"}, PolicyFile: "~/good"}, home: home, want: []string{"a", "never push", "no network"}},
		{name: "unknown home", cfg: Config{PolicyFile: "~/good"}, err: "the home directory is unknown"},
		{name: "missing", cfg: Config{PolicyFile: filepath.Join(home, "none")}, err: "no such file"},
		{name: "too large", cfg: Config{PolicyFile: large}, err: "is larger than 262144 bytes"},
		{name: "empty", cfg: Config{PolicyFile: write("empty", "# nothing\n")}, err: "holds no policy"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.cfg.Load(tt.home)
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Config)
		key    string
	}{
		{"on without policies", func(c *Config) { c.Enabled = true }, "policies"},
		{"an empty policy", func(c *Config) { c.Policies = []string{" "} }, "policies[0]"},
		{"a relative file", func(c *Config) { c.PolicyFile = "p.txt" }, "policy_file"},
		{"an unknown on_deny", func(c *Config) { c.OnDeny = "warn" }, "on_deny"},
		{"no time", func(c *Config) { c.TimeoutMS = 0 }, "timeout_ms"},
		{"the defaults", func(*Config) {}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := setting.Default[Config]()
			tt.change(&c)
			wrong := setting.Check(c)
			if tt.key == "" && len(wrong) != 0 || tt.key != "" && (len(wrong) != 1 || wrong[tt.key] == "") {
				t.Error(wrong)
			}
		})
	}
}
