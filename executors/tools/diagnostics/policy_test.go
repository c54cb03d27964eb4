package diagnostics_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/permission"
	"github.com/zeph-acp/zeph-acp/executors/permission/answers"
	"github.com/zeph-acp/zeph-acp/executors/tools/diagnostics"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

type approver struct {
	asked   []string
	options []string
}

func (a *approver) Approve(_ context.Context, call *executors.Call, options []permission.Option) (string, error) {
	a.asked = append(a.asked, call.Card.Command())
	for _, o := range options {
		a.options = append(a.options, o.Name)
	}
	return "allow_always", nil
}

// The tool runs code of the repository, so the links check it as they check bash.
func TestDecidedAsCommands(t *testing.T) {
	deny := map[string][]permission.Rule{diagnostics.Tool: {{Pattern: "go vet *", Action: permission.Deny}}}
	for name, tt := range map[string]struct {
		mode     string
		marker   string
		blocked  []string
		rules    map[string][]permission.Rule
		asked    int
		says     string
		category executors.Category
	}{
		"code asks":          {"code", "go.mod", nil, nil, 1, "", ""},
		"auto asks":          {"auto", "go.mod", nil, nil, 1, "", ""},
		"ask denies":         {"ask", "go.mod", nil, nil, 0, `mode "ask"`, executors.PolicyBlocked},
		"a rule denies":      {"code", "go.mod", nil, deny, 0, "go vet *", executors.PolicyBlocked},
		"blocked":            {"code", "go.mod", []string{"go"}, nil, 0, "blocked_commands", executors.PolicyBlocked},
		"a directory":        {"code", "a b;c/go.mod", nil, nil, 1, "", ""},
		"nothing is run":     {"ask", "Cargo.toml", nil, nil, 0, "cargo is not installed", ""},
		"nothing to look at": {"code", "x", nil, nil, 0, "no project", executors.PermanentFailure},
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			root, bin := filepath.Join(dir, "w"), filepath.Join(dir, "bin")
			os.MkdirAll(filepath.Join(root, filepath.Dir(tt.marker)), 0o755)
			os.WriteFile(filepath.Join(root, tt.marker), nil, 0o600)
			os.Mkdir(bin, 0o755)
			for _, name := range []string{"go", "go.bat"} {
				os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"), 0o755)
			}
			t.Setenv("PATH", bin)
			roots, err := workspace.New(root)
			if err != nil {
				t.Fatal(err)
			}
			a := &approver{}
			rules := setting.Default[permission.ShellRules]()
			rules.BlockedCommands = tt.blocked
			inForce := permission.NewShellPolicyHandle(permission.NewShellPolicy(rules, permission.Config{Permissions: tt.rules}, "", nil))
			guard := &permission.Guard{Policy: inForce, Roots: roots}
			permission := &permission.Permission{
				Policy: inForce, Roots: roots,
				Mode: func() string { return tt.mode }, Approver: a, Remembered: &answers.Project{},
			}
			chain := executors.Chain(diagnostics.New(shell.Local{}, roots, setting.Default[diagnostics.Config]()), executors.Validate, guard.Middleware,
				permission.Middleware)
			for range 2 { // the second time an "always" holds
				call := &executors.Call{Tool: diagnostics.Tool, Input: json.RawMessage(`{}`), Record: &executors.Record{}, Notify: func(executors.Event) {}}
				call.Card, call.PrepareErr = chain.Prepare(t.Context(), call)
				res, err := chain.Execute(t.Context(), call)
				if err != nil || res.Category() != tt.category || !strings.Contains(res.ForModel(), tt.says) {
					t.Errorf("%v, %+v: %s", err, call.Record, res.ForModel())
				}
			}
			if len(a.asked) != tt.asked {
				t.Errorf("asked about %q, want %d questions", a.asked, tt.asked)
			}
			if tt.asked > 0 && !strings.Contains(strings.Join(a.options, "\n"), "Always allow `go build -o /dev/null`, `go vet`") {
				t.Errorf("got the options %q, want go build with its -o and go vet in them", a.options)
			}
		})
	}
}
