package follow

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A path is followed as the system follows it: a link is resolved before ".."
// goes up, and a pattern may match a link.
func TestLinks(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	here := filepath.Join(dir, "w")
	for _, d := range []string{"w/sub", "w/[id]", "out/deep"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(dir, "out", "deep"), filepath.Join(here, "sub", "lnk")); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	for path, inside := range map[string]bool{
		"sub/x": true, "sub/lnk/x": false, "sub/lnk/../x": false, "sub/lnk/../../w/x": true, "nowhere/../x": true, "sub/../../x": false, "s*/l*/x": false,
		"s*/x": true, "*/x": true, "s*/lnk/../x": false, "[id]/*": true, "sub/[K-M]nk/x": false, "sub/l????k/x": false, "sub/[!a]/x": false, "sub/?x/x": true,
		"sub/.*": true, ".*": false, ".*/x": false, "sub/.*/..?/x": true, "sub/.*/.?/x": false, "sub/.[!a]/..*/x": false, "[id]/.[^x]*/.*/x": false,
		".[[:punct:]]": false,
		".[!.]*":       true, ".??*": true, ".[a-z]*": true, ".*rc": true, "sub/..": true,
	} {
		found, err := Files(here+"/"+path, true, &Trail{})
		got := err == nil
		for _, f := range found {
			got = got && f != "" && (f == here || strings.HasPrefix(f, here+string(filepath.Separator)))
		}
		if got != inside {
			t.Errorf("%s leads to %q, %v", path, found, err)
		}
	}
}
