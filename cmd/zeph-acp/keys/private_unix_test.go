//go:build unix

package keys

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func mode(t *testing.T, file string) os.FileMode {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return info.Mode().Perm()
}

func TestKeysMode(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	k := keysIn(dir)
	if err := k.Save("KEY_A", "a"); err != nil {
		t.Fatal(err)
	}
	if d, f := mode(t, dir), mode(t, k.File()); d != 0o700 || f != 0o600 {
		t.Errorf("the directory has the mode %o and the file %o, want 700 and 600", d, f)
	}
	// A file that was made readable becomes private at the next lookup.
	for _, loose := range []os.FileMode{0o644, 0o640, 0o606, 0o777} {
		if err := os.Chmod(k.File(), loose); err != nil {
			t.Fatal(err)
		}
		if got := k.Getenv("KEY_A"); got != "a" || mode(t, k.File()) != 0o600 {
			t.Errorf("a file of mode %o: KEY_A is %q, and the mode %o, want 600", loose, got, mode(t, k.File()))
		}
	}
}

// A path that is not a private regular file is neither read nor written.
func TestKeysNoFile(t *testing.T) {
	for name, make := range map[string]func(t *testing.T, at string){
		"link": func(t *testing.T, at string) {
			target := write(t, t.TempDir(), "target", "KEY_A = \"a\"\n")
			if err := os.Symlink(target, at); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if got, _ := os.ReadFile(target); string(got) != "KEY_A = \"a\"\n" {
					t.Errorf("the target is now %q", got)
				}
			})
		},
		"dangling link": func(t *testing.T, at string) {
			target := filepath.Join(t.TempDir(), "target")
			if err := os.Symlink(target, at); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if _, err := os.Stat(target); err == nil {
					t.Error("saving made the target of the link")
				}
			})
		},
		"pipe": makePipe,
		"directory": func(t *testing.T, at string) {
			if err := os.Mkdir(at, 0o700); err != nil {
				t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			k := keysIn(t.TempDir())
			make(t, k.File())
			if got := k.Getenv("KEY_A"); got != "" {
				t.Errorf("KEY_A is %q, want nothing from the file", got)
			}
			if err := k.Save("KEY_A", "new"); err == nil || !strings.Contains(err.Error(), k.File()) {
				t.Errorf("Save: %v, want an error that names the file", err)
			}
		})
	}
}

// Files that a killed process left are removed at the next change.
func TestKeysLeftovers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "[x]*")
	k := keysIn(dir)
	left := write(t, dir, ".keys.toml.tmp-123", "KEY_A = \"secret\"\n")
	if _, err := k.RemoveAll(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); err == nil {
		t.Error("the file of a killed process is still there")
	}
}

func makePipe(t *testing.T, at string) {
	t.Helper()
	if err := syscall.Mkfifo(at, 0o600); err != nil {
		t.Skip("no pipes here:", err)
	}
}
