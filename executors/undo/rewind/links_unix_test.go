//go:build unix

package rewind_test

import (
	"os"
	"path/filepath"
	"testing"
)

// TestHardLinks checks that the names of a file still name one file after a rewind, and that a
// file which took one of the names keeps its content.
func TestHardLinks(t *testing.T) {
	w := newWorld(t)
	link := func() {
		for _, name := range []string{"f", "g"} {
			_ = os.Remove(filepath.Join(w.dir, name))
		}
		w.put("f", "old")
		if err := os.Link(filepath.Join(w.dir, "f"), filepath.Join(w.dir, "g")); err != nil {
			t.Fatal(err)
		}
	}
	for name, tt := range map[string]struct {
		act    func()
		linked bool
	}{
		"tool":     {func() { w.write("f", "new") }, true},
		"command":  {func() { w.bash("x=1; echo new > g") }, true},
		"replaced": {func() { w.bash("x=1; cp f t; echo more >> t; mv t f") }, false},
		"relinked": {func() { w.bash("x=1; rm f; echo other > h; ln h f") }, false},
	} {
		link()
		w.back(w.turn(tt.act), "r-"+name)
		a, errA := os.Stat(filepath.Join(w.dir, "f"))
		b, errB := os.Stat(filepath.Join(w.dir, "g"))
		if errA != nil || errB != nil || os.SameFile(a, b) != tt.linked {
			t.Errorf("%s: %v, %v, one file: %v", name, errA, errB, os.SameFile(a, b))
		}
		for _, file := range []string{"f", "g"} {
			if got, _ := os.ReadFile(filepath.Join(w.dir, file)); string(got) != "old" {
				t.Errorf("%s: %s has %q", name, file, got)
			}
		}
	}
}
