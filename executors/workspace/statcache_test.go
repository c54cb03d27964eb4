package workspace

import (
	"os"
	"path/filepath"
	"testing"
)

// A StatCache shows one state of the file system; the next StatCache shows the next one.
func TestStatCache(t *testing.T) {
	dir, own := home(t, "home/w/plain")
	r, err := New(filepath.Join(dir, "home"))
	must(t, err)
	r = r.Without(own)
	plain, keys := filepath.Join(dir, "home/w/plain"), filepath.Join(dir, "home/.config/zeph-acp/keys.toml")
	stats := &StatCache{}
	if _, err := r.WithStats(stats).Resolve("w/plain"); err != nil {
		t.Fatal(err)
	}
	must(t, os.Remove(plain))
	must(t, os.Link(keys, plain))
	if r.WithStats(stats).HiddenWith(stats).Hides(plain) {
		t.Error("the cache sees a later link")
	}
	for name, r := range map[string]*Roots{"without a cache": r, "another cache": r.WithStats(&StatCache{})} {
		if _, err := r.Resolve("w/plain"); !isAgentFile(err) {
			t.Errorf("%s: %v", name, err)
		}
		if f, _, err := r.WithStats(stats).Open(plain); !isAgentFile(err) { // opening looks at the file itself
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
}
