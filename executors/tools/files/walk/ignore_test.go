package walk

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestIgnore(t *testing.T) {
	for _, tt := range []struct {
		file, match, keep string // space-separated paths; a directory ends in "/"
	}{
		{"*.log", "a.log d/b.log d.log/", "a.logs log"},
		{"/top", "top", "d/top"},
		{"build/", "build/ d/build/", "build d/build"},
		{"doc/*.txt", "doc/a.txt", "doc/s/a.txt x/doc/a.txt"},
		{"**/foo", "foo a/foo a/b/foo", "foox"},
		{"a/**", "a/x a/x/y", "a/ b/a/x"},
		{"a/**/b", "a/b a/x/b a/x/y/b", "a/xb"},
		{"*.o\n!keep.o", "x.o", "keep.o d/keep.o"},
		{"!x\nx", "x", ""},
		{"# comment\n\n\\#hash\n\\!bang", "#hash !bang", "comment"},
		{"trail   ", "trail", ""},
		{"esc\\ ", "esc ", "esc"},
		{"{a,b}", "{a,b}", "a b"},
		{"[ab].c", "a.c b.c", "c.c"},
		{"[!ab].c", "c.c", "a.c"},
		{"a?c", "abc", "ac a/c"},
		{"[bad", "", "bad [bad"},
		{"crlf\r\n*.x\r\n", "crlf a.x", ""},
		{"*", "a d/ d/x", ""},
		{"/", "", "a"},
		{"\uFEFFx", "x", ""},
	} {
		ign := &ignore{gitignoreRules: parseRules(tt.file)}
		check := func(paths string, want bool) {
			split := strings.Fields(paths)
			if strings.HasPrefix(tt.file, "esc") {
				split = []string{paths}
			}
			for _, p := range split {
				name, dir := strings.CutSuffix(p, "/")
				in, base := path.Split(name)
				if got := ign.match(in, base, dir); got != want {
					t.Errorf("%q, path %q: ignored %t", tt.file, p, got)
				}
			}
		}
		check(tt.match, true)
		check(tt.keep, false)
	}
}

func TestExcludesFile(t *testing.T) {
	for config, want := range map[string]string{
		"[core]\nexcludesfile=/a\n": "/a", "[core]excludesFile = /a": "/a", "[CORE]\n\tExcludesFile=\"/a b\"\n": "/a b", "[core]\nexcludesFile = /a ; x": "/a",
		"[core \"x\"]\nexcludesFile=/a": "", "[user]\nexcludesFile=/a": "", "[core]\n;excludesFile=/a": "",
		"[core]\nexcludesFile=/a\n[x]\n[core]\nexcludesfile=/b": "/b",

		"[include]\npath = other\n": "/o", "[include]\npath=~/other\n[core]\nexcludesFile=/a": "/a",
		"[core]\nexcludesFile=/a\n[include]path=~/other": "/o",
		"[core]\nexcludesFile=/a\n[include]\npath=none":  "/a", "[include]\npath=loop": "/l", "[includeIf \"gitdir:/\"]\npath=other": "",
		"[core]\nexcludesFile": "", "[core]\nexcludesFile=a\\\\b\\\"": `a\b"`, "[core": "", "": "",
	} {
		files := map[string]string{
			"/home/u/.gitconfig": config, "/home/u/other": "[core]\nexcludesFile=/o", "/home/u/loop": "[include]\npath=loop\n[core]\nexcludesFile=/l",
		}
		c := gitSettings{home: "/home/u", read: func(name string) string { return files[filepath.ToSlash(name)] }}
		if got, _ := c.excludesFile("/home/u/.gitconfig", 0); got != want {
			t.Errorf("%q returns %q, want %q", config, got, want)
		}
	}
}

// FuzzIgnore compares the result with git's, if git is installed.
func FuzzIgnore(f *testing.F) {
	git, err := exec.LookPath("git")
	if err != nil {
		f.Skip("git is not installed: nothing to compare with")
	}
	for _, seed := range [][2]string{
		{"*.log\n!a\n/b/\n[x\n{a\n\\", "a/b/c.log"}, {"a/**", "a/x"}, {"a/**/b", "a/x/y/b"}, {"**/a/**", "x/a/y/"}, {"foo**bar", "foox/bar"}, {"[[:alpha:]]?", "xy"},
		{"[]a]", "]"}, {"[!a-c]x", "dx"}, {"[a-]", "-"}, {"a\\ \nb  \nc\\\\ ", "b"}, {"*\n!*/\n!x/y", "x/y"}, {"/", "a"}, {"**", "a/b"}, {"/**", "a"}, {"**/", "d/"},
		{"a/*/c", "a/b/c"}, {"\\#x\n\\!y", "#x"}, {"x \t", "x \t"}, {"*.tar.gz\n*.gz", "a.tar.gz"}, {"[\\]]", "]"}, {"a[/]b", "a/b"}, {"!x\nx\r\n", "x"},
		{"[[:x", ":"}, {"*a*b*", "xaybz"},
	} {
		f.Add(seed[0], seed[1])
	}
	// Git documents these as a single star. But it first removes the text before
	// them and then finds them at the beginning: "a**/b" matches "ab".
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
		if !fs.ValidPath(name) || name == "." || len(name) > 100 || strings.ContainsAny(name, "\x00\\") || strings.ContainsRune(text,
			0) || strings.Contains(strings.ToLower(name), ".git") || odd.MatchString(text) {
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
		ign := &ignore{gitignoreRules: parseRules(text)}
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
