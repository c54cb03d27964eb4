package files

import (
	"os"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
)

// age makes files look as if they had not been changed for long. What the system
// itself notes of the change (ctime) can't be set, so it is waited for.
func age(t *testing.T, b *bench, names ...string) {
	t.Helper()
	for _, name := range names {
		old := time.Now().Add(-time.Hour)
		must(t, os.Chtimes(b.path(name), old, old))
	}
	for _, name := range names {
		for {
			info, err := os.Lstat(b.path(name))
			must(t, err)
			left := settled - time.Since(statusChanged(info))
			if left <= 0 {
				break
			}
			time.Sleep(left)
		}
	}
}

func TestValid(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"d/a": "x\n", "d/b": "x\n", "e/a": "x\n", "link": "-> d"})
	calls := map[string]struct {
		tool  string
		input in
	}{"read": {"read", in{"path": "link/a"}}, "list": {"list_directory", in{"path": "d"}}}
	if res := b.run("read", in{"path": "d/a"}); res.Valid != nil {
		t.Error("a file that was just written can be told from one that is written again")
	}
	if res := b.run("read", in{"path": "nope"}); res.Valid != nil {
		t.Error("a failure holds on")
	}
	age(t, b, "d/a", "d/b", "e/a", "d", "e")
	results := map[string]executors.Result{}
	for name, c := range calls {
		results[name] = b.run(c.tool, c.input)
		if v := results[name].Valid; v == nil || !v() {
			t.Fatalf("%s: not valid", name)
		}
	}
	must(t, os.WriteFile(b.path("d/b"), []byte("other\n"), 0o644))
	for name, res := range results {
		if !res.Valid() {
			t.Errorf("%s: another file's change counts", name)
		}
	}
	info, err := os.Lstat(b.path("d/a"))
	must(t, err)
	must(t, os.WriteFile(b.path("d/a"), []byte("y\n"), 0o644)) // of the same size
	must(t, os.Chtimes(b.path("d/a"), info.ModTime(), info.ModTime()))
	if results["read"].Valid() && !statusChanged(info).IsZero() {
		t.Error("a change with the time set back is not noticed")
	}
	if !results["list"].Valid() {
		t.Error("list: a file's content counts")
	}
	must(t, os.WriteFile(b.path("d/new"), nil, 0o644))
	if results["list"].Valid() {
		t.Error("list: a new file is not noticed")
	}
	res := b.run("read", in{"path": "link/b"})
	if res.Valid != nil {
		t.Error("young, but valid")
	}
	res = b.run("list_directory", in{"path": "e"})
	must(t, os.RemoveAll(b.path("e")))
	if res.Valid == nil || res.Valid() {
		t.Error("list: a missing directory is not noticed")
	}
}

func TestValidThroughLink(t *testing.T) {
	t.Parallel()
	b := newBench(t, map[string]string{"d/a": "x\n", "e/a": "y\n", "link": "-> d"})
	age(t, b, "d/a")
	res := b.run("read", in{"path": "link/a"})
	if res.Valid == nil || !res.Valid() {
		t.Fatal("not valid")
	}
	must(t, os.Remove(b.path("link")))
	must(t, os.Symlink("e", b.path("link")))
	if res.Valid() {
		t.Error("the path leads to another file, but the result holds on")
	}
	b.buffered(map[string]string{"d/a": "x\n"})
	if res := b.run("read", in{"path": "d/a"}); res.Valid != nil {
		t.Error("a buffer can be told to be unchanged")
	}
}
