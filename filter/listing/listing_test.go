package listing

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/strategy/strategytest"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

func TestListing(t *testing.T) {
	var many, runs, names, drawn strings.Builder
	for i := range 250 {
		fmt.Fprintf(&many, "./src/%c/mod_%c%c.go\n", 'a'+i/25, 'a'+i%25, 'a'+i/25)
	}
	for i := range 40 {
		fmt.Fprintf(&runs, "chunk_%03d.snap\n", i)
	}
	for i := range 310 {
		fmt.Fprintf(&names, "%c%c\n", 'a'+i/20, 'a'+i%20)
	}
	drawn.WriteString(".\n├── main.go\n├── node_modules\n│   ├── a\n│   │   └── index.js\n│   └── b\n└── src\n    " +
		"├── x.go\n    └── y.go\n\n4 directories, 5 files\n")
	long := "total 40\ndrwxr-xr-x 2 dev dev 4096 Nov 20 19:02 .\ndrwxr-xr-x 9 dev dev 4096 Nov 20 19:02 ..\n"
	for i := range 9 {
		long += fmt.Sprintf("-rw-r--r-- 1 dev dev %d Nov 2%d 19:02 file%c.go\n", 100+i, i, 'a'+i)
	}
	long += "-rwxr-xr-x 1 dev dev 12 Nov 20 19:02 run me.sh\nlrwxrwxrwx 1 dev dev 3 Nov 20 19:02 l -> x y\ndrwxr-xr-x 2 root dev 4096 Nov 20 19:02 sub\n"
	images := "total 10\n"
	for i := range 800 {
		images += fmt.Sprintf("-rw-r--r-- 1 dev dev %d May %d 10:00 img_%d.png\n", i*10, i%28+1, i)
	}
	images += "-rwsr-xr-x 1 root root 99 May 1 10:00 helper\n-rw-r--r-- 1 dev dev 5 May 1 10:00 notes.md\nlrwxrwxrwx 1 dev dev 9 May 1 10:00 cur -> rel/v2\n"
	listed := "find: ‘./x’: Permission denied\n"
	for i := range 12 {
		listed += fmt.Sprintf(" %8d %6d -rw-r--r--   1 dev      dev      %8d Nov 2%d 19:02 ./src/file%c.go\n", 5587065+i, 4, 100+i, i%3, 'a'+i)
	}
	deps := "./main.go\n"
	for i := range 20 {
		deps += fmt.Sprintf("./node_modules/p%d/index.js\n./node_modules/@s/q/%d.js\n", i%3, i)
	}
	for name, tt := range map[string]struct {
		command, in string
		want        []string // lines of the result
		gone        string
	}{
		"a few paths": {"find . -name x", "./a/b\n./a/c\n./d\n", []string{"./a/b", "./a/c", "./d"}, ""},
		"many paths":  {"find . -name '*.go'", many.String(), []string{"./src/a/{mod_aa.go,mod_ba.go,"}, "./src/a/mod_ba.go"},
		"two lists": {"dpkg -L a b", many.String() + "\n" + strings.ReplaceAll(many.String(), "mod_", "b_"),
			[]string{"", "./src/a/{b_aa.go,b_ba.go,"}, ",b_aa.go"},
		"dependencies":        {"find . -type f", deps, []string{"./main.go", "./node_modules/ (40 paths: p0 7, @s/q 20, p1 7, p2 6)"}, "index.js"},
		"dependencies wanted": {"find node_modules -type f", strings.ReplaceAll(deps, "./node", "node"), []string{"node_modules/p0/index.js"}, ""},
		"numbered":            {"ls gen", runs.String(), []string{"chunk_000.snap … chunk_039.snap (40 names)"}, "chunk_007"},
		"very many names":     {"ls gen", names.String(), []string{"aa", "ot", "... (10 more: pa … pj) ..."}, "\npa"},
		"tree":                {"tree", drawn.String(), []string{" node_modules (3 entries)", "  x.go", "4 directories, 5 files"}, "index.js"},
		"long": {"ls -la", long,
			[]string{"100 Nov 20 19:02 filea.go", "-rwxr-xr-x 12 Nov 20 19:02 run me.sh", "Nov 20 19:02 l -> x y", "root dev Nov 20 19:02 sub/"}, "total 40"},
		"unlike the others": {"ls -l", images, []string{"-rwsr-xr-x root root 99 May 1 10:00 helper", "5 May 1 10:00 notes.md", "May 1 10:00 cur -> rel/v2"},
			"img_500.png"},
		"find -ls":      {"find . -type f -ls", listed, []string{"find: ‘./x’: Permission denied", "100 Nov 20 19:02 ./src/filea.go"}, "5587065"},
		"gfind -ls":     {"gfind . -type f -ls", listed, []string{"find: ‘./x’: Permission denied", "100 Nov 20 19:02 ./src/filea.go"}, "5587065"},
		"counts":        {"rg -c x", strings.ReplaceAll(many.String(), ".go", ".go:3"), []string{"./src/a/{mod_aa.go:3,mod_ba.go:3,"}, ""},
		"counts, a run": {"rg -c x", paths(250, func(i int) string { return fmt.Sprint(":", 1+i%3) }), []string{"src/{f249.go:1,f248.go:3,f247.go:2,"}, ""},
		"counts of 0": {"grep -rc x .", paths(20, func(i int) string { return fmt.Sprint(":", i%3/2) }),
			[]string{"src/f17.go:1", "src/f2.go:1", "(listing: 20 paths, 14 of them with 0 left out)"}, ":0"},
		"counts of 0 alone": {"grep -rc x . | grep ':0$'", strings.ReplaceAll(runs.String(), ".snap", ".snap:0"),
			[]string{"chunk_000.snap:0", "chunk_039.snap:0"}, ""},
		"numbers in any order": {"ls -U gen", "f9\nf100\nf10\nf1\nf02\nf3\nf4\nf5\nf6\nf7\nf8\nf11\n", []string{"f1 … f100 (12 names)"}, ""},
		"paths in any order":   {"find . -name '*.c'", paths(250, func(int) string { return "" }), []string{"src/{f0.go … f249.go (250 names)}"}, ""},
		"errors": {"find /", strings.Repeat("find: ‘/secret/x’: Permission denied\n", 30) + many.String(),
			[]string{"find: ‘/secret/x’: Permission denied", "... (20 more lines such as the one above: Permission denied) ..."}, ""},
		"what is run on a file": {"find . -exec wc -l {} ;", many.String(), []string{"./src/a/mod_ba.go"}, ""},
		"rows":                  {"git ls-files -s", strings.Repeat("100644 0f8fad5bd9cb 0\ta/b.go\n", 300), []string{"100644 0f8fad5bd9cb 0\ta/b.go"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := strategytest.Make(t, Strategies["listing"], "")
			got := strategytest.Pass(t, s, strategy.Run{Command: tt.command}, tt.in)
			for _, want := range tt.want {
				if !strings.Contains("\n"+got, "\n"+want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
			if tt.gone != "" && strings.Contains(got, tt.gone) {
				t.Errorf("still %q in\n%s", tt.gone, got)
			}
			if again := strategytest.Pass(t, s, strategy.Run{Command: tt.command}, got); again != got {
				t.Errorf("filtered again, the result became\n%s", again)
			}
		})
	}
}

func FuzzListing(f *testing.F) {
	for _, command := range []string{"ls -R", "tree -a", "find . -type f", "ls -la"} {
		f.Add(command, ".:\na1\na2\na3\na4\na5\na6\na7\na8\na9\na10\n\n./node_modules/x:\nb\n\n./c:\nd\ne\n")
		f.Add(command, ".\n├── a\n│   ├── b\n│   └── c\n└── node_modules\n    └── x\n")
		f.Add(command, "total 8\n"+strings.Repeat("-rw-r--r-- 1 a b 12 Nov 20 19:02 x\ndrwxr-xr-x 1 a b 12 Nov 20 2026 y\n", 9))
		f.Add(command, strings.Repeat("./a/b\n./a/c\nnode_modules/x/y\nfind: x: Permission denied\n", 9))
	}
	f.Fuzz(func(t *testing.T, command, body string) {
		s := strategytest.Make(t, Strategies["listing"], "group = 4, names = 20, lines = 20")
		body = string(text.Sanitize([]byte(body)))
		run := strategy.Run{Command: command}
		got := strategytest.Pass(t, s, run, body)
		if len(got) > len(body) {
			t.Errorf("the result has %d bytes, more than the text with %d", len(got), len(body))
		}
		if again := strategytest.Pass(t, s, run, got); again != got {
			t.Errorf("%s\nfirst:\n%s\nagain:\n%s", strategytest.Difference(got, again), got, again)
		}
	})
}

func BenchmarkListing(b *testing.B) {
	var paths, long []byte
	for i := 0; len(paths) < 4<<20; i++ {
		paths = fmt.Appendf(paths, "./src/part%d/node%d/file_%c.go\n", i%97, i%13, 'a'+i%26)
		long = fmt.Appendf(long, "-rw-r--r-- 1 dev dev %d Nov 20 19:02 file%d.go\n", i, i)
	}
	for name, text := range map[string][]byte{"find .": paths, "ls -l": long} {
		b.Run(name, func(b *testing.B) {
			strategytest.Benchmark(b, strategytest.Make(b, Strategies["listing"], ""), strategy.Run{Command: name}, text)
		})
	}
}

// paths returns n numbered paths, each with the text that after returns.
func paths(n int, after func(int) string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "src/f%d.go%s\n", n-1-i, after(n-1-i))
	}
	return b.String()
}
