package files

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// treeDirs are the directories of the tree to search, with 33 files each: with
// -dirs 30000 it has a million files and takes 5 GB.
var treeDirs = flag.Int("dirs", 3000, "directories of the tree for benchmarks of searches")

// largeTree returns a tree of 100,000 files in about 3,000 directories, or as many
// as -dirs says, a sixth of them ignored. It is made once and reused by later runs,
// since its content never changes.
func largeTree(b *testing.B) *bench {
	b.Helper()
	dir, err := filepath.EvalSymlinks(os.TempDir())
	must(b, err)
	dir = filepath.Join(dir, fmt.Sprintf("zeph-acp-search-tree-1-%d-%d", *treeDirs, os.Getuid()))
	if _, err := os.Lstat(filepath.Join(dir, "complete")); err != nil {
		must(b, os.RemoveAll(dir))
		grow(b, filepath.Join(dir, "w"))
		must(b, os.WriteFile(filepath.Join(dir, "complete"), nil, 0o600))
	}
	b.Setenv("HOME", dir) // no excludes of the user, for neither side
	b.Setenv("XDG_CONFIG_HOME", "")
	return &bench{t: b, dir: filepath.Join(dir, "w")}
}

func grow(b *testing.B, dir string) {
	r := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("the quick brown fox jumps over lazy dog func return err nil string context package import struct type interface request response " +
		"session config value error range append length index buffer reader writer")
	var text strings.Builder
	for text.Len() < 1<<20 {
		text.WriteString(strings.Repeat("\t", r.IntN(4)))
		for range 1 + r.IntN(12) {
			text.WriteString(words[r.IntN(len(words))] + " ")
		}
		if r.IntN(50) == 0 {
			text.WriteString("requestHandler(w, r)")
		}
		text.WriteByte('\n')
	}
	lines := text.String()
	kinds := []string{".go", ".go", ".ts", ".py", ".md", ".json", "_test.go"}
	for d := range *treeDirs {
		at := filepath.Join(dir, fmt.Sprintf("mod%02d/pkg%d/sub%d", d%30, d/30%10, d/300))
		if d%6 == 5 {
			at = filepath.Join(dir, fmt.Sprintf("mod%02d/node_modules/dep%d", d%30, d))
		}
		must(b, os.MkdirAll(at, 0o755))
		for f := range 33 {
			size := int(200 * math.Pow(100, r.Float64())) // 0.2 to 20 KiB, most of them small
			from := r.IntN(len(lines) - size)
			must(b, os.WriteFile(filepath.Join(at, fmt.Sprintf("file%d%s", f, kinds[r.IntN(len(kinds))])), []byte(lines[from:from+size]), 0o644))
		}
	}
	must(b, os.WriteFile(filepath.Join(dir, "mod07/zephyr.go"), []byte("package mod\n\nfunc zephNeedle() {}\n"), 0o644))
	must(b, os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("*.log\nnode_modules/\n/build/\n*.py[co]\n.DS_Store\n*.swp\n/dist\nvendor/**/testdata\n"),
		0o644))
	for _, name := range []string{".git/objects", ".git/refs"} {
		must(b, os.MkdirAll(filepath.Join(dir, name), 0o755))
	}
	must(b, os.WriteFile(filepath.Join(dir, ".git/HEAD"), []byte("ref: refs/heads/main\n"), 0o644))
}

// unbounded lets a tool return everything, as the command that it is compared
// with does.
func unbounded() Config {
	cfg := setting.Default[Config]()
	cfg.MaxMatches, cfg.MaxOutputChars, cfg.MaxResults = 1<<30, 1<<30, 1<<30
	return cfg
}

// race measures a call alternately with an equivalent command, so that other
// load affects both. metric is the ratio of their times.
func race(b *testing.B, w *bench, cfg Config, tool string, input in, metric string, command ...string) {
	exe, err := exec.LookPath(command[0])
	if err != nil {
		b.Skipf("%s is not installed: nothing to compare with", command[0])
	}
	roots, err := workspace.New(w.dir)
	must(b, err)
	roots = roots.Without(&workspace.AgentFiles{Places: []workspace.Place{{Dir: filepath.Join(w.dir, "../.config/zeph-acp"), Files: []string{"keys.toml"}}}})
	w.Registry = New(Disk{Roots: roots}, roots, cfg, nil)
	call := w.call(tool, input)
	var ours, theirs time.Duration
	var lines [2]int
	b.ReportAllocs()
	for b.Loop() {
		begin := time.Now()
		res, err := w.Execute(b.Context(), call)
		ours += time.Since(begin)
		if err != nil || res.Failed {
			b.Fatal(res.ForModel(), err)
		}
		lines[0] = strings.Count(res.ForModel(), "\n") + 1
		b.StopTimer()
		cmd := exec.Command(exe, command[1:]...)
		cmd.Dir = w.dir
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, io.Discard
		begin = time.Now()
		if err := cmd.Run(); err != nil {
			b.Fatal(cmd, err)
		}
		theirs += time.Since(begin)
		lines[1] = bytes.Count(out.Bytes(), []byte("\n"))
		b.StartTimer()
	}
	if cfg.MaxMatches == 1<<30 && lines[0] != lines[1] {
		b.Errorf("%d lines, but %d of %s", lines[0], lines[1], command[0])
	}
	b.ReportMetric(float64(ours)/float64(theirs), metric)
	b.ReportMetric(float64(theirs.Microseconds())/1000/float64(b.N), "ms-"+metric[2:])
}

func BenchmarkGrep(b *testing.B) {
	w := largeTree(b)
	for _, tt := range []struct {
		name, pattern string
		cfg           Config
	}{
		{"literal/rare", "zephNeedle", unbounded()},
		{"literal/frequent", "requestHandler", unbounded()},
		{"literal/frequent-as-shipped", "requestHandler", setting.Default[Config]()},
		{"prefix/rare", `zephNee[a-z]+\(`, unbounded()},
		{"prefix/frequent", `requestHand\w+\(w`, unbounded()},
		{"inner/rare", `\w+Needle\(`, unbounded()},
		{"fold/rare", `(?i)ZEPHneedle`, unbounded()},
		{"byte/rare", `[a-z]{4}N[a-z]{5}`, unbounded()},
		{"free/rare", `[a-z]{4}[A-Z][a-z]{5}\W`, unbounded()}, // no text in it to look for
	} {
		for _, sort := range []string{"none", "path"} {
			b.Run(tt.name+"/sort-"+sort, func(b *testing.B) {
				race(b, w, tt.cfg, "grep", in{"pattern": tt.pattern}, "x-rg",
					"rg", "--no-config", "--hidden", "--sort", sort, "--no-heading", "-n", tt.pattern, ".")
			})
		}
	}
}

func BenchmarkFind(b *testing.B) {
	w := largeTree(b)
	for _, tt := range []struct{ name, pattern, rival string }{
		{"name/rare", "zephyr.go", "zephyr.go"},
		{"extension/frequent", "*.md", "*.md"},
		{"suffix/frequent", "mod1*/**/*_test.go", ""},
		{"all", "**/*", "*"},
	} {
		b.Run(tt.name, func(b *testing.B) {
			command := []string{"fdfind", "--hidden", "--exclude", ".git", "--glob", tt.rival}
			if tt.rival == "" {
				command = []string{"fdfind", "--hidden", "--exclude", ".git", "--full-path", "--glob", filepath.Join(w.dir, tt.pattern)}
			}
			if _, err := exec.LookPath("fdfind"); err != nil {
				command[0] = "fd"
			}
			race(b, w, unbounded(), "find_path", in{"pattern": tt.pattern}, "x-fd", command...)
		})
	}
}

// BenchmarkSearchCode searches a tree of 100,000 files for a symbol that one file
// defines, for a name that is on every fiftieth line, and for words, also such that no
// definition has both.
func BenchmarkSearchCode(b *testing.B) {
	w := largeTree(b)
	roots, err := workspace.New(w.dir)
	must(b, err)
	w.Registry = New(Disk{Roots: roots}, roots, setting.Default[Config](), nil)
	for _, tt := range []struct{ name, query string }{
		{"symbol/rare", "zephNeedle"}, {"symbol/frequent", "requestHandler"}, {"symbol/part", "Needle"}, {"words/rare", "zeph needle"},
		{"words/frequent", "request handler"}, {"words/lines", "config value"},
	} {
		b.Run(tt.name, func(b *testing.B) {
			call := w.call("search_code", in{"query": tt.query})
			b.ReportAllocs()
			for b.Loop() {
				res, err := w.Execute(b.Context(), call)
				if err != nil || res.Failed {
					b.Fatal(res.ForModel(), err)
				}
			}
		})
	}
}
