package integration

import (
	"cmp"
	"encoding/json"
	"log/slog"
	"os"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/commands"
)

// judgedRules are rules of each action, so that corpora meet them.
const judgedRules = `[[tools.permissions.bash]]
pattern = "git *"
action = "allow"
[[tools.permissions.bash]]
pattern = "find *"
action = "deny"
[[tools.permissions.bash]]
pattern = "ls *"
action = "ask"
[[tools.permissions.write]]
pattern = "free/*"
action = "allow"
[[tools.permissions.fetch]]
pattern = "example.org"
action = "deny"
[tools.shell]
blocked_commands = ["make install"]
confirm_patterns = ["secret"]
`

// otherCalls are calls of tools other than bash.
var otherCalls = []struct{ tool, input string }{
	{"read", `{"path":"a.txt"}`},
	{"read", `{"path":"../out/secret"}`},
	{"read", `{"path":"/etc/passwd"}`},
	{"read", `{"path":"~/.ssh/id_ed25519"}`},
	{"grep", `{"pattern":"x","path":".."}`},
	{"list_directory", `{"path":"."}`},
	{"write", `{"path":"new.txt","content":"x"}`},
	{"write", `{"path":"free/new.txt","content":"x"}`},
	{"write", `{"path":"free/../.git/hooks/pre-commit","content":"x"}`},
	{"write", `{"path":".zeph/config.toml","content":"x"}`},
	{"write", `{"path":"../new.txt","content":"x"}`},
	{"write", `{"path":1}`},
	{"edit", `{"path":"missing.txt","old_string":"a","new_string":"b"}`},
	{"move_path", `{"source":"a.txt","destination":"/tmp/../etc/x"}`},
	{"copy_path", `{"source":"../out/secret","destination":"b.txt"}`},
	{"delete_path", `{"path":"."}`},
	{"fetch", `{"url":"https://example.org/x"}`},
	{"fetch", `{"url":"http://example.org/x"}`},
	{"fetch", `{"url":"https://127.0.0.1/x"}`},
	{"fetch", `{"url":"https://example.com/x"}`},
	{"update_plan", `{"entries":[]}`},
}

// TestCheckEqualsRun checks the corpora of hostile and daily commands, and calls of
// other tools, twice: by "zeph-acp permissions check", and in a session whose user
// rejects every question. The decisions are equal.
func TestCheckEqualsRun(t *testing.T) {
	hostile, err := commands.Hostile(policyData)
	if err != nil {
		t.Fatal(err)
	}
	daily, err := commands.Daily(policyData)
	if err != nil {
		t.Fatal(err)
	}
	pool := newPool(t)
	for name, tt := range map[string]struct {
		mode   sdk.SessionModeId
		config string
	}{
		"ask":             {"ask", ""},
		"code with rules": {"code", judgedRules},
		"auto with rules": {"auto", judgedRules},
		"code with gates": {"code", judgedRules + policyRules + authorizationRules},
	} {
		t.Run(name, func(t *testing.T) {
			f := newScriptRunner(t, pool, sdk.ClientCapabilities{}, tt.mode, tt.config)
			f.compareRefused(extent(20, 1))
			for i, s := range append(hostile, daily...) {
				if i%extent(300, 5) == 0 && !strings.Contains(s.Text, "\r") { // a typed prompt has no CR
					f.compare(s.Tree, "bash", s.Text)
				}
			}
			for _, c := range otherCalls {
				f.compare("clean", c.tool, c.input)
			}
		})
	}
}

// compareRefused checks every nth of the commands that are blocked or asked about, by a
// check in this process and by the run. One that a rule allows is left out, since it
// would run.
func (f *scriptRunner) compareRefused(n int) {
	f.t.Helper()
	list, err := commands.Refused(policyData)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Chdir(f.root) // so that /proc/self/cwd is the agent's
	const tree = "clean"
	td, session := f.enter(tree)
	l, err := config.Load(config.Options{Environ: f.cmd.Env})
	if err != nil {
		f.t.Fatal(err)
	}
	checker, err := app.New(l, slog.New(slog.DiscardHandler)).Checker(td.Dir, string(f.mode))
	if err != nil {
		f.t.Fatal(err)
	}
	for i, s := range list {
		if i%n != 0 {
			continue
		}
		input, err := json.Marshal(map[string]string{"command": s.Text})
		if err != nil {
			f.t.Fatal(err)
		}
		check, err := checker.Check(f.t.Context(), "bash", input)
		if err != nil {
			f.t.Fatal(err)
		}
		if check.Decision == executors.Allow && strings.HasPrefix(check.Rule, "rule ") {
			continue
		}
		f.equal(session, tree, "bash", string(input), string(check.Decision), check.Rule, check.Links)
	}
}

// compare checks a call by the command that checks and by the run.
func (f *scriptRunner) compare(tree, tool, input string) {
	f.t.Helper()
	td, session := f.enter(tree)
	cmd := commandIn(f.agent, "permissions", "check", "--json", "--mode", string(f.mode), "--cwd", td.Dir, "--", tool, input)
	out, err := cmd.Output()
	var check struct {
		Decision, Rule string
		Links          []executors.Verdict
	}
	if jsonErr := json.Unmarshal(out, &check); jsonErr != nil {
		f.t.Fatalf("permissions check %s %s: %v, %v\n%s", tool, input, err, jsonErr, out)
	}
	f.equal(session, tree, tool, input, check.Decision, check.Rule, check.Links)
}

// equal makes a call, whose decision, rule and decision record must be the same as in its check.
// The record of the run has the user's answer, too.
func (f *scriptRunner) equal(session sdk.SessionId, tree, tool, input, decision, rule string, links []executors.Verdict) {
	f.t.Helper()
	f.prompt(session, "/"+tool+" "+input)
	line := f.lastAudited()
	run := cmp.Or(line.Decision, "invalid")
	if line.Answer != "" {
		run = "ask"
	}
	if decision != run || line.Answer == "" && rule != line.Rule {
		f.t.Errorf("tree %s: %s %q\ncheck %s, %s\nrun   %s, %s", tree, tool, input, decision, rule, run, line.Rule)
	}
	if n := len(line.Gates); n > 0 && line.Gates[n-1].Gate == executors.UserGate {
		line.Gates = line.Gates[:n-1]
	}
	checked, ran := executors.Record{Verdicts: links}, executors.Record{Verdicts: line.Gates}
	if want, got := checked.Explain(), ran.Explain(); got != want && links != nil && len(want) < 1000 { // the log cuts long texts
		f.t.Errorf("tree %s: %s %q is explained by the run as\n%s\nand by its check as\n%s", tree, tool, input, got, want)
	}
}

// auditedDecision is a line of the audit log.
type auditedDecision struct {
	Tool, Decision, Rule, Answer string
	Gates                        []executors.Verdict
}

// lastAudited returns the last line of the audit log.
func (f *scriptRunner) lastAudited() (line auditedDecision) {
	f.t.Helper()
	log := strings.TrimSpace(auditLog(f.t, f.home))
	if err := json.Unmarshal([]byte(log[strings.LastIndexByte(log, '\n')+1:]), &line); err != nil {
		f.t.Fatal(err)
	}
	return line
}

// TestCheckHasNoEffect checks that a check leaves no file and starts nothing.
func TestCheckHasNoEffect(t *testing.T) {
	a := launch(t, start{config: "[[tools.permissions.bash]]\npattern = \"touch *\"\naction = \"allow\"\n[[mcp.servers]]\nname = \"evil\"\ncommand = " +
		"\"touch\"\nargs = [\"started\"]\n"})
	for _, args := range [][]string{{"touch", "made"}, {"write", `{"path":"made","content":"x"}`}, {"evil__tool", "{}"}} {
		out, err := commandIn(a, append([]string{"permissions", "check", "--"}, args...)...).CombinedOutput()
		if err != nil {
			t.Errorf("%q: %v: %s", args, err, out)
		}
	}
	for _, dir := range []string{a.dir, a.home} {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if name := e.Name(); name != "config.toml" && !strings.HasPrefix(name, ".") {
				t.Errorf("%s has %s", dir, name)
			}
		}
	}
}
