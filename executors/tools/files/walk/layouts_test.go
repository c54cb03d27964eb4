package walk

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// layout is a repository on the disk. All paths begin at a new directory, where home is the
// user's home directory.
type layout struct {
	files  string   // space-separated; they are empty
	rules  []string // pairs of a file and its content
	git    []string // commands, each after the directory in which it runs
	cwd    string
	nested []string // repositories below cwd, relative to it: each lists its own files
	links  []string // pairs of a link and its target
	// Why the result is not compared, if it is not.
	noGit, noRG string
	want        string // the files, where there is nothing to compare with
}

const (
	foreignToGit = "git does not read .ignore"
	begin        = "commit -q --allow-empty -m x"
)

var layouts = map[string]layout{
	"root": {
		files: "w/a.log w/keep.log w/d/a.log w/d/b w/out/x w/d/out/x w/d/top",
		rules: []string{"w/.gitignore", "*.log\n!keep.log\nout/\n/top\n", "w/d/.gitignore", "!a.log\n"},
		git:   []string{"w: init -q", "w: add d/b"}, cwd: "w",
	},
	"subdirectory": {
		files: "w/a/b/x.log w/a/b/keep w/a/b/abs w/a/b/c/abs w/a/b/rel w/a/b/c/rel w/a/b/mid w/other",
		rules: []string{"w/.gitignore", "*.log\n/a/b/abs\nother\n", "w/a/.gitignore", "b/rel\n**/c/rel\nmid\n", "w/a/b/.gitignore", "!mid\n"},
		git:   []string{"w: init -q", "w: add a/b/keep"}, cwd: "w/a/b",
	},
	"exclude": {
		files: "w/a/x w/a/y w/a/b/x w/a/b/z w/a/z",
		rules: []string{"w/.git/info/exclude", "x\n/a/b/z\ny\n", "w/a/.gitignore", "!y\n"},
		git:   []string{"w: init -q"}, cwd: "w/a",
	},
	"linked worktree": {
		files: "wt/x wt/y wt/d/z wt/w",
		rules: []string{"w/.git/info/exclude", "x\n/d/z\n", "w/.gitignore", "w\n", "wt/.gitignore", "y\n"},
		git:   []string{"w: init -q", "w: " + begin, "w: worktree add -q ../wt"}, cwd: "wt",
	},
	"below a linked worktree": {
		files: "wt/d/x wt/d/y wt/d/e/z wt/d/z", rules: []string{"w/.git/info/exclude", "x\n/d/e/z\n", "wt/.gitignore", "y\n"},
		git: []string{"w: init -q", "w: " + begin, "w: worktree add -q ../wt"}, cwd: "wt/d",
	},
	"ignored worktree": {
		files: "w/trees/a/x w/trees/a/y w/trees/a/d/log",
		rules: []string{"w/.gitignore", "trees/\nlog\n", "w/.git/info/exclude", "x\n"},
		git:   []string{"w: init -q", "w: " + begin, "w: worktree add -q trees/a"}, cwd: "w/trees/a",
	},
	"nested repositories": {
		files: "w/a.log w/n/a.log w/n/x w/n/in/a.log w/n/in/y w/skip/m/a",
		rules: []string{"w/.gitignore", "*.log\nskip/\n", "w/n/.gitignore", "x\n", "w/n/in/.git/info/exclude", "y\n", "w/.git/info/exclude", "in\n"},
		git:   []string{"w: init -q", "w/n: init -q", "w/n/in: init -q", "w/skip/m: init -q"}, cwd: "w", nested: []string{"n", "n/in"},
	},
	"submodule": {
		files: "w/a.log w/sub/a.log w/sub/x w/sub/d/y",
		rules: []string{"w/.gitignore", "*.log\n", "w/.git/modules/sub/info/exclude", "x\n/d/y\n"},
		git:   []string{"s: init -q", "s: " + begin, "w: init -q", "w: -c protocol.file.allow=always submodule --quiet add ../s sub"}, cwd: "w",
		nested: []string{"sub"}, noRG: "ripgrep does not read info/exclude of a submodule",
	},
	"in a submodule": {
		files: "w/sub/d/a.log w/sub/d/x w/sub/d/z/y",
		rules: []string{"w/.gitignore", "*.log\n", "w/.git/modules/sub/info/exclude", "x\n/d/z/y\n"},
		git:   []string{"s: init -q", "s: " + begin, "w: init -q", "w: -c protocol.file.allow=always submodule --quiet add ../s sub"}, cwd: "w/sub/d",
		noRG: "ripgrep does not read info/exclude of a submodule",
	},
	"user's excludes": {
		files: "w/a/x~ w/a/y w/a/b/z w/a/keep~ w/a/c/z",
		rules: []string{"home/.gitconfig", "[core]\n\texcludesFile = \"~/my ignore\" ; mine\n", "home/my ignore", "*~\n/a/b/z\n", "w/.git/info/exclude", "!keep~\n"},
		git:   []string{"w: init -q"}, cwd: "w/a",
		noRG: "ripgrep reads no quoted values, and takes the user's patterns from its working directory",
	},
	"default excludes": {
		files: "w/x~ w/y w/n/x~ w/n/y",
		rules: []string{"home/.config/git/ignore", "*~\n", "home/.gitconfig", "[user]\n\tname = u\n"},
		git:   []string{"w: init -q", "w/n: init -q"}, cwd: "w", nested: []string{"n"},
	},
	"included settings": {
		files: "w/x w/y", rules: []string{"home/.gitconfig", "[core]\nexcludesFile = ~/a\n[include]\npath = more/c\n", "home/more/c", "[core]\nexcludesFile = ~/b\n",
			"home/a", "x\n", "home/b", "y\n"},
		git: []string{"w: init -q"}, cwd: "w", noRG: "ripgrep does not follow includes",
	},
	"ripgrep's ignore files": {
		files: "w/a/b/x.log w/a/b/y w/a/b/z w/a/b/q", rules: []string{"w/.gitignore", "*.log\ny\n", "w/.ignore", "!x.log\n/a/b/z\n", "w/a/.ignore", "q\n"},
		git: []string{"w: init -q"}, cwd: "w/a/b", noGit: foreignToGit,
	},
	"ignored working directory": {
		files: "w/build/a.o w/build/d/b w/build/d/x", rules: []string{"w/.gitignore", "build/\n*.o\n", "w/build/.gitignore", "b\n"},
		git: []string{"w: init -q"}, cwd: "w/build", noGit: "git lists nothing in an ignored directory", noRG: "ripgrep applies the repository's patterns there",
		want: ".gitignore a.o d/x",
	},
	"no repository": {
		files: "w/a/x w/a/b/y w/a/z", rules: []string{"w/.gitignore", "x\n", "w/.ignore", "z\n", "w/.git/info/exclude", "y\n"}, cwd: "w/a",
		noGit: "git fails", noRG: "ripgrep reads .ignore of all directories above", want: "b/y x z",
	},
	"foreign repository": {
		files: "w/x w/y", rules: []string{"w/.git", "gitdir: ../other/.git\n", "other/.git/info/exclude", "x\n"}, git: []string{"other: init -q"}, cwd: "w",
		noGit: "git follows a file .git wherever it leads", noRG: "ripgrep looks for commondir", want: "x y",
	},
	"repository's settings": {
		files: "w/x w/y", rules: []string{"outside", "x\n"}, git: []string{"w: init -q", "w: config core.excludesFile ../outside"}, cwd: "w",
		noGit: "git reads the file", want: "x y",
	},
	"linked ignore file": {
		files: "w/a/x w/a/y", rules: []string{"w/rules", "x\n"}, links: []string{"w/a/.gitignore", "../rules"},
		git: []string{"w: init -q"}, cwd: "w/a", noRG: "ripgrep follows the link",
	},
}

// TestLayouts compares a walk with git and ripgrep on the repositories in layouts.
func TestLayouts(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("git is not installed: nothing to compare with")
	}
	rg, _ := exec.LookPath("rg")
	for name, l := range layouts {
		t.Run(name, func(t *testing.T) {
			cwd := l.make(t, git)
			ours := walkFiles(t, cwd)
			if l.noGit == "" {
				if theirs := l.gitFiles(t, git, cwd); !slices.Equal(ours, theirs) {
					t.Errorf("walk: %s\n git: %s", ours, theirs)
				}
			}
			if got := strings.Join(ours, " "); l.want != "" && got != l.want {
				t.Errorf("walk: %s, want %s", got, l.want)
			}
			switch {
			case l.noRG != "":
			case rg == "":
				t.Skip("ripgrep is not installed: compared only with git")
			default:
				ours = slices.DeleteFunc(ours, func(p string) bool {
					info, err := os.Lstat(filepath.Join(cwd, p))
					return err != nil || !info.Mode().IsRegular()
				})
				if theirs := output(t, cwd, rg, "--no-config", "--files", "--hidden", "--null", "-g", "!.git"); !slices.Equal(ours, theirs) {
					t.Errorf("walk: %s\n  rg: %s", ours, theirs)
				}
			}
		})
	}
}

// TestOutside checks that Outside depends on the files above the root, and on nothing else.
func TestOutside(t *testing.T) {
	cwd := layout{files: "w/a/b/x", cwd: "w/a/b"}.make(t, "")
	roots, err := workspace.New(cwd)
	must(t, err)
	before := Outside(roots, cwd)
	for _, step := range []struct {
		name, text string
		same       bool
	}{
		{"../.gitignore", "x\n", true}, {"../../.git/HEAD", "", false}, {"../.gitignore", "y\n", false}, {"../../.ignore", "x\n", false},
		{"../../.git/info/exclude", "x\n", false}, {"../other", "x\n", true}, {".gitignore", "x\n", true}, {"../../../.gitignore", "x\n", true},
		{"../../../home/.config/git/ignore", "x\n", false}, {"../.git/HEAD", "", false}, {".git/HEAD", "", false}, {"../.gitignore", "z\n", true},
	} {
		file := filepath.Join(cwd, filepath.FromSlash(step.name))
		must(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must(t, os.WriteFile(file, []byte(step.text), 0o644))
		now := Outside(roots, cwd)
		if (now == before) != step.same {
			t.Errorf("after %s: %s, before: %s", step.name, now, before)
		}
		before = now
	}
}

// make creates the layout, and returns its working directory.
func (l layout) make(t *testing.T, git string) (cwd string) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	t.Setenv("HOME", filepath.Join(dir, "home"))
	t.Setenv("USERPROFILE", filepath.Join(dir, "home"))
	t.Setenv("XDG_CONFIG_HOME", "")
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("GIT_CEILING_DIRECTORIES", filepath.Dir(dir))
	for _, who := range []string{"AUTHOR", "COMMITTER"} {
		t.Setenv("GIT_"+who+"_NAME", "u")
		t.Setenv("GIT_"+who+"_EMAIL", "u@example.com")
	}
	put := func(name, text string) {
		file := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must(t, os.WriteFile(file, []byte(text), 0o644))
	}
	run := func(commands []string) {
		for _, command := range commands {
			in, args, _ := strings.Cut(command, ": ")
			must(t, os.MkdirAll(filepath.Join(dir, in), 0o755))
			output(t, filepath.Join(dir, in), git, strings.Fields(args)...)
		}
	}
	adds := slices.IndexFunc(l.git, func(c string) bool { return strings.Contains(c, ": add ") })
	if adds < 0 {
		adds = len(l.git)
	}
	run(l.git[:adds])
	for _, name := range strings.Fields(l.files) {
		put(name, "")
	}
	for pair := range slices.Chunk(l.rules, 2) {
		put(pair[0], pair[1])
	}
	for pair := range slices.Chunk(l.links, 2) {
		must(t, os.Symlink(pair[1], filepath.Join(dir, pair[0])))
	}
	run(l.git[adds:])
	return filepath.Join(dir, filepath.FromSlash(l.cwd))
}

// gitFiles returns the files that git lists.
func (l layout) gitFiles(t *testing.T, git, cwd string) (files []string) {
	for _, in := range append([]string{"."}, l.nested...) {
		for _, name := range output(t, filepath.Join(cwd, in), git, "ls-files", "-co", "--exclude-standard", "-z") {
			name = path.Join(in, name)
			if info, err := os.Lstat(filepath.Join(cwd, name)); err == nil && !info.IsDir() {
				files = append(files, name)
			}
		}
	}
	slices.Sort(files)
	return files
}

// walkFiles returns the entries of a walk without the directories.
func walkFiles(t *testing.T, dir string) (files []string) {
	t.Helper()
	roots, err := workspace.New(dir)
	must(t, err)
	_, err = Do(t.Context(), Tree{Roots: roots, Dir: dir, Ignore: true, Budget: MaxEntries}, func() Visit[string] {
		return func(e Entry, _ func() bool) (string, bool, error) { return e.Path(), !e.Type.IsDir(), nil }
	}, func(name string) int { return len(name) }, func(name string) bool {
		files = append(files, name)
		return true
	})
	must(t, err)
	slices.Sort(files)
	return files
}

// output returns what a command writes, split at NUL and sorted.
func output(t *testing.T, dir, name string, args ...string) []string {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(cmd, err, string(out))
	}
	all := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	slices.Sort(all)
	return all
}
