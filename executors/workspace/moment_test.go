package workspace

import (
	"os"
	"path/filepath"
	"testing"
)

// A Moment shows one state of the file system; the next Moment shows the next one.
func TestMoment(t *testing.T) {
	dir, own := home(t, "home/w/plain")
	r, err := New(filepath.Join(dir, "home"))
	must(t, err)
	r = r.Without(own)
	plain, keys := filepath.Join(dir, "home/w/plain"), filepath.Join(dir, "home/.config/zeph-acp/keys.toml")
	now := &Moment{}
	if _, err := r.At(now).Resolve("w/plain"); err != nil {
		t.Fatal(err)
	}
	must(t, os.Remove(plain))
	must(t, os.Link(keys, plain))
	if r.At(now).PrivateAt(now).Hides(plain) {
		t.Error("a moment sees a later link")
	}
	for name, r := range map[string]*Roots{"without a moment": r, "another moment": r.At(&Moment{})} {
		if _, err := r.Resolve("w/plain"); !isPrivate(err) {
			t.Errorf("%s: %v", name, err)
		}
		if f, _, err := r.At(now).Open(plain); !isPrivate(err) { // opening looks at the file itself
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
}
