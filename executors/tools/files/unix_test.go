//go:build unix

package files

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
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
	if res := b.run("grep", in{"pattern": "x"}); res.ForModel() != "a:1: x" {
		t.Errorf("a search over a FIFO gives %s", res.ForModel())
	}
	if res := b.run("list_directory", in{}); !strings.HasSuffix(res.ForModel(), "[other] pipe") {
		t.Errorf(`b.run("list_directory", in{}): got %s, want %q at its end`, res.ForModel(), "[other] pipe")
	}
}

// A sparse file is refused at its first block, and not read to the end of its only line.
func TestReadSparse(t *testing.T) {
	b := newBench(t, map[string]string{"f": "text\n"})
	if err := os.Truncate(b.path("f"), 1<<40); err != nil {
		t.Skip(err)
	}
	for _, offset := range []int{0, 1, 5} {
		wantFailure(t, b.run("read", in{"path": "f", "offset": offset}), executors.PermanentFailure, "f is a binary file or text in an unknown encoding (line 2)")
	}
}

// A name with a line break cannot pass for the match of another file.
func TestNamesOnOneLine(t *testing.T) {
	b := newBench(t, map[string]string{"a\nb.go:7: x\x1b[2J": "x"})
	const name = `"a\nb.go:7: x\x1b[2J"`
	for tool, want := range map[string]string{"grep": name + ":1: x", "find_path": name, "list_directory": "[file] " + name} {
		if res := b.run(tool, in{"pattern": map[string]string{"grep": "x", "find_path": "**"}[tool]}); res.ForModel() != want {
			t.Errorf("%s: %q, want %q", tool, res.ForModel(), want)
		}
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
	if res := b.run("grep", in{"pattern": "y"}); !strings.Contains(res.ForModel(), "could not look at") || !strings.Contains(res.ForModel(),
		"f (permission denied)") {
		t.Errorf(`b.run("grep", in{"pattern": "y"}): got %s, want %q and %q in it`, res.ForModel(), "could not look at", "f (permission denied)")
	}
}

// An entry that is neither a file nor a directory can be listed, moved and
// deleted, but not copied.
func TestTreeToolsFIFO(t *testing.T) {
	b := newBench(t, map[string]string{"d/a": "x"})
	must(t, syscall.Mkfifo(b.path("d/pipe"), 0o600))
	wantFailure(t, b.run("copy_path", in{"source": "d/pipe", "destination": "p"}), executors.PermanentFailure, "d/pipe is a FIFO")
	if res := b.run("copy_path", in{"source": "d", "destination": "e"}); res.Failed || !strings.Contains(res.ForModel(),
		"[left out: pipe, no file or directory]") {
		t.Errorf(`b.run("copy_path", in{"source": "d", "destination": "e"}): got %s, want success and %q in it`, res.ForModel(),
			"[left out: pipe, no file or directory]")
	}
	if res := b.run("move_path", in{"source": "d/pipe", "destination": "p"}); res.Failed {
		t.Errorf("got %s, want success", res.ForModel())
	}
	if res := b.run("delete_path", in{"path": "p"}); res.Failed {
		t.Errorf(`b.run("delete_path", in{"path": "p"}): got %s, want success`, res.ForModel())
	}
}

// A move to another device copies, then deletes. A file that cannot be copied
// stays.
func TestMoveToAnotherDevice(t *testing.T) {
	b := newBench(t, map[string]string{"d/a": "x", "d/l": "-> ../../nowhere", "f/a": "x"})
	far, err := os.MkdirTemp("/dev/shm", "zeph-test-")
	if err != nil {
		t.Skip("no second device to write to:", err)
	}
	t.Cleanup(func() { os.RemoveAll(far) })
	var here, there syscall.Stat_t
	must(t, syscall.Stat(b.dir, &here))
	must(t, syscall.Stat(far, &there))
	if here.Dev == there.Dev {
		t.Skip("the temporary directory is on the same device as /dev/shm")
	}
	roots, err := workspace.New(b.dir, far)
	must(t, err)
	b.Registry = New(Disk{Roots: roots}, roots, setting.Default[Config](), nil)
	if res := b.run("move_path", in{"source": "d", "destination": far + "/n/d"}); res.Failed || shape(t, far+"/n") != "d/ d/a=x d/l->../../nowhere" {
		t.Errorf("got %q and the files %s, want d and its content in n", res.ForModel(), shape(t, far))
	}
	must(t, syscall.Mkfifo(b.path("f/pipe"), 0o600))
	before := shape(t, b.dir)
	wantFailure(t, b.run("move_path", in{"source": "f", "destination": far + "/f"}), executors.PermanentFailure, "another device completely", "pipe")
	if shape(t, b.dir) != before || shape(t, far) != "n/ n/d/ n/d/a=x n/d/l->../../nowhere" {
		t.Errorf("got %v, %q, want %v and %q", shape(t, b.dir), shape(t, far), before, "n/ n/d/ n/d/a=x n/d/l->../../nowhere")
	}
}
