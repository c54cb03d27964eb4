package sandbox

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// FuzzReach checks that a reach includes everything that the rules refuse: the
// directory and the name of the uppermost refused file.
func FuzzReach(f *testing.F) {
	for _, pattern := range []string{"**/.env", "*.pem", "secret/**", "~/.ssh/id_*", "/etc/shadow", "/r/{a,b/c}/x", "/r/**/x/*", "/r/a[bc]d", `/r/\*`, "/**/x",
		"**", "./a/", "a/**/b/**", "~/.", "/r/./b/."} {
		f.Add(pattern, "a/b/.env")
		f.Add(pattern, "r/b/c/x")
	}
	f.Fuzz(func(t *testing.T, pattern, path string) {
		if workspace.CheckPattern(pattern) != nil || strings.ContainsRune(path, 0) || len(path) > 200 {
			t.Skip()
		}
		home := "/no/home"
		t.Setenv("HOME", home)
		root, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		roots, err := workspace.New(root)
		if err != nil {
			t.Fatal(err)
		}
		reading, err := roots.Reading(workspace.ReadRules{Deny: []string{pattern}})
		if err != nil {
			t.Skip()
		}
		for _, base := range []string{root, home, "/"} {
			abs := filepath.Join(base, filepath.Clean("/"+path))
			for _, refused := reading.Readable().Refuses(filepath.Dir(abs)); refused && abs != "/"; _, refused = reading.Readable().Refuses(filepath.Dir(abs)) {
				abs = filepath.Dir(abs)
			}
			if by, refused := reading.Readable().Refuses(abs); !refused || by == "" || abs == "/" || abs == root {
				continue
			}
			found := false
			for _, r := range newDenyScopes(pattern, home, []string{root}) {
				found = found || r.mayContain(names(filepath.Dir(abs))) && r.mayMatchName(filepath.Base(abs))
			}
			if !found {
				t.Fatalf("%q refuses %s, which is not looked for", pattern, abs)
			}
		}
	})
}
