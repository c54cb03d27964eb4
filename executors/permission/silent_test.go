package permission

import (
	"context"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
)

// formRecorder records the form in which a call runs.
type formRecorder struct {
	ran
	plain *executors.Plain
}

func (r *formRecorder) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	r.plain = call.Plain
	return r.ran.Execute(ctx, call)
}

// A command that a rule allows runs at once, as it is written and outside of the read-only
// sandbox, and may be redirected to a file inside the roots.
func TestAllowRulesRunSilently(t *testing.T) {
	rules := map[string][]Rule{"bash": {
		{Pattern: "echo *", Action: Allow}, {Pattern: "go *", Action: Allow}, {Pattern: "cat *", Action: Allow}, {Pattern: "git *", Action: Allow},
		{Pattern: "grep *", Action: Allow},
	}}
	for script, want := range map[string]string{
		"echo a > out": "runs", "echo a >> sub/out.txt": "runs", "cat a b > c": "runs", "git diff > x.patch": "runs", "grep x a 2> err": "runs",
		"go vet ./... &> log": "runs",
		"go list -m all":      "runs", "go list -m all | grep x": "runs", "cd sub && go list -m all": "runs", "timeout 5 go list ./...": "runs",
		"go list -m all > out": "runs",
		"git log -3":           "runs", "echo a; echo b > c": "runs", "grep x <<EOF > out\nx\nEOF": "runs", "cat a | grep x > out": "runs",
		"ls && go list ./...": "runs", "CI=1 go list -m all": "runs",
		"go env GOPATH": "runs", "go version": "runs", "grep x < a > b": "runs", "echo a > /dev/null": "runs",
		"ls": "boxed", "wc -l a": "boxed", "ls | wc -l": "boxed",
		"ls > out": "ask", "wc -l a > out": "ask", "echo a | wc > out": "ask", "echo a > .envrc": "ask", "echo a > .git/hooks/x": "ask",
		"echo a > .vscode/tasks.json": "ask",
		"cat x > AGENTS.md":           "ask", "echo a > .zeph/config.toml": "ask", `echo a > "$f"`: "ask", "GOFLAGS=-x go list -m all": "ask",
		"GIT_DIR=x git log": "ask",
		"echo a > /etc/x":   "block", "echo a > ../x": "block", "echo a > ~/x": "block",
	} {
		s := newSetup()
		s.cfg.Permissions = rules
		end := &formRecorder{}
		s.build()
		policy := s.perm.Policy
		g := &Guard{Policy: policy, Roots: roots(root), Home: "/home/u"}
		s.chain = executors.Chain(end, g.Middleware, s.perm.Middleware)
		res := s.do(t, bash(script))
		got := "runs"
		switch {
		case len(s.user.asked) > 0:
			got = "ask"
		case res.Category() == executors.PolicyBlocked:
			got = "block"
		case end.plain != nil && end.plain.ReadOnly:
			got = "boxed"
		}
		if got != want {
			t.Errorf("%s: %s, want %s (%s)", script, got, want, res.ForModel())
		}
		if s.mode = "ask"; want == "runs" {
			end.plain = nil
			if s.do(t, bash(script)); len(end.calls) > 1 && (end.plain == nil || !end.plain.ReadOnly) {
				t.Errorf("%s: in a read-only mode it runs outside of the sandbox", script)
			}
		}
	}
}
