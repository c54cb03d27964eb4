package files

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors/tools/files/search"
	"github.com/zeph-acp/zeph-acp/executors/tools/files/walk"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// A search returns the result of one that visits the tree in order, whatever
// the scheduling and the limit.
func TestSameAsInOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	b := newBench(t, nil)
	names := []string{"a", "a.b", "a-b", "a0", "B", "ä", "z.go", ".h"}
	for range 400 {
		name := ""
		for range r.IntN(4) {
			name += names[r.IntN(len(names))] + "d/"
		}
		name += names[r.IntN(len(names))] + fmt.Sprint(r.IntN(200))
		must(t, os.MkdirAll(filepath.Dir(b.path(name)), 0o755))
		must(t, os.WriteFile(b.path(name), []byte(strings.Repeat("x\n", r.IntN(4))+strings.Repeat("hit\n", r.IntN(4))), 0o644))
	}
	var all []string // in order; directories end in "/"
	must(t, filepath.WalkDir(b.dir, func(p string, d fs.DirEntry, err error) error {
		if p != b.dir && err == nil {
			name := p[len(b.dir)+1:]
			if d.IsDir() {
				name += "/"
			}
			all = append(all, name)
		}
		return err
	}))
	slices.Sort(all)
	disk := newTools(b)
	for range 100 {
		disk.cfg.MaxMatches, disk.cfg.MaxOutputChars = 1+r.IntN(200), 1000+r.IntN(3000)
		disk.cfg.MaxResults, disk.budget = 1<<20, walk.MaxEntries
		if r.IntN(2) == 0 {
			disk.budget = r.IntN(len(all) + 2)
		}
		runtime.GOMAXPROCS(1 + r.IntN(8))
		seen := all[:min(len(all), disk.budget)]
		cut := ""
		if len(seen) < len(all) {
			cut = walk.Unseen{Cut: true}.String()
		}
		context := r.IntN(3)
		s, err := search.New("hit", search.Limits{
			Context: context, Matches: disk.cfg.MaxMatches, Bytes: disk.cfg.pageChars(),
		})
		must(t, err)
		inOrder := search.Matches{Searcher: s}
		for _, name := range seen {
			if strings.HasSuffix(name, "/") {
				continue
			}
			if !inOrder.Add(s.File(&search.Buffer{}, name, []byte(b.content(name)), func() bool { return false })) {
				cut = ""
				break
			}
		}
		res, err := disk.grep(t.Context(), nil, &grepInput{Pattern: "hit", Context: context})
		if diff := cmp.Diff(inOrder.Text("hit")+cut, res.ForModel()); diff != "" || err != nil {
			t.Fatalf("grep: %v (-want +got)\n%s", err, diff)
		}
		if len(seen) < len(all) {
			cut = walk.Unseen{Cut: true}.String()
		}
		disk.cfg.MaxOutputChars = 1 << 20
		res, err = disk.find(t.Context(), nil, &findInput{Pattern: "**/*"})
		want := strings.Join(seen, "\n")
		if want == "" {
			want = "No files matching: **/*"
		}
		if diff := cmp.Diff(want+cut, res.ForModel()); diff != "" || err != nil {
			t.Fatalf("find: %v (-want +got)\n%s", err, diff)
		}
	}
	runtime.GOMAXPROCS(runtime.NumCPU())
}

// A search finds no file outside, even if a directory is replaced by a link
// meanwhile.
func TestWalkRace(t *testing.T) {
	b := newBench(t, map[string]string{"a/d/f": "hit\n", "a/link": "-> ../../out", "b": "hit\n"})
	must(t, os.MkdirAll(b.path("../out"), 0o755))
	must(t, os.WriteFile(b.path("../out/f"), []byte("hit "+secret), 0o644))
	stop := b.swap("a/d", "a/link")
	for range 500 {
		for tool, input := range map[string]in{"grep": {"pattern": "hit"}, "find_path": {"pattern": "**/f"}} {
			res, err := b.Execute(t.Context(), b.call(tool, input))
			if err != nil || strings.Contains(res.ForModel(), secret) || strings.Contains(res.ForModel(), "link/") {
				t.Error(tool, res.ForModel(), err)
			}
		}
	}
	stop()
}

func TestIgnoreFiles(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(home, "gc"))
	must(t, os.WriteFile(filepath.Join(home, "gc"), []byte("[user]\n\tname = x\n[Core] ; c\n\texcludesFile = \"~/my excludes\" # c\n"), 0o644))
	must(t, os.WriteFile(filepath.Join(home, "my excludes"), []byte("*.user\n/top.abs\n*.both\n"), 0o644))
	b := newBench(t, map[string]string{
		".gitignore": "*.git1\n*.own\n", ".ignore": "!*.own\n*.ign\n", ".git/info/exclude": "*.exc\n!x.both\n", ".git/HEAD": "",
		"a.git1": "", "a.own": "", "a.ign": "", "a.exc": "", "a.user": "", "x.both": "", "y.both": "", "top.abs": "", "d/top.abs": "",
		"d/.gitignore": "!*.ign\n!*.exc\n", "d/a.ign": "", "d/b.exc": "", // .ignore wins, exclude does not
		"sub/.git/HEAD": "", "sub/a.git1": "", "sub/a.exc": "", "sub/a.ign": "", "sub/a.user": "", // another repository
		"tree/.git": "gitdir: elsewhere", "tree/a.git1": "", "tree/top.abs": "",
	})
	plain := ".gitignore .ignore a.own d/ d/.gitignore d/b.exc d/top.abs sub/ sub/a.exc sub/a.git1 tree/ tree/a.git1 x.both"
	all := ".gitignore .ignore a.exc a.git1 a.ign a.own a.user d/ d/.gitignore d/a.ign d/b.exc d/top.abs sub/ sub/a.exc sub/a.git1 sub/a.ign sub/a.user " +
		"top.abs tree/ tree/.git tree/a.git1 tree/top.abs x.both y.both"
	find := func(input in) string { return strings.ReplaceAll(b.run("find_path", input).Text, "\n", " ") }
	if got := find(in{"pattern": "**/*"}); got != plain {
		t.Errorf("\n got %s\nwant %s", got, plain)
	}
	all = strings.Replace(all, " tree/.git", "", 1)
	if got := find(in{"pattern": "**/*", "include_ignored": true}); got != all {
		t.Errorf("\n got %s\nwant %s", got, all)
	}
	if got := find(in{"pattern": "*", "path": "d"}); got != "d/.gitignore d/b.exc d/top.abs" {
		t.Errorf(`find(in{"pattern": "*", "path": "d"}): got %q, want %q`, got, "d/.gitignore d/b.exc d/top.abs")
	}
	cfg := setting.Default[Config]()
	cfg.RespectIgnore = false
	b.with(cfg)
	if got := find(in{"pattern": "**/*"}); got != all {
		t.Errorf("\n got %s\nwant %s", got, all)
	}
}
