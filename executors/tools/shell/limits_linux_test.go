package shell_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// A program that runs without a question gets little memory and leaves no core dump. With
// permission it has no limit.
func TestMemoryLimit(t *testing.T) {
	const script = "ulimit -d; ulimit -c; ulimit -f; echo a | { ulimit -d; }"
	run := func(readOnly bool) string {
		out, err := shell.Local{}.Run(t.Context(), shell.Command{Line: script, Dir: "/", ReadOnly: readOnly})
		if err != nil {
			t.Fatal(err)
		}
		return out.Text
	}
	if got, want := run(true), "4194304\n0\n1048576\n4194304\n"; got != want {
		t.Errorf("without a question: %q, want %q", got, want)
	}
	if got := run(false); strings.Contains(got, "4194304") {
		t.Errorf("with permission: %q", got)
	}
}

// The kernel chooses a command that runs without a question first if there is no memory left.
func TestEndsFirst(t *testing.T) {
	l := reader(t, t.TempDir())
	// The shell waits until the agent has written the file.
	out, err := l.Run(t.Context(), shell.Command{Line: "until grep -qx 1000 /proc/self/oom_score_adj; do :; done; echo done", Dir: "/", ReadOnly: true})
	if err != nil || out.Text != "done\n" {
		t.Errorf("Run: %+v, %v", out, err)
	}
}

// A command that failed for lack of memory says so to the model, and the next call of it asks.
func TestMemoryNote(t *testing.T) {
	for text, want := range map[string]bool{
		"jq: error: cannot allocate memory":               true,
		"memory allocation of 9000000000 bytes failed":    true,
		"bash: line 1: xrealloc: cannot allocate 8 bytes": true,
		"sort: memory exhausted":                          true,
		"no such file":                                    false,
	} {
		code := 1
		e := shell.New(runner{shell.Output{Text: text, ExitCode: &code, ReadOnly: true}}, "/", setting.Default[shell.Config]())
		input, _ := json.Marshal(map[string]string{"command": "jq . a"})
		call := &executors.Call{Tool: shell.Tool, Input: input, Checking: executors.Checking{Plain: &executors.Plain{Script: "jq . a", ReadOnly: true}}}
		res, err := e.Execute(t.Context(), call)
		if err != nil || strings.Contains(res.ForModel(), "at most 4 GiB of memory") != want {
			t.Errorf("%s: %q, %v", text, res.ForModel(), err)
		}
		if card, err := e.Prepare(t.Context(), call); err != nil || card.FullAccess != want {
			t.Errorf("%s: the next call asks: %t, %v", text, card.FullAccess, err)
		}
	}
}

// A command that the box refused a file names it to the model, and the next call of it asks.
func TestRefusalNote(t *testing.T) {
	for text, file := range map[string]string{
		"cat: /home/u/notes: Permission denied":                             "/home/u/notes",
		"fatal: could not open '/home/u/.gitconfig': Permission denied":     "/home/u/.gitconfig",
		"ls: cannot open directory '/srv': Permission denied\nmore\n":       "/srv",
		"open /home/u/x/go.mod: operation not permitted":                    "/home/u/x/go.mod",
		"cat: link: Permission denied":                                      "",
		"Error: EACCES: permission denied, open '/home/u/.npmrc'\n  at f:1": "/home/u/.npmrc",
	} {
		code := 1
		e := shell.New(runner{shell.Output{Text: text, ExitCode: &code, ReadOnly: true}}, "/", setting.Default[shell.Config]())
		input, _ := json.Marshal(map[string]string{"command": "cat a"})
		call := &executors.Call{Tool: shell.Tool, Input: input, Checking: executors.Checking{Plain: &executors.Plain{Script: "cat a", ReadOnly: true}}}
		if card, err := e.Prepare(t.Context(), call); err != nil || card.FullAccess {
			t.Errorf("%s: the first call asks: %t, %v", text, card.FullAccess, err)
		}
		res, err := e.Execute(t.Context(), call)
		if got := res.ForModel(); err != nil || !strings.Contains(got, "call it again unchanged") || strings.Contains(got, " was refused") != (file != "") ||
			file != "" && !strings.Contains(got, "; "+file+" was refused") {
			t.Errorf("%s: %q, %v", text, got, err)
		}
		if card, err := e.Prepare(t.Context(), call); err != nil || !card.FullAccess {
			t.Errorf("%s: the next call asks: %t, %v", text, card.FullAccess, err)
		}
	}
}

// runner returns the same output for every command.
type runner struct{ out shell.Output }

func (r runner) Run(context.Context, shell.Command) (shell.Output, error) { return r.out, nil }

func (r runner) Background(context.Context, shell.Command) (shell.Job, error) { panic("unused") }
