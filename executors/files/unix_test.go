//go:build unix

package files

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
)

func TestFIFO(t *testing.T) {
	b := newBench(t, map[string]string{"a": "x"})
	must(t, syscall.Mkfifo(b.path("pipe"), 0o600))
	for tool, input := range map[string]in{
		"read": {}, "write": {"content": "x"}, "edit": {"old_string": "a", "new_string": "b"}, "grep": {"pattern": "x"},
	} {
		input["path"] = "pipe"
		wantFailure(t, b.run(tool, input), executors.PermanentFailure, "pipe is a FIFO")
	}
	if res := b.run("grep", in{"pattern": "x"}); res.Text != "a:1: x" {
		t.Errorf("a search over a FIFO gives %s", res.Text)
	}
	if res := b.run("list_directory", in{}); !strings.HasSuffix(res.Text, "[other] pipe") {
		t.Error(res.Text)
	}
}

func TestUnreadable(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may read everything")
	}
	b := newBench(t, map[string]string{"f": "x", "d/f": "x", "ro": "x"})
	must(t, os.Chmod(b.path("f"), 0))
	must(t, os.Chmod(b.path("d"), 0))
	must(t, os.Chmod(b.path("ro"), 0o444))
	t.Cleanup(func() { must(t, os.Chmod(b.path("d"), 0o755)) })
	wantFailure(t, b.run("read", in{"path": "f"}), executors.PermanentFailure, "permission denied")
	wantFailure(t, b.run("write", in{"path": "ro", "content": "y"}), executors.PermanentFailure, "permission denied")
	if res := b.run("grep", in{"pattern": "y"}); !strings.Contains(res.Text, "could not look at") || !strings.Contains(res.Text, "f (permission denied)") {
		t.Error(res.Text)
	}
}
