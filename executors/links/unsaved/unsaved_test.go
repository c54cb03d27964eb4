package unsaved

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
)

// tools succeed.
type tools struct{ executors.Executor }

func (tools) Execute(context.Context, *executors.Call) (executors.Result, error) {
	return executors.Result{Text: "done"}, nil
}

func TestFiles(t *testing.T) {
	const path = "/w/a.txt"
	for name, tt := range map[string]struct {
		attached []string // texts of the path, in the order of the prompts
		saved    string   // the file at that time
		now      string   // and at the call
		unsaved  bool
	}{
		"never embedded":        {nil, "old", "old", false},
		"as it is":              {[]string{"old"}, "old", "old", false},
		"other line ends":       {[]string{"a\nb\n"}, "a\r\nb\r\n", "a\r\nb\r\n", false},
		"a part":                {[]string{"two\n"}, "one\ntwo\nthree\n", "one\ntwo\nthree\n", false},
		"newer":                 {[]string{"new"}, "old", "old", true},
		"newer, saved since":    {[]string{"new"}, "old", "new", false},
		"newer, another change": {[]string{"new"}, "old", "mine", false},
		"newer, then the same":  {[]string{"new", "old"}, "old", "old", false},
		"newer twice":           {[]string{"new", "newer"}, "old", "old", true},
		"emptied":               {[]string{"x"}, "", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			text := tt.saved
			f := &Files{Read: func(_ context.Context, p string) (string, error) {
				if p != path {
					return "", errors.New("no such file")
				}
				return text, nil
			}}
			for _, attached := range tt.attached {
				f.Attached(t.Context(), path, attached)
				f.Attached(t.Context(), "/w/new.txt", attached)
			}
			text = tt.now
			chain := f.Middleware(tools{})
			for kind, refuses := range map[executors.Kind]bool{
				executors.KindEdit: true, executors.KindDelete: true, executors.KindMove: true, executors.KindRead: false, executors.KindExecute: false,
			} {
				call := &executors.Call{Card: executors.Card{Kind: kind, Paths: []string{"/w/new.txt", path}}}
				res, err := chain.Execute(t.Context(), call)
				if err != nil {
					t.Fatal(err)
				}
				if (res.Failure != nil) != (tt.unsaved && refuses) {
					t.Errorf("%s: %+v", kind, res)
				}
				noted := strings.Contains(res.ForModel(), "the prompt has its newer text")
				if noted != (tt.unsaved && kind == executors.KindRead) {
					t.Errorf("%s: %s", kind, res.ForModel())
				}
			}
		})
	}
}
