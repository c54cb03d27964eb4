package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// No path makes the tools that change trees change a file outside, in .git, or
// with a refused name, except that the last kind may be deleted.
func FuzzTreeTools(f *testing.F) {
	for _, seed := range [][2]string{
		{"a", "b"}, {"d", "d/e/f"}, {".", "x"}, {"out", "o"}, {"out/", "o"}, {"d/..", ".git/x"}, {".git", "g"}, {"../outside", "x"}, {"~", "x"},
		{"in/..", "../w/c"}, {"d", "./.GIT/"}, {"sub/.git/", "x"}, {"k.pem", "k"},
		{"a\x00", "\xff"}, {"d//x", "n/../../outside/s"}, {"esc/../../outside", "git~1"}, {"/", "//"}, {"d/up/up", "d"}, {"loop/x", "loop"},
	} {
		f.Add(seed[0], seed[1])
	}
	f.Fuzz(func(t *testing.T, from, to string) {
		b := newBench(t, map[string]string{
			"a": "A", "d/x": "X", "d/e/y": "Y", "in": "-> d", "out": "-> ../outside", "d/up": "-> ..", "esc": "-> ../outside/keep", "loop": "-> loop",
			".git/HEAD": "ref", "k.pem": secret, "../outside/s": "S", "../outside/keep/k": "K",
		})
		t.Setenv("HOME", b.path("../outside"))
		cfg := setting.Default[Config]()
		cfg.DenyRead = []string{"*.pem"}
		session, err := workspace.New(b.dir)
		must(t, err)
		roots, _, err := cfg.Roots(session)
		must(t, err)
		b.Registry = New(Disk{Roots: roots}, roots, cfg, nil)
		git, outside := shape(t, b.path(".git")), shape(t, b.path("../outside"))
		for _, tool := range []string{"create_directory", "copy_path", "move_path", "delete_path"} {
			input := in{"source": from, "destination": to}
			if tool == "create_directory" || tool == "delete_path" {
				input = in{"path": to}
			}
			b.run(tool, input)
			if strings.Contains(strings.ReplaceAll(shape(t, b.dir), "k.pem="+secret, ""), secret) {
				t.Fatalf("%s %q: a copy of what may not be read: %s", tool, input, shape(t, b.dir))
			}
			if got := shape(t, b.path("../outside")); got != outside {
				t.Fatalf("%s %q: outside is now %s", tool, input, got)
			}
			if got := shape(t, b.path(".git")); !strings.Contains(got, git) || strings.Contains(got, "=A") {
				t.Fatalf("%s %q: .git is now %s", tool, input, got)
			}
			if left, _ := filepath.Glob(b.path("*.tmp")); len(left) > 0 {
				t.Fatalf("%s %q: left %q", tool, input, left)
			}
			if _, err := os.Lstat(b.path("../outside/s")); err != nil {
				t.Fatal(err)
			}
		}
	})
}
