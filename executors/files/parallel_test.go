package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
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
	data = bytes.TrimPrefix(data, []byte(byteOrderMark))
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

func FuzzFind(f *testing.F) {
	for _, pattern := range []string{"**/*.go", "a/**/*_test.go", "**/{a,b}*.{md,go}", "*", "**", "a/b", "**/a**", "**/[a/b]c", "{a/b,c}/d", `**/\*x`, "**/*{,a}", "a/**", "**/*a*", "**/?.go", "a}b", "**/{a}}"} {
		for _, name := range []string{"a/x_test.go", "b.md", "a/b", "*x", "é.go", ".go"} {
			f.Add(pattern, name)
		}
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if !doublestar.ValidatePattern(pattern) || checkPattern(pattern, pattern) != nil || path.Clean(pattern) != pattern || strings.HasPrefix(pattern, "/") ||
			!fs.ValidPath(name) || name == "." || !utf8.ValidString(name) {
			return
		}
		in, base := path.Split(name)
		got := newPathMatcher(pattern)(entry{Entry: workspace.Entry{Name: base}, in: in})
		if want := doublestar.MatchUnvalidated(pattern, name); got != want {
			t.Errorf("%q matches %q: %t, want %t", pattern, name, got, want)
		}
	})
}

// FuzzIgnore compares with git, where it is installed.
func FuzzIgnore(f *testing.F) {
	git, err := exec.LookPath("git")
	if err != nil {
		f.Skip("git is not installed: nothing to compare with")
	}
	for _, seed := range [][2]string{
		{"*.log\n!a\n/b/\n[x\n{a\n\\", "a/b/c.log"}, {"a/**", "a/x"}, {"a/**/b", "a/x/y/b"}, {"**/a/**", "x/a/y/"}, {"foo**bar", "foox/bar"}, {"[[:alpha:]]?", "xy"},
		{"[]a]", "]"}, {"[!a-c]x", "dx"}, {"[a-]", "-"}, {"a\\ \nb  \nc\\\\ ", "b"}, {"*\n!*/\n!x/y", "x/y"}, {"/", "a"}, {"**", "a/b"}, {"/**", "a"}, {"**/", "d/"},
		{"a/*/c", "a/b/c"}, {"\\#x\n\\!y", "#x"}, {"x \t", "x \t"}, {"*.tar.gz\n*.gz", "a.tar.gz"}, {"[\\]]", "]"}, {"a[/]b", "a/b"}, {"!x\nx\r\n", "x"}, {"[[:x", ":"}, {"*a*b*", "xaybz"},
	} {
		f.Add(seed[0], seed[1])
	}
	// Of these git says that they are like a single star, but it takes what is
	// before them off first and then finds them at the begin: "a**/b" matches "ab".
	odd := regexp.MustCompile(`[^/\n!]\*\*`)
	dir := f.TempDir()
	run := func(stdin string, args ...string) (string, error) {
		cmd := exec.Command(git, append([]string{"-c", "core.excludesFile=/dev/null"}, args...)...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(stdin)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
		out, err := cmd.Output()
		return string(out), err
	}
	if _, err := run("", "init", "-q"); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		name, isDir := strings.CutSuffix(name, "/")
		if !fs.ValidPath(name) || name == "." || len(name) > 100 || strings.ContainsAny(name, "\x00\\") || strings.ContainsRune(text, 0) || strings.Contains(strings.ToLower(name), ".git") || odd.MatchString(text) {
			return
		}
		must(t, os.WriteFile(filepath.Join(dir, ".gitignore"), []byte(text), 0o644))
		top, _, _ := strings.Cut(name, "/")
		defer os.RemoveAll(filepath.Join(dir, top))
		full := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(full), 0o755))
		if isDir {
			must(t, os.Mkdir(full, 0o755))
		} else {
			must(t, os.WriteFile(full, nil, 0o644))
		}
		out, err := run("./"+name+"\x00", "check-ignore", "--no-index", "-z", "--stdin")
		if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || exit.ExitCode() != 1) {
			t.Fatal(err, out)
		}
		ign := &ignore{git: parseRules(text)}
		got := false
		for i := range len(name) + 1 {
			if i == len(name) || name[i] == '/' {
				in, base := path.Split(name[:i])
				got = got || ign.match(in, base, i < len(name) || isDir)
			}
		}
		if want := out != ""; got != want {
			t.Errorf("%q, %q (directory: %t): ignored %t, git says %t", text, name, isDir, got, want)
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
		disk.cfg.MaxResults, disk.budget = 1<<20, walkBudget
		if r.IntN(2) == 0 {
			disk.budget = r.IntN(len(all) + 2)
		}
		runtime.GOMAXPROCS(1 + r.IntN(8))
		seen := all[:min(len(all), disk.budget)]
		cut := ""
		if len(seen) < len(all) {
			cut = notes{cut: true}.String()
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
			cut = notes{cut: true}.String()
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

// More directories than are held open, a chain of them deeper than paths may be
// long, and many names in one.
func TestLargeTree(t *testing.T) {
	b := newBench(t, nil)
	root, err := os.OpenRoot(b.dir)
	must(t, err)
	name := strings.Repeat("d", 20)
	deep := 300
	for range deep {
		must(t, root.Mkdir(name, 0o755))
		must(t, root.Mkdir("side", 0o755))
		must(t, root.WriteFile("zz", []byte("hit\n"), 0o644))
		sub, err := root.OpenRoot(name)
		must(t, err)
		root.Close()
		root = sub
	}
	root.Close()
	must(t, os.Mkdir(b.path("wide"), 0o755))
	for i := range 1000 {
		must(t, os.WriteFile(b.path(fmt.Sprintf("wide/%d", i)), []byte("hit\n"), 0o644))
	}
	disk := newTools(b)
	disk.cfg.MaxMatches, disk.cfg.MaxReadChars = 1<<20, 1<<30
	before := openFiles(t)
	res, err := disk.grep(t.Context(), nil, grepInput{Pattern: "hit"})
	if n := strings.Count(res.Text, "hit"); err != nil || n != deep+1000 || strings.Contains(res.Text, "[could") {
		t.Errorf("%d matches, %v: %.300s", n, err, res.Text[max(0, len(res.Text)-300):])
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d files are open, there were %d", after, before)
	}
}

// Where the paths become too long, the walk says so and goes on.
func TestTooDeep(t *testing.T) {
	b := newBench(t, map[string]string{"z": "hit\n"})
	root, err := os.OpenRoot(b.dir)
	must(t, err)
	for range maxPath/201 + 2 {
		name := strings.Repeat("d", 200)
		must(t, root.Mkdir(name, 0o755))
		sub, err := root.OpenRoot(name)
		must(t, err)
		root.Close()
		root = sub
	}
	root.Close()
	res := b.run("grep", in{"pattern": "hit"})
	if !strings.HasPrefix(res.Text, "z:1: hit\n[could not look at ddd") || !strings.HasSuffix(res.Text, "d (the path is too long)]") {
		t.Errorf("%.50s … %s", res.Text, res.Text[len(res.Text)-50:])
	}
}

func openFiles(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0 // this system does not tell
	}
	return len(entries)
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

func TestWalkCancelled(t *testing.T) {
	b := newBench(t, nil)
	for i := range 300 {
		must(t, os.MkdirAll(b.path(fmt.Sprint("d", i)), 0o755))
		must(t, os.WriteFile(b.path(fmt.Sprintf("d%d/f", i)), []byte("x\n"), 0o644))
	}
	disk := newTools(b)
	cause := errors.New("the user stopped")
	before := openFiles(t)
	for n := range 20 {
		ctx, cancel := context.WithCancelCause(t.Context())
		visits := 0
		_, err := walk(ctx, disk, target{abs: b.dir}, true, func() visit[int] {
			return func(e entry, _ func() bool) (int, bool, error) { return 1, true, nil }
		}, func(int) int { return 1 }, func(int) bool {
			if visits++; visits == n*10+1 {
				cancel(cause)
			}
			return true
		})
		if !errors.Is(err, cause) {
			t.Errorf("%v after %d", err, visits)
		}
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d files are open, there were %d", after, before)
	}
}

// A panic of a visit comes out where the walk was asked for, after all have ended.
func TestWalkPanics(t *testing.T) {
	b := newBench(t, map[string]string{"a/x": "", "b/x": "", "c": ""})
	defer func() {
		if p := recover(); p != "odd" {
			t.Errorf("recovered %v", p)
		}
	}()
	_, err := walk(t.Context(), newTools(b), target{abs: b.dir}, true, func() visit[int] {
		return func(e entry, _ func() bool) (int, bool, error) {
			if e.Name == "x" {
				panic("odd")
			}
			return 0, false, nil
		}
	}, func(int) int { return 0 }, func(int) bool { return true })
	t.Error("no panic, but", err)
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

func TestExcludesFile(t *testing.T) {
	for config, want := range map[string]string{
		"[core]\nexcludesfile=/a\n": "/a", "[core]excludesFile = /a": "/a", "[CORE]\n\tExcludesFile=\"/a b\"\n": "/a b", "[core]\nexcludesFile = /a ; x": "/a",
		"[core \"x\"]\nexcludesFile=/a": "", "[user]\nexcludesFile=/a": "", "[core]\n;excludesFile=/a": "", "[core]\nexcludesFile=/a\n[x]\n[core]\nexcludesfile=/b": "/b",
		"[core]\nexcludesFile": "", "[core]\nexcludesFile=a\\\\b\\\"": `a\b"`, "[core": "", "": "",
	} {
		if got, _ := excludesFile(config); got != want {
			t.Errorf("%q gives %q, want %q", config, got, want)
		}
	}
}
