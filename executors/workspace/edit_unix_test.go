//go:build unix

package workspace

import (
	"os"
	"path/filepath"
	"testing"
)

func TestChmod(t *testing.T) {
	dir := tree(t, "w/f", "w/keys.toml", "w/sub/f", "out/f")
	r, err := New(filepath.Join(dir, "w"), filepath.Join(dir, "w/sub"))
	must(t, err)
	r = r.Without(&AgentFiles{Places: []Place{{Dir: filepath.Join(dir, "w"), Files: []string{"keys.toml"}, Mixed: true}}})
	for name, want := range map[string]bool{"w/f": true, "w/sub/f": true, "w/sub": true, "w/keys.toml": false, "out/f": false} {
		path := filepath.Join(dir, name)
		before, err := os.Lstat(path)
		must(t, err)
		err = r.Chmod(path, 0o711)
		after, _ := os.Lstat(path)
		if changed := after.Mode() != before.Mode(); changed != want || (err == nil) != want || isAgentFile(err) != (name == "w/keys.toml") {
			t.Errorf("Chmod(%s): got %v, changed %t, want %t", name, err, changed, want)
		}
	}
}

func TestInnermost(t *testing.T) {
	r := &Roots{dirs: []string{"/w", "/w/a", "/x"}}
	for path, want := range map[string][2]string{
		"/w": {"/w", "."}, "/w/b": {"/w", "b"}, "/w/a": {"/w/a", "."}, "/w/a/c/d": {"/w/a", "c/d"}, "/x/y": {"/x", "y"}, "/wa": {"", "/wa"},
	} {
		if dir, rel := r.Innermost(path); dir != want[0] || rel != want[1] {
			t.Errorf("Innermost(%s) = %q, %q, want %q", path, dir, rel, want)
		}
	}
}
