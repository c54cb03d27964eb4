package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// A directory creates entries of every kind, except those with a name that is hidden or
// must not be read.
func TestCreate(t *testing.T) {
	dir := tree(t, "w/a", "w/sub/b")
	own := &AgentFiles{Places: []Place{{Dir: filepath.Join(dir, "w"), Files: []string{"keys.toml"}, Mixed: true}}}
	r, err := New(filepath.Join(dir, "w"))
	must(t, err)
	r, err = r.Without(own).Reading(ReadRules{Deny: []string{"*.pem"}})
	must(t, err)
	for _, tt := range []struct {
		in, name        string
		hidden, refused bool
	}{
		{in: "w", name: "new"},
		{in: "w", name: "new.pem", refused: true},
		{in: "w", name: "keys.toml", hidden: true},
		{in: "w/sub", name: "keys.toml"},
	} {
		d, err := r.Dir(filepath.Join(dir, tt.in))
		must(t, err)
		for kind, create := range map[string]func() error{
			"Create": func() error {
				f, err := d.Create(tt.name, 0o600)
				if err == nil {
					err = f.Close()
				}
				return err
			},
			"Mkdir":   func() error { return d.Mkdir(tt.name, 0o700) },
			"Symlink": func() error { return d.Symlink("a", tt.name) },
		} {
			err := create()
			_, refused := errors.AsType[*DeniedError](err)
			if isAgentFile(err) != tt.hidden || refused != tt.refused || (err == nil) != (!tt.hidden && !tt.refused) {
				t.Errorf("%s(%q) in %s: %v; want it hidden: %v, refused: %v", kind, tt.name, tt.in, err, tt.hidden, tt.refused)
			}
			path := filepath.Join(dir, tt.in, tt.name)
			if _, missing := os.Lstat(path); (missing == nil) != (err == nil) {
				t.Errorf("%s(%q) in %s returned %v, but looking for the entry returns %v", kind, tt.name, tt.in, err, missing)
			}
			must(t, os.RemoveAll(path))
		}
		d.Close()
	}
}

// A directory that does not exist yet is hidden under the name that it will have, also
// where it was named by way of a link.
func TestPrivateNotYetBehindALink(t *testing.T) {
	dir := tree(t, "home/dot/x", "home/link -> dot")
	r, err := New(filepath.Join(dir, "home"))
	must(t, err)
	r = r.Without(&AgentFiles{Places: []Place{{Dir: filepath.Join(dir, "home/link/zeph-acp")}}})
	for path, want := range map[string]bool{"dot/zeph-acp": true, "dot/zeph-acp/keys.toml": true, "link/zeph-acp": true, "dot/x": false} {
		if _, err := r.Resolve(path); isAgentFile(err) != want {
			t.Errorf("%s: %v, want it hidden: %v", path, err, want)
		}
	}
}

// An alternative in a pattern may contain slashes.
func TestAlternativesWithSlashes(t *testing.T) {
	dir := tree(t, "w/conf/x.key", "w/conf/deep/x.key", "w/conf/a", "w/sub/a")
	for name, tt := range map[string]struct {
		rules   ReadRules
		refused map[string]bool
	}{
		"denied": {ReadRules{Deny: []string{"conf/{x.key,deep/x.key}"}},
			map[string]bool{"conf/x.key": true, "conf/deep/x.key": true, "conf/a": false, "sub/a": false}},
		"allowed": {ReadRules{Allow: []string{"{conf/deep,sub}/*"}}, map[string]bool{"conf/x.key": true, "conf/deep/x.key": false, "conf/a": true, "sub/a": false}},
	} {
		r, err := New(filepath.Join(dir, "w"))
		must(t, err)
		r, err = r.Reading(tt.rules)
		must(t, err)
		for path, want := range tt.refused {
			if _, got := r.Readable().Refuses(filepath.Join(dir, "w", path)); got != want {
				t.Errorf("%s %+v: %s is refused: %v, want %v", name, tt.rules, path, got, want)
			}
			f, _, err := r.Open(filepath.Join(dir, "w", path))
			if (err != nil) != want {
				t.Errorf("%s %+v: opening %s: %v, want an error: %v", name, tt.rules, path, err, want)
			}
			if err == nil {
				f.Close()
			}
		}
	}
}
