package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
)

func TestReplay(t *testing.T) {
	const good = "../../protocol-fixtures/078-079-080-turn.txtar"
	data, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(t.TempDir(), "bad.txtar")
	if err := os.WriteFile(bad, bytes.Replace(data, []byte(`"end_turn"`), []byte(`"refusal"`), 1), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		args   []string
		status int
		stdout []string // parts of it, in order
		stderr string
	}{
		"a fixture": {[]string{good}, 0, []string{"ok 078-079-080-turn\n"}, ""},
		"a difference": {
			[]string{bad, good},
			1,
			[]string{"bad: frames.jsonl:", "at result.stopReason\n\twant \"refusal\"\n\tgot  \"end_turn\"\n", "ok 078-079-080-turn\n"},
			"",
		},
		"no fixture":    {nil, 2, nil, "zeph-acp: want a fixture: try \"zeph-acp replay --help\"\n"},
		"no such file":  {[]string{"gone.txtar"}, 1, []string{"there is no file gone.txtar\n"}, ""},
		"a directory":   {[]string{t.TempDir()}, 1, []string{"is not a regular file\n"}, ""},
		"not a fixture": {[]string{"replay.go"}, 1, []string{"replay.go: no frames.jsonl"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			// The user's own settings must have no effect.
			t.Setenv("ZEPH_AGENT_MODE", "nonsense")
			t.Setenv("ZEPH_MODEL", "nobody:nothing")
			root := newRoot(os.Environ())
			root.SetArgs(append([]string{"replay"}, tt.args...))
			var stdout, stderr strings.Builder
			root.SetOut(&stdout)
			code := cli.PrintError(root.ExecuteContext(t.Context()), &stderr)
			rest, ok := stdout.String(), true
			for _, part := range tt.stdout {
				if _, rest, ok = strings.Cut(rest, part); !ok {
					t.Errorf("no %q in\n%s", part, stdout.String())
				}
			}
			if code != tt.status || stderr.String() != tt.stderr {
				t.Errorf("status %d, stderr %q; want %d, %q", code, stderr.String(), tt.status, tt.stderr)
			}
		})
	}
}

// TestReplayUnwritten checks that a result which cannot be written is a failure.
func TestReplayUnwritten(t *testing.T) {
	closed, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	root := newRoot(os.Environ())
	root.SetArgs([]string{"replay", "../../protocol-fixtures/078-079-080-turn.txtar"})
	root.SetOut(closed)
	var stderr strings.Builder
	if code := cli.PrintError(root.ExecuteContext(t.Context()), &stderr); code != 1 || !strings.Contains(stderr.String(), "write ") {
		t.Errorf("status %d, stderr %q; want 1 and the failed write", code, stderr.String())
	}
}
