package workspace

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// read returns the content of a file that the cursor leads to.
func (c *Cursor) read(path string) (string, error) {
	dir, name, err := c.Parent(path)
	if err != nil {
		return "", err
	}
	f, _, err := dir.Open(name, os.O_RDONLY)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	return string(text), err
}

// A cursor follows paths in any order, and follows no link out of the roots.
func TestCursor(t *testing.T) {
	dir := tree(t, "cwd/a/b/c/f", "cwd/a/b/g", "cwd/a/x/y/h", "cwd/ab/i", "out/s", "cwd/link -> ../out", "own/key")
	r, err := New(filepath.Join(dir, "cwd"), filepath.Join(dir, "own"))
	must(t, err)
	c := r.Without(&AgentFiles{Places: []Place{{Dir: filepath.Join(dir, "own"), Files: []string{"key"}}}}).Cursor()
	defer c.Close()
	for _, path := range []string{"cwd/a/b/c/f", "cwd/a/b/g", "cwd/a/x/y/h", "cwd/ab/i", "cwd/a/b/g", "cwd/a/b/c/f"} {
		if got, err := c.read(filepath.Join(dir, path)); got != path || err != nil {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
	for _, path := range []string{"cwd/link/s", "out/s", "own/key", "cwd/a/b/g/none"} {
		if got, err := c.read(filepath.Join(dir, path)); err == nil {
			t.Errorf("%s: %q", path, got)
		}
	}
	if _, err := c.read(filepath.Join(dir, "cwd/a/none/f")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if got, err := c.read(filepath.Join(dir, "cwd/a/b/g")); err != nil {
		t.Errorf("after errors: %q, %v", got, err)
	}
}

// A cursor goes on from its last directory, and does not begin at the root for each path.
// A directory that was moved meanwhile shows it.
func TestCursorGoesOn(t *testing.T) {
	dir := tree(t, "cwd/a/f", "cwd/a/g", "cwd/a/b/c/h")
	r, err := New(filepath.Join(dir, "cwd"))
	must(t, err)
	c := r.Cursor()
	defer c.Close()
	_, err = c.read(filepath.Join(dir, "cwd/a/f"))
	must(t, err)
	must(t, os.Rename(filepath.Join(dir, "cwd/a"), filepath.Join(dir, "cwd/moved")))
	for _, path := range []string{"cwd/a/g", "cwd/a/b/c/h"} {
		if got, err := c.read(filepath.Join(dir, path)); err != nil {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
}
