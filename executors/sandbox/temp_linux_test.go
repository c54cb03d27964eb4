package sandbox

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// The directory for temporary files is this session's own: its name is random, nobody else enters
// it, and what takes its place is not used.
func TestTempDir(t *testing.T) {
	temp, elsewhere := t.TempDir(), t.TempDir()
	defer syscall.Umask(syscall.Umask(0))
	s, other := &Sandbox{}, &Sandbox{}
	dir := s.makeTempDir(temp)
	if info, err := os.Lstat(dir); err != nil || info.Mode() != os.ModeDir|0o700 || filepath.Dir(dir) != temp {
		t.Fatalf("%s: %v, %v", dir, info, err)
	}
	if again, others := s.makeTempDir(temp), other.makeTempDir(temp); again != dir || others == dir {
		t.Errorf("got %s, then %s, and %s for another session", dir, again, others)
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, dir); err != nil {
		t.Fatal(err)
	}
	if again := s.makeTempDir(temp); again == dir || again == "" {
		t.Errorf("a link in its place is used: %s", again)
	} else if err := s.Close(); err != nil {
		t.Error(err)
	} else if _, err := os.Lstat(again); err == nil {
		t.Error("Close leaves it")
	}
	if err := (*Sandbox)(nil).Close(); err != nil {
		t.Error(err)
	}
}
