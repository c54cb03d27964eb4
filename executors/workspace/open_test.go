package workspace

import (
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

func TestOpen(t *testing.T) {
	dir := tree(t, "cwd/a", "cwd/nested/b", "out/s", "cwd/link -> ../out")
	r, err := New(filepath.Join(dir, "cwd"), filepath.Join(dir, "cwd/nested"))
	must(t, err)
	for path, want := range map[string]string{"cwd/a": "cwd/a", "cwd/nested/b": "cwd/nested/b"} {
		f, _, err := r.Open(filepath.Join(dir, path))
		must(t, err)
		got, err := io.ReadAll(f)
		f.Close()
		if string(got) != want || err != nil {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	for _, path := range []string{"out/s", "cwd/link/s", "cwd/nope", "cwd/../out/s"} { // as if Resolve had been skipped, or a link came later
		if f, _, err := r.Open(dir + "/" + path); err == nil {
			f.Close()
			t.Errorf("Open(%s) succeeded", path)
		}
	}
}

// A root inside another may be replaced by anyone who may write to the outer
// one.
func TestNestedRootExchanged(t *testing.T) {
	dir := tree(t, "cwd/nested/s", "out/s")
	r, err := New(filepath.Join(dir, "cwd"), filepath.Join(dir, "cwd/nested"))
	must(t, err)
	must(t, os.RemoveAll(filepath.Join(dir, "cwd/nested")))
	must(t, os.Symlink("../out", filepath.Join(dir, "cwd/nested")))
	if f, _, err := r.Open(filepath.Join(dir, "cwd/nested/s")); err == nil {
		f.Close()
		t.Error("opened a file outside of the roots")
	}
}

// A directory that is replaced by a symlink between Resolve and Open does not
// lead outside.
func TestOpenRace(t *testing.T) {
	dir := tree(t, "cwd/d/f", "out/f", "cwd/link -> ../out")
	r, err := New(filepath.Join(dir, "cwd"))
	must(t, err)
	stop := exchange(t, filepath.Join(dir, "cwd/d"), filepath.Join(dir, "cwd/link"))
	defer stop()
	for range 3000 {
		abs, err := r.Resolve("d/f")
		if err != nil {
			continue
		}
		f, _, err := r.Open(abs)
		if err != nil {
			continue
		}
		text, err := io.ReadAll(f)
		f.Close()
		if err == nil && string(text) != "cwd/d/f" {
			t.Fatalf("read %q, want the file of the root", text)
		}
	}
}

// exchange keeps swapping two names until the returned function is called.
func exchange(t *testing.T, a, b string) (stop func()) {
	t.Helper()
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			_ = os.Rename(a, a+".tmp")
			_ = os.Rename(b, a)
			_ = os.Rename(a, b)
			_ = os.Rename(a+".tmp", a)
		}
	})
	return func() { close(done); wg.Wait() }
}

// The directory / has no parent, and is the root of a session in some containers.
func TestRootOfTheFileSystem(t *testing.T) {
	top := filepath.VolumeName(t.TempDir()) + string(filepath.Separator)
	r, err := New(top)
	must(t, err)
	info, err := r.Lstat(top)
	must(t, err)
	if !info.IsDir() {
		t.Errorf("got %v", info.Mode())
	}
	dir, name, err := r.Parent(filepath.Join(top, "a"))
	must(t, err)
	defer dir.Close()
	if dir.Rel() != "." || name != "a" {
		t.Errorf("the parent of /a is %q, with the name %q", dir.Rel(), name)
	}
	at := r.Cursor()
	defer at.Close()
	for _, path := range []string{filepath.Join(top, "a"), top} {
		dir, name, err := at.Parent(path)
		must(t, err)
		if _, err := dir.Lstat(name); path == top && err != nil {
			t.Error(err)
		}
	}
}
