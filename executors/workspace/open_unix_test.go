//go:build unix

package workspace

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

func TestOpenIrregular(t *testing.T) {
	dir := tree(t)
	r, err := New(dir)
	must(t, err)
	must(t, syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600))
	l, err := net.Listen("unix", filepath.Join(dir, "sock"))
	must(t, err)
	defer l.Close()
	for name, want := range map[string]fs.FileMode{"fifo": fs.ModeNamedPipe, "sock": fs.ModeSocket} {
		_, _, err := r.Open(filepath.Join(dir, name))
		odd, ok := errors.AsType[*IrregularError](err)
		if !ok || odd.Mode.Type() != want {
			t.Errorf("Open(%s): %v", name, err)
		}
	}
	// A file that is replaced after the stat does not block either.
	d, err := r.Dir(dir)
	must(t, err)
	defer d.Close()
	for _, flag := range []int{os.O_RDONLY, os.O_WRONLY} {
		if f, _, err := d.open("fifo", flag, nil); err == nil {
			f.Close()
			t.Errorf("open(fifo, %d) succeeded", flag)
		}
	}
	devices, err := New("/dev")
	must(t, err)
	if _, _, err := devices.Open("/dev/null"); err == nil {
		t.Error("opened a device")
	}
}

// Only a directory is opened as one: a FIFO would wait for a writer.
func TestSubNoDirectory(t *testing.T) {
	root := t.TempDir()
	r, err := New(root)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(root, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(".", filepath.Join(root, "link")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"fifo", "file", "link"} {
		if _, err := r.Dir(filepath.Join(r.Cwd(), name, "x")); !errors.Is(err, syscall.ENOTDIR) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
