//go:build unix

package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// failing is content of which only the beginning can be read, as on a full disk.
type failing struct{ text string }

var errFull = errors.New("no space left")

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if off >= int64(len(f.text)) {
		return 0, errFull
	}
	n := copy(p, f.text[off:])
	if n < len(p) {
		return n, errFull
	}
	return n, nil
}

func TestOverwrite(t *testing.T) {
	const previous = "the previous content\n"
	dir := tree(t, "w/f")
	w, path := filepath.Join(dir, "w"), filepath.Join(dir, "w/f")
	r, err := New(w)
	must(t, err)
	d, err := r.Dir(w)
	must(t, err)
	defer d.Close()
	for _, text := range []string{"", "short", previous, strings.Repeat("long\n", 100_000)} {
		must(t, os.WriteFile(path, []byte(previous), 0o640))
		before, err := os.Stat(path)
		must(t, err)
		must(t, d.Overwrite("f", strings.NewReader(text), int64(len(text))))
		after, err := os.Stat(path)
		must(t, err)
		if got, _ := os.ReadFile(path); string(got) != text || !os.SameFile(before, after) || after.Mode() != before.Mode() {
			t.Errorf("after %d bytes: %d bytes, mode %v, the same file: %v", len(text), len(got), after.Mode(), os.SameFile(before, after))
		}
	}
	for _, begun := range []string{"", "begun", previous + "and more", strings.Repeat("x", 300)} {
		must(t, os.WriteFile(path, []byte(previous), 0o600))
		if err := d.Overwrite("f", failing{begun}, 400); !errors.Is(err, errFull) {
			t.Errorf("with %q: %v", begun, err)
		}
		if got, _ := os.ReadFile(path); string(got) != previous {
			t.Errorf("after a failure with %q: %q", begun, got)
		}
	}
	if entries, _ := os.ReadDir(w); len(entries) != 1 {
		t.Errorf("left in the directory: %v", entries)
	}
}

func TestIrreplaceable(t *testing.T) {
	for err, want := range map[error]bool{
		&os.LinkError{Op: "rename", Err: syscall.EBUSY}: true, &os.PathError{Op: "open", Err: syscall.EROFS}: true, syscall.EACCES: true, syscall.EPERM: true,
		syscall.ENOSPC: false, syscall.ENOENT: false, errFull: false,
	} {
		if got := Irreplaceable(err); got != want {
			t.Errorf("%v: %v, want %v", err, got, want)
		}
	}
}
