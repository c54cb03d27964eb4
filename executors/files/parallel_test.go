package files

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/files/walk"
)

// reference is grep line by line, file by file, as simply as can be.
type reference struct {
	re            *regexp.Regexp
	context, most int
	room          int

	out  strings.Builder
	hits int
	more bool
}

func (r *reference) file(name string, data []byte) bool {
	if bytes.IndexByte(data, 0) >= 0 {
		return true
	}
	data = bytes.TrimPrefix(data, []byte(executors.ByteOrderMark))
	var lines [][]byte
	for len(data) > 0 {
		var line []byte
		line, data, _ = bytes.Cut(data, []byte("\n"))
		lines = append(lines, bytes.TrimSuffix(line, []byte("\r")))
	}
	written := 0
	show := func(n int, mark byte, loc []int) {
		at := 0
		if loc != nil {
			at = loc[0]
		}
		fmt.Fprintf(&r.out, "%s%c%d%c %s\n", name, mark, n+1, mark, cutAround(lines[n], at))
		written = n + 1
	}
	after, first := 0, r.hits > 0
	for n, line := range lines {
		loc := r.re.FindIndex(line)
		switch {
		case loc != nil && (r.hits == r.most || r.out.Len() > r.room):
			r.more = true
			return false
		case loc != nil:
			from := max(written, n-r.context)
			if r.context > 0 && (first || written > 0 && from > written) {
				r.out.WriteString("--\n")
			}
			first = false
			for ; from < n; from++ {
				show(from, '-', nil)
			}
			show(n, ':', loc)
			r.hits++
			after = r.context
		case after > 0:
			show(n, '-', nil)
			after--
		}
	}
	return true
}

func (r *reference) result(pattern string) string {
	m := matches{hits: r.hits, more: r.more}
	m.out.WriteString(r.out.String())
	return m.result(pattern)
}

func FuzzGrep(f *testing.F) {
	for _, seed := range []struct {
		pattern, text string
		context, most uint8
		fold          bool
	}{
		{"foo", "a foo\nb\nfoo\r\n\x01\xEF\xBB\xBFfoo\x01x\x00foo", 1, 2, false},
		{`foo|ba[rz]+`, "xbar\nfoo\n\n\nbaz", 2, 9, true},
		{"\uFFFD", "a\xffb\n\uFFFD\nx", 0, 9, false},
		{"kss", "\u212Aſs\nKSS\nkss", 0, 9, true},
		{`^$|\Aa\z`, "\n\na\r\n\r\nab", 1, 9, false},
		{`[^a]*x`, "\n\nb\nax\n", 0, 9, false},
		{`(a{2,}b)+?c?`, "aab\naaabc", 3, 1, false},
		{`\bfoo\B`, "foo foox\nxfoo", 0, 3, true},
		{"a\nb", "a\nb\n", 0, 3, false},
		{`(?i)K\x{e9}s`, "k\u00c9s", 0, 3, false},
	} {
		f.Add(seed.pattern, []byte(seed.text), seed.context, seed.most, seed.fold)
	}
	f.Fuzz(func(t *testing.T, pattern string, text []byte, lines, most uint8, fold bool) {
		flags := "(?m)"
		if fold {
			flags = "(?mi)"
		}
		if _, err := regexp.Compile(pattern); err != nil || len(pattern) > 200 {
			return
		}
		re, err := regexp.Compile(flags + pattern)
		if err != nil {
			return
		}
		s, err := newSearcher(flags+pattern, int(lines%5), 1+int(most%9), 300)
		if err != nil {
			return
		}
		want := &reference{re: re, context: s.context, most: s.most, room: s.room}
		got := &matches{searcher: s}
		var b searching
		never := func() bool { return false }
		for i, data := range bytes.Split(text, []byte{1}) {
			name := fmt.Sprint("f", i)
			if re.Match(data) && !s.mayMatch(data) && !bytes.ContainsRune(data, '\n') {
				t.Errorf("%q: %q is not even tried", pattern, data)
			}
			if !want.file(name, data) {
				for i < len(bytes.Split(text, []byte{1})) && s.mayMatch(data) && got.take(s.file(&b, name, data, never)) {
					t.Fatal("goes on where the reference stops")
				}
				break
			}
			if s.mayMatch(data) && !got.take(s.file(&b, name, data, never)) {
				break
			}
		}
		if diff := cmp.Diff(want.result("p"), got.result("p")); diff != "" {
			t.Errorf("%q in %q (-want +got)\n%s", pattern, text, diff)
		}
	})
}

// Whatever the scheduling and wherever it is cut, a search tells what one that
// goes through the tree in order would.
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
		disk.cfg.MaxMatches, disk.cfg.MaxReadChars = 1+r.IntN(200), 1000+r.IntN(3000)
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
		ref := &reference{re: regexp.MustCompile("hit"), context: r.IntN(3), most: disk.cfg.MaxMatches, room: disk.cfg.MaxReadChars - noteRoom}
		for _, name := range seen {
			if strings.HasSuffix(name, "/") {
				continue
			}
			if !ref.file(name, []byte(b.content(name))) {
				cut = ""
				break
			}
		}
		res, err := disk.grep(t.Context(), nil, grepInput{Pattern: "hit", Context: ref.context})
		if diff := cmp.Diff(ref.result("hit")+cut, res.Text); diff != "" || err != nil {
			t.Fatalf("grep: %v (-want +got)\n%s", err, diff)
		}
		if len(seen) < len(all) {
			cut = walk.Unseen{Cut: true}.String()
		}
		res, err = disk.find(t.Context(), nil, findInput{Pattern: "**/*"})
		want := strings.Join(seen, "\n")
		if want == "" {
			want = "No files matching: **/*"
		}
		if diff := cmp.Diff(want+cut, res.Text); diff != "" || err != nil {
			t.Fatalf("find: %v (-want +got)\n%s", err, diff)
		}
	}
	runtime.GOMAXPROCS(runtime.NumCPU())
}

// Who exchanges a directory for a link to elsewhere while it is searched gets
// nothing from there.
func TestWalkRace(t *testing.T) {
	b := newBench(t, map[string]string{"a/d/f": "hit\n", "a/link": "-> ../../out", "b": "hit\n"})
	must(t, os.MkdirAll(b.path("../out"), 0o755))
	must(t, os.WriteFile(b.path("../out/f"), []byte("hit "+secret), 0o644))
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		d, link := b.path("a/d"), b.path("a/link")
		for {
			select {
			case <-done:
				return
			default:
			}
			_ = os.Rename(d, d+".tmp")
			_ = os.Rename(link, d)
			_ = os.Rename(d, link)
			_ = os.Rename(d+".tmp", d)
		}
	}()
	for range 500 {
		for tool, input := range map[string]in{"grep": {"pattern": "hit"}, "find_path": {"pattern": "**/f"}} {
			res, err := b.Execute(t.Context(), b.call(tool, input))
			if err != nil || strings.Contains(res.Text, secret) || strings.Contains(res.Text, "link/") {
				t.Error(tool, res.Text, err)
			}
		}
	}
	close(done)
	<-stopped
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
	all := ".gitignore .ignore a.exc a.git1 a.ign a.own a.user d/ d/.gitignore d/a.ign d/b.exc d/top.abs sub/ sub/a.exc sub/a.git1 sub/a.ign sub/a.user top.abs tree/ tree/.git tree/a.git1 tree/top.abs x.both y.both"
	find := func(input in) string { return strings.ReplaceAll(b.run("find_path", input).Text, "\n", " ") }
	if got := find(in{"pattern": "**/*"}); got != plain {
		t.Errorf("\n got %s\nwant %s", got, plain)
	}
	all = strings.Replace(all, " tree/.git", "", 1)
	if got := find(in{"pattern": "**/*", "include_ignored": true}); got != all {
		t.Errorf("\n got %s\nwant %s", got, all)
	}
	if got := find(in{"pattern": "*", "path": "d"}); got != "d/.gitignore d/b.exc d/top.abs" {
		t.Error(got)
	}
	cfg := Defaults()
	cfg.RespectIgnore = false
	b.with(cfg)
	if got := find(in{"pattern": "**/*"}); got != all {
		t.Errorf("\n got %s\nwant %s", got, all)
	}
}
