package files

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
)

// age makes files old for the validity of results.
func age(t *testing.T, b *bench, names ...string) {
	t.Helper()
	backdate(t, b, names...)
	settle(t, b, names...)
}

// backdate sets the times of files far into the past.
func backdate(t *testing.T, b *bench, names ...string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	for _, name := range names {
		must(t, os.Chtimes(b.path(name), old, old))
	}
}

// settle waits until the system's own change times of files (ctime) are old, since they
// cannot be set.
func settle(t *testing.T, b *bench, names ...string) {
	t.Helper()
	for _, name := range names {
		for {
			info, err := os.Lstat(b.path(name))
			must(t, err)
			left := stableAge - time.Since(statusChanged(info))
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
		t.Error("a failure may be returned again")
	}
	age(t, b, "d/a", "d/b", "e/a", "d", "e")
	results := map[string]executors.Result{}
	for name, c := range calls {
		results[name] = b.run(c.tool, c.input)
		if v := results[name].Valid; v == nil || !v() {
			t.Fatalf("%s: the result does not hold although nothing changed", name)
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
		t.Error("the result holds although the file is too young to notice a change")
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
		t.Fatal("the result does not hold although nothing changed")
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

// The result of a walk is valid as long as every file and directory that it
// used is unchanged.
func TestWalkIsValid(t *testing.T) {
	t.Parallel()
	files := map[string]string{"p/a.go": "needle\n", "p/d/b.go": "x\n", "p/d/n.txt": "needle\n", "p/.gitignore": "*.log\n", "p/x.log": "needle\n",
		".ignore": "", "other/c": "", ".git/info/exclude": ""}
	changes := map[string]struct {
		change     func(b *bench) error
		find, grep bool // still hold
	}{
		"nothing":           {func(*bench) error { return nil }, true, true},
		"another directory": {func(b *bench) error { return os.WriteFile(b.path("other/c"), []byte("x"), 0o644) }, true, true},
		"a file's text":     {func(b *bench) error { return os.WriteFile(b.path("p/a.go"), []byte("nothing"), 0o644) }, true, false},
		"a file left out":   {func(b *bench) error { return os.WriteFile(b.path("p/d/n.txt"), []byte("nothing"), 0o644) }, true, true},
		"a new file":        {func(b *bench) error { return os.WriteFile(b.path("p/d/new.go"), []byte("needle"), 0o644) }, false, false},
		"a removed file":    {func(b *bench) error { return os.Remove(b.path("p/d/b.go")) }, false, false},
		"a mode":            {func(b *bench) error { return os.Chmod(b.path("p/d"), 0o700) }, false, false},
		"patterns":          {func(b *bench) error { return os.WriteFile(b.path("p/.gitignore"), []byte("*.go\n"), 0o644) }, false, false},
		"patterns above":    {func(b *bench) error { return os.WriteFile(b.path(".ignore"), []byte("*.go\n"), 0o644) }, false, false},
		"new patterns":      {func(b *bench) error { return os.WriteFile(b.path("p/d/.ignore"), []byte("*.go\n"), 0o644) }, false, false},
		"patterns of git":   {func(b *bench) error { return os.WriteFile(b.path(".git/info/exclude"), []byte("*.go\n"), 0o644) }, false, false},
		"new repository": {func(b *bench) error {
			return errors.Join(os.MkdirAll(b.path("p/.git/info"), 0o755), os.WriteFile(b.path("p/.git/info/exclude"), []byte("*.go\n"), 0o644))
		}, false, false},
	}
	type result struct {
		b          *bench
		find, grep executors.Result
	}
	results := map[string]result{}
	for name := range changes {
		results[name] = result{b: newBench(t, files)}
	}
	fresh := newBench(t, files)
	if res := fresh.run("grep", in{"pattern": "needle", "path": "p"}); res.Valid != nil {
		t.Error("files that were just written can be told from files that are written again")
	}
	used := []string{"p/a.go", "p/d/b.go", "p/d/n.txt", "p/.gitignore", ".ignore", ".git/info/exclude", "p/d", "p", "other", "."}
	for _, r := range results { // all of them before the wait
		backdate(t, r.b, used...)
	}
	for name, r := range results {
		settle(t, r.b, used...)
		r.find, r.grep = r.b.run("find_path", in{"pattern": "*.go", "path": "p"}), r.b.run("grep", in{"pattern": "needle", "path": "p", "include": "*.go"})
		results[name] = r
	}
	for name, c := range changes {
		r := results[name]
		if r.find.Valid == nil || r.grep.Valid == nil {
			t.Fatalf("%s: nothing can be kept", name)
		}
		must(t, c.change(r.b))
		if find, grep := r.find.Valid(), r.grep.Valid(); find != c.find || grep != c.grep {
			t.Errorf("%s: find_path's result is valid: %t, want %t; grep's: %t, want %t", name, find, c.find, grep, c.grep)
		}
		if r.find.ValidSize == 0 || r.grep.ValidSize <= r.find.ValidSize {
			t.Errorf("%s: watching takes %d bytes for find_path and %d for grep, want more for grep", name, r.find.ValidSize, r.grep.ValidSize)
		}
	}
}
