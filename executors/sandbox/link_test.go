package sandbox

import (
	"context"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// outcome is a raw output of a tool that runs commands.
type outcome struct {
	code   int
	stderr string
}

func (o outcome) Outcome() (*int, string) { return &o.code, o.stderr }

// answer is a tool that always returns the same result.
type answer struct {
	executors.Executor
	res executors.Result
}

func (a answer) Execute(context.Context, *executors.Call) (executors.Result, error) {
	return a.res, nil
}

func TestMiddleware(t *testing.T) {
	roots, err := workspace.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	box := New(Config{Enabled: true}, Session{Roots: roots, Network: true, Probe: probe(7, "")})
	const denied = "touch: cannot touch '/etc/x': Permission denied\n[exit 1]"
	for name, tt := range map[string]struct {
		box      *Sandbox
		res      executors.Result
		want     string // part of the text
		category executors.Category
	}{
		"no sandbox": {nil, executors.Result{Text: denied, Failed: true, Raw: outcome{1, ""}}, "\n[exit 1]", ""},
		"success":    {box, executors.Result{Text: denied, Raw: outcome{0, ""}}, "\n[exit 1]", ""},
		"refused":    {box, executors.Result{Text: denied, Failed: true, Raw: outcome{1, ""}}, "[sandbox: commands write only in", ""},
		"its own failure": {box, executors.Result{Text: "x", Failed: true, Raw: outcome{exitCode, marker + "enforce: no\n"}},
			"so the command did not run: enforce: no", executors.PermanentFailure},
		"not a command": {box, executors.Failf(executors.ToolNotFound, "no such tool"), "no such tool", executors.ToolNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tt.box.Middleware(answer{res: tt.res}).Execute(t.Context(), &executors.Call{})
			if err != nil || !strings.Contains(got.ForModel(), tt.want) || got.Category() != tt.category || got.Failed != tt.res.Failed {
				t.Errorf("got %+v, %v", got, err)
			}
			if hint := strings.Contains(got.ForModel(), "[sandbox: "); hint != (name == "refused") {
				t.Errorf("hint %t: %s", hint, got.ForModel())
			}
		})
	}
}
