package copies

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/process/program"
	"github.com/zeph-acp/zeph-acp/executors/undo"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// project is a repository of a test.
type project struct {
	testing.TB
	dir   string
	state string
}

func newProject(t testing.TB) *project {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &project{t, filepath.Join(base, "p"), filepath.Join(base, "state", DirName)}
	for key, value := range map[string]string{
		"HOME": base, "XDG_CONFIG_HOME": base, "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@x",
		"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@x", "GIT_ALLOW_PROTOCOL": "file",
	} {
		t.Setenv(key, value)
	}
	if err := os.MkdirAll(p.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	p.git("init", "-q")
	return p
}

// git runs git in the project.
func (p *project) git(args ...string) string { p.Helper(); return p.gitIn(p.dir, args...) }

func (p *project) gitIn(dir string, args ...string) string {
	p.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		p.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// write writes files, by their names relative to a directory. An empty text removes one.
func (p *project) write(dir string, files map[string]string) {
	p.Helper()
	for name, text := range files {
		path := filepath.Join(dir, name)
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if text == "" {
			err = os.Remove(path)
		} else if err == nil {
			err = os.WriteFile(path, []byte(text), 0o600)
		}
		if err != nil {
			p.Fatal(err)
		}
	}
}

func (p *project) commit(files map[string]string) {
	p.Helper()
	p.write(p.dir, files)
	p.git("add", "-A")
	p.git("commit", "-q", "-m", "x")
}

func (p *project) options() Options {
	return Options{Project: p.dir, State: p.state, Name: "fixer", Programs: &program.Runner{Env: os.Environ()},
		Limits: setting.Default[undo.Limits]()}
}

func (p *project) make(o Options) *Copy {
	p.Helper()
	c, err := Make(p.Context(), o)
	if err != nil {
		p.Fatal(err)
	}
	p.Cleanup(func() { c.Close() })
	return c
}

// files returns the files below a directory with their content, except git's own files.
func (p *project) files(dir string) map[string]string {
	p.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if e != nil && e.Name() == ".git" {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if err != nil || e.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		if target, err := os.Readlink(path); err == nil {
			all[rel] = "-> " + target
			return nil
		}
		data, err := os.ReadFile(path)
		all[rel] = string(data)
		return err
	})
	if err != nil {
		p.Fatal(err)
	}
	return all
}

func (p *project) wants(what string, want, got any) {
	p.Helper()
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(Change{})); diff != "" {
		p.Errorf("%s (-want +got)\n%s", what, diff)
	}
}

// session returns a session that writes files of the project directly. between is called
// before each effect.
func (p *project) session(between func(path string)) Session {
	current := func(_ context.Context, path string) (*string, error) {
		data, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		text := string(data)
		return &text, err
	}
	return Session{current, func(ctx context.Context, path string, text *string, still func(context.Context) *executors.Failure) (executors.Result, error) {
		if between != nil {
			between(path)
		}
		if failure := still(ctx); failure != nil {
			return failure.Result(), nil
		}
		if text == nil {
			return executors.Result{}, os.Remove(path)
		}
		p.write("/", map[string]string{path: *text})
		return executors.Result{}, nil
	}}
}

// The copy has HEAD, the uncommitted changes and new files, and not those that are
// ignored or refused.
func TestMake(t *testing.T) {
	p := newProject(t)
	p.commit(map[string]string{"a.txt": "a\n", "b.txt": "b\n", "c.txt": "c\n", "sub/d.txt": "d\n", ".gitignore": "*.o\n", "secret.txt": "s\n"})
	for link, target := range map[string]string{"in": "sub/d.txt", "sub/up": "../a.txt", "out": "../other", "abs": p.dir + "/a.txt", "round": "sub/../../x"} {
		if err := os.Symlink(target, filepath.Join(p.dir, link)); err != nil {
			t.Skip(err)
		}
	}
	p.write(p.dir, map[string]string{"a.txt": "changed\n", "b.txt": "", "new.txt": "new\n", "x.o": "object", "staged.txt": "staged\n"})
	p.git("add", "staged.txt")
	before := p.git("status", "--porcelain")
	o := p.options()
	o.Refuses = func(abs string) bool { return filepath.Base(abs) == "secret.txt" }
	c := p.make(o)
	p.wants("the copy", map[string]string{
		"a.txt": "changed\n", "c.txt": "c\n", "sub/d.txt": "d\n", ".gitignore": "*.o\n", "new.txt": "new\n", "staged.txt": "staged\n",
		"in": "-> sub/d.txt", "sub/up": "-> ../a.txt",
	}, p.files(c.Dir))
	p.wants("the log", p.git("log", "--format=%H"), p.gitIn(c.Dir, "log", "--format=%H"))
	if status := p.gitIn(c.Dir, "status", "--porcelain"); !strings.Contains(status, " M a.txt") || !strings.Contains(status, "?? new.txt") {
		t.Errorf("its status is %q", status)
	}
	if changes, err := c.changes(t.Context()); err != nil || len(changes) > 0 {
		t.Errorf("changes from the start: %v, %v", changes, err)
	}
	p.gitIn(c.Dir, "config", "core.hooksPath", "/tmp/x")
	p.gitIn(c.Dir, "commit", "-q", "-a", "-m", "mine")
	p.gitIn(c.Dir, "branch", "-f", "other")
	p.wants("the project's status", before, p.git("status", "--porcelain"))
	if p.git("branch", "--list", "other") != "" || strings.Contains(p.git("config", "--list", "--local"), "hookspath") {
		t.Error("a command in the copy changed the project's repository")
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	left, err := os.ReadDir(p.state)
	if err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// A directory below the top one, worktrees, repositories without a commit and shallow
// ones work too.
func TestMakeOf(t *testing.T) {
	for name, prepare := range map[string]func(p *project) string{
		"a subdirectory": func(p *project) string { return filepath.Join(p.dir, "sub") },
		"a worktree": func(p *project) string {
			p.git("worktree", "add", "-q", "../w")
			return filepath.Join(filepath.Dir(p.dir), "w", "sub")
		},
		"a shallow clone": func(p *project) string {
			p.commit(map[string]string{"more.txt": "more\n"})
			p.git("clone", "-q", "--depth", "1", "file://"+p.dir, "../w")
			return filepath.Join(filepath.Dir(p.dir), "w", "sub")
		},
		"no commit": func(p *project) string {
			p.gitIn(filepath.Dir(p.dir), "init", "-q", "w")
			p.write(filepath.Join(filepath.Dir(p.dir), "w"), map[string]string{"sub/a.txt": "a\n"})
			return filepath.Join(filepath.Dir(p.dir), "w", "sub")
		},
		"a filter": func(p *project) string {
			p.git("config", "filter.x.clean", "touch ../ran; cat")
			p.git("config", "filter.x.smudge", "touch ../ran; cat")
			p.git("config", "core.fsmonitor", "touch ../ran")
			p.write(p.dir, map[string]string{".gitattributes": "* filter=x text eol=crlf\n", ".git/hooks/post-checkout": "#!/bin/sh\ntouch ../ran\n",
				".git/hooks/post-index-change": "#!/bin/sh\ntouch ../ran\n"})
			for _, hook := range []string{"post-checkout", "post-index-change"} {
				if err := os.Chmod(filepath.Join(p.dir, ".git/hooks", hook), 0o700); err != nil {
					p.Fatal(err)
				}
			}
			return filepath.Join(p.dir, "sub")
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			p.commit(map[string]string{"sub/a.txt": "a\n"})
			o := p.options()
			o.Project = prepare(p)
			c := p.make(o)
			p.wants("the copy", map[string]string{"a.txt": "a\n"}, p.files(c.Dir))
			p.write(c.Dir, map[string]string{"a.txt": "changed\r\n", "b.txt": "b\n"})
			changes, err := c.changes(t.Context())
			old, new, b := "a\n", "changed\r\n", "b\n"
			p.wants("changes", []Change{{Path: "sub/a.txt", Old: &old, New: &new}, {Path: "sub/b.txt", New: &b}}, changes)
			if err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(p.dir), "ran")); err == nil {
				t.Error("a program of the repository ran")
			}
		})
	}
}

func TestMakeRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		prepare func(p *project) string
		want    string
	}{
		"no repository": {func(p *project) string { return filepath.Dir(p.dir) }, "is not in a git repository"},
		"no git": {func(p *project) string {
			p.Setenv("PATH", filepath.Dir(p.dir))
			return p.dir
		}, "git is not installed"},
		"a git of the project": {func(p *project) string {
			p.write(p.dir, map[string]string{"git": "#!/bin/sh\n"})
			if err := os.Chmod(filepath.Join(p.dir, "git"), 0o700); err != nil {
				p.Fatal(err)
			}
			p.Setenv("PATH", p.dir)
			return p.dir
		}, "is a file of the project"},
		"a bare repository": {func(p *project) string {
			p.git("clone", "-q", "--bare", ".", "../bare")
			return filepath.Join(filepath.Dir(p.dir), "bare")
		}, "bare repository"},
		"files elsewhere": {func(p *project) string {
			p.git("config", "core.worktree", filepath.Dir(p.dir))
			return p.dir
		}, "in another directory"},
		"our own directory": {func(p *project) string {
			p.state = filepath.Join(p.dir, "x", DirName)
			return p.dir
		}, "own directory"},
		"a damaged repository": {func(p *project) string {
			p.write(p.dir, map[string]string{".git/config": "[x"})
			return p.dir
		}, "git cannot use the repository"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			p.commit(map[string]string{"a.txt": "a\n"})
			dir := tt.prepare(p)
			o := p.options()
			o.Project = dir
			_, err := Make(t.Context(), o)
			if f, ok := errors.AsType[*executors.Failure](err); !ok || !strings.Contains(f.Message, tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
			if left, _ := os.ReadDir(p.state); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// Submodules and other repositories in the project are left out, and changes in them are
// kept as a patch.
func TestSubmodules(t *testing.T) {
	p := newProject(t)
	p.commit(map[string]string{"a.txt": "a\n"})
	p.git("clone", "-q", ".", "../m")
	p.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../m", "mod")
	p.git("commit", "-q", "-m", "m")
	p.git("clone", "-q", ".", "nested")
	c := p.make(p.options())
	if got := p.files(c.Dir); len(got) != 2 || got["a.txt"] == "" || got[".gitmodules"] == "" {
		t.Errorf("the copy has %v", got)
	}
	p.gitIn(c.Dir, "init", "-q", "own")
	p.write(c.Dir, map[string]string{"own/x.txt": "x\n"})
	p.gitIn(filepath.Join(c.Dir, "own"), "add", "-A")
	p.gitIn(filepath.Join(c.Dir, "own"), "commit", "-q", "-m", "x")
	b, err := c.Apply(t.Context(), p.session(nil))
	if err != nil || len(b.Written) > 0 || len(b.NotMade) != 1 || b.NotMade[0].Path != "own/x.txt" || b.Kept.Patch == "" {
		t.Errorf("%+v, %v", b, err)
	}
}

// Files that git does not store are reported, and kept in the patch.
func TestStrays(t *testing.T) {
	p := newProject(t)
	p.commit(map[string]string{"a.txt": "a\n"})
	p.git("clone", "-q", ".", "../m")
	p.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../m", "mod")
	p.git("commit", "-q", "-m", "m")
	c := p.make(p.options())
	p.gitIn(c.Dir, "init", "-q", "own")
	p.write(c.Dir, map[string]string{"own/x.txt": "x\n", "mod/y.txt": "y\n", "git~1": "z\n"})
	b, err := c.Apply(t.Context(), p.session(nil))
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, l := range b.NotMade {
		left = append(left, l.Path)
	}
	p.wants("left", []string{"git~1", "mod/y.txt", "own/x.txt"}, left)
	patch, err := os.ReadFile(b.Kept.Patch)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"+x", "+y", "+z", "+++ b/own/x.txt", "+++ b/mod/y.txt", "+++ b/git~1"} {
		if !strings.Contains(string(patch), line+"\n") {
			t.Errorf("the patch has no line %q\n%s", line, patch)
		}
	}
	p.git("apply", "--exclude=git~1", b.Kept.Patch)
	if got := p.files(p.dir); got["own/x.txt"] != "x\n" || got["mod/y.txt"] != "y\n" {
		t.Errorf("git apply: the project has %v", got)
	}
}

// Files that no patch holds are reported, and moved out of the copy before it is removed.
func TestSetAside(t *testing.T) {
	p := newProject(t)
	p.commit(map[string]string{"a.txt": "a\n"})
	c := p.make(p.options())
	p.gitIn(c.Dir, "init", "-q", "own")
	large := strings.Repeat("x", maxFile+1)
	p.write(c.Dir, map[string]string{"own/x.txt": "x\n", "own/d/large": large})
	if err := os.Symlink("../a.txt", filepath.Join(c.Dir, "own", "link")); err != nil {
		t.Skip("no symbolic links: ", err)
	}
	b, err := c.Apply(t.Context(), p.session(nil))
	if err != nil {
		t.Fatal(err)
	}
	want := []PathNote{{"own/d/large", "it is too large"}, {"own/link", "it is a symbolic link"}, {"own/x.txt", "git cannot store it in this repository"}}
	p.wants("left", want, b.NotMade)
	if lines := strings.Join(b.Lines(), "\n"); !strings.Contains(lines, "[the files that no patch holds are kept for the user: "+b.Kept.Files+"]") {
		t.Error(lines)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(filepath.Join(b.Kept.Files, "own", "d", "large")); err != nil || string(got) != large {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if got, err := os.Readlink(filepath.Join(b.Kept.Files, "own", "link")); err != nil || got != "../a.txt" {
		t.Errorf("%q, %v", got, err)
	}
	old := time.Now().Add(-maxAge - time.Hour)
	if err := os.Chtimes(b.Kept.Files, old, old); err != nil {
		t.Fatal(err)
	}
	if _, err := Clean(t.Context(), p.options()); err != nil || exists(b.Kept.Files) {
		t.Errorf("old files stay: %v", err)
	}
}

// The project's objects are not needed for the changes: of a sub-agent that ends, and of a process that was killed.
func TestKeepWithoutObjects(t *testing.T) {
	p := newProject(t)
	p.commit(map[string]string{"a.txt": "a\n"})
	ended, killed := p.make(p.options()), p.make(p.options())
	for _, c := range []*Copy{ended, killed} {
		p.write(c.Dir, map[string]string{"a.txt": "A\n", "d/b.txt": "b\n"})
	}
	if err := os.RemoveAll(filepath.Join(p.dir, ".git", "objects")); err != nil {
		t.Fatal(err)
	}
	for _, k := range p.keepBoth(ended, killed) {
		patch, err := os.ReadFile(k.Patch)
		if err != nil || k.Files != "" || !bytes.Contains(patch, []byte("+A\n")) || !bytes.Contains(patch, []byte("+b\n")) {
			t.Errorf("kept are %v with the patch %q, %v", k, patch, err)
		}
	}
}

// keepBoth keeps the changes of a copy whose sub-agent ends, and of one whose process was killed.
func (p *project) keepBoth(ended, killed *Copy) []Kept {
	p.Helper()
	kept, err := ended.Keep(p.Context(), nil)
	if err != nil {
		p.Log("Keep: ", err)
	}
	if err := ended.Close(); err != nil {
		p.Error(err)
	}
	killed.lock.Close()
	others, err := Clean(p.Context(), killed.options)
	if err != nil || len(others) != 1 {
		p.Fatalf("Clean: %v, %v; want one copy", others, err)
	}
	if copies, err := filepath.Glob(filepath.Join(p.state, "*"+metaEnd)); err != nil || len(copies) > 0 {
		p.Errorf("left: %q, %v", copies, err)
	}
	return append(others, kept)
}

// If the changes cannot be computed, the whole copy is kept: with too many files, with a damaged state, and of an
// earlier version.
func TestKeepAll(t *testing.T) {
	for name, damage := range map[string]func(killed *Copy) error{
		"too many files":     func(killed *Copy) error { killed.options.Limits.MaxFiles = 1; return nil },
		"a damaged state":    func(killed *Copy) error { return os.WriteFile(killed.baseFile(), []byte("{"), 0o600) },
		"an earlier version": func(killed *Copy) error { return os.Rename(killed.Meta, killed.path(gitEnd)) },
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			p.commit(map[string]string{"a.txt": "a\n"})
			ended, killed := p.make(p.options()), p.make(p.options())
			for _, c := range []*Copy{ended, killed} {
				p.write(c.Dir, map[string]string{"a.txt": "A\n", "d/b.txt": "b\n"})
			}
			ended.options.Limits.MaxFiles = 1
			if err := damage(killed); err != nil {
				t.Fatal(err)
			}
			for _, k := range p.keepBoth(ended, killed) {
				got := p.files(k.Files)
				if k.Patch != "" || got["a.txt"] != "A\n" || got["d/b.txt"] != "b\n" {
					t.Errorf("%v is kept, with %v", k, got)
				}
			}
			if left, err := filepath.Glob(filepath.Join(p.state, "*"+gitEnd)); err != nil || len(left) > 0 {
				t.Errorf("left: %q, %v", left, err)
			}
		})
	}
}

// The objects of another project are not lent to the commands of a copy.
func TestObjects(t *testing.T) {
	for name, tt := range map[string]struct {
		prepare func(p *project, other string) error
		lent    bool
	}{
		"a usual repository": {func(*project, string) error { return nil }, true},
		"a file .git": {func(p *project, other string) error {
			git := filepath.Join(p.dir, ".git")
			return errors.Join(os.RemoveAll(git), os.WriteFile(git, []byte("gitdir: "+other+"\n"), 0o600))
		}, false},
		"a link .git": {func(p *project, other string) error {
			git := filepath.Join(p.dir, ".git")
			return errors.Join(os.RemoveAll(git), os.Symlink(other, git))
		}, false},
		"linked objects": {func(p *project, other string) error {
			objects := filepath.Join(p.dir, ".git", "objects")
			return errors.Join(os.RemoveAll(objects), os.Symlink(filepath.Join(other, "objects"), objects))
		}, false},
		"a common directory": {func(p *project, other string) error {
			return os.WriteFile(filepath.Join(p.dir, ".git", "commondir"), []byte(other+"\n"), 0o600)
		}, false},
		"alternates": {func(p *project, other string) error {
			return os.WriteFile(filepath.Join(p.dir, ".git", "objects", "info", "alternates"), []byte(filepath.Join(other, "objects")+"\n"), 0o600)
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			p.commit(map[string]string{"a.txt": "a\n"})
			p.git("clone", "-q", ".", "../other")
			if err := tt.prepare(p, filepath.Join(filepath.Dir(p.dir), "other", ".git")); err != nil {
				t.Skip(err)
			}
			if got := p.make(p.options()).Objects(); (got != "") != tt.lent {
				t.Errorf("lent: %q, want %v", got, tt.lent)
			}
		})
	}
}

// A link in a repository that leads out of it is not followed.
func TestLinkedRepository(t *testing.T) {
	p := newProject(t)
	p.commit(map[string]string{"a.txt": "a\n"})
	p.write(filepath.Dir(p.dir), map[string]string{"secret": "top secret\n"})
	exclude := filepath.Join(p.dir, ".git", "info", "exclude")
	_ = os.Remove(exclude) // a template may have no such file
	if err := os.Symlink(filepath.Join(filepath.Dir(p.dir), "secret"), exclude); err != nil {
		t.Skip(err)
	}
	c := p.make(p.options())
	if data, err := os.ReadFile(filepath.Join(c.Root, ".git", "info", "exclude")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the copy has %q, %v", data, err)
	}
}

func TestApply(t *testing.T) {
	const base = "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
	for name, tt := range map[string]struct {
		copy, project map[string]string // changes there
		want          map[string]string // afterwards in the project
		left          []string
		merged        bool
	}{
		"changes": {map[string]string{"a.txt": "A\n", "b.txt": "", "new/n.txt": "n\n"}, nil, map[string]string{"a.txt": "A\n", "new/n.txt": "n\n"}, nil,
			false},
		"no change":       {nil, map[string]string{"b.txt": "B\n"}, map[string]string{"a.txt": base, "b.txt": "B\n"}, nil, false},
		"the same change": {map[string]string{"a.txt": "A\n"}, map[string]string{"a.txt": "A\n"}, map[string]string{"a.txt": "A\n", "b.txt": base}, nil, false},
		"two places": {map[string]string{"a.txt": strings.Replace(base, "1", "one", 1)}, map[string]string{"a.txt": strings.Replace(base, "9", "nine", 1)},
			map[string]string{"a.txt": "one\n2\n3\n4\n5\n6\n7\n8\nnine\n", "b.txt": base}, nil, true},
		"the same place": {map[string]string{"a.txt": strings.Replace(base, "1", "one", 1), "b.txt": "B\n"},
			map[string]string{"a.txt": strings.Replace(base, "1", "eins", 1)}, map[string]string{"a.txt": strings.Replace(base, "1", "eins", 1), "b.txt": "B\n"},
			[]string{"a.txt"}, false},
		"deleted here": {map[string]string{"a.txt": ""}, map[string]string{"a.txt": "mine\n"}, map[string]string{"a.txt": "mine\n", "b.txt": base},
			[]string{"a.txt"}, false},
		"deleted there": {map[string]string{"a.txt": "A\n"}, map[string]string{"a.txt": ""}, map[string]string{"b.txt": base}, []string{"a.txt"}, false},
		"both new": {map[string]string{"n.txt": "n\n"}, map[string]string{"n.txt": "mine\n"},
			map[string]string{"a.txt": base, "b.txt": base, "n.txt": "mine\n"}, []string{"n.txt"}, false},
		"not a text": {map[string]string{"n.bin": "a\x00b"}, nil, map[string]string{"a.txt": base, "b.txt": base}, []string{"n.bin"}, false},
		"ignored": {map[string]string{".gitignore": "*.o\n", "n.o": "o"}, nil, map[string]string{"a.txt": base, "b.txt": base, ".gitignore": "*.o\n"},
			nil, false},
		"a name with quote": {map[string]string{"a \"b\tc.txt": "x\n"}, nil, map[string]string{"a.txt": base, "b.txt": base, "a \"b\tc.txt": "x\n"}, nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := newProject(t)
			p.commit(map[string]string{"a.txt": base, "b.txt": base})
			c := p.make(p.options())
			p.write(c.Dir, tt.copy)
			p.write(p.dir, tt.project)
			b, err := c.Apply(t.Context(), p.session(nil))
			if err != nil {
				t.Fatal(err)
			}
			p.wants("the project", tt.want, p.files(p.dir))
			var left []string
			for _, l := range b.NotMade {
				left = append(left, l.Path)
			}
			p.wants("left", tt.left, left)
			if len(b.Merged) > 0 != tt.merged || (b.Kept.Patch != "") != (len(left) > 0) || len(b.Changes) != len(b.Written)+len(b.Deleted) {
				t.Errorf("got %+v, want merged %t, a patch of the rest, and a diff of each change", b, tt.merged)
			}
			if b.Kept.Patch != "" { // nothing is lost: the patch has the change
				p.git("stash", "-q", "-u")
				p.git("apply", b.Kept.Patch)
				for _, path := range left {
					if text, err := os.ReadFile(filepath.Join(p.dir, path)); string(text) != tt.copy[path] {
						t.Errorf("after the patch %s is %q, %v", path, text, err)
					}
				}
			}
		})
	}
}

// Many changes are brought back up to a limit, and special files are left out.
func TestChangesLimits(t *testing.T) {
	p := newProject(t)
	p.commit(map[string]string{"a.txt": "a\n"})
	c := p.make(p.options())
	files := map[string]string{"large.txt": strings.Repeat("x", maxFile+1), "a.txt": "A\n"}
	for i := range maxChanges {
		files[fmt.Sprintf("many/%d.txt", i)] = "same\n"
	}
	p.write(c.Dir, files)
	if err := exec.Command("mkfifo", filepath.Join(c.Dir, "fifo")).Run(); err != nil {
		t.Log("no FIFO:", err)
	}
	changes, err := c.changes(t.Context())
	if err != nil || len(changes) != maxChanges+2 {
		t.Fatalf("%d changes, %v", len(changes), err)
	}
	left := map[string]int{}
	for _, ch := range changes {
		left[ch.Unwritable]++
	}
	p.wants("left", map[string]int{"": maxChanges - 1, "it is too large": 1, "there are too many changes": 2}, left)
	if kept, err := c.Keep(t.Context(), nil); err != nil || kept.Patch == "" || kept.Files != "" {
		t.Errorf("%q, %v", kept, err)
	}
}

// A file that changes while the user is asked is merged again, and never overwritten.
func TestApplyWhileItChanges(t *testing.T) {
	p := newProject(t)
	p.commit(map[string]string{"a.txt": "1\n2\n3\n4\n5\n", "b.txt": "b\n"})
	c := p.make(p.options())
	p.write(c.Dir, map[string]string{"a.txt": "one\n2\n3\n4\n5\n", "b.txt": ""})
	n := 0
	b, err := c.Apply(t.Context(), p.session(func(path string) {
		switch n++; {
		case n == 1:
			p.write(p.dir, map[string]string{"a.txt": "1\n2\n3\n4\nfive\n"})
		case filepath.Base(path) == "b.txt":
			p.write(p.dir, map[string]string{"b.txt": fmt.Sprint(n)})
		}
	}))
	if err != nil {
		t.Fatal(err)
	}
	if got := p.files(p.dir); got["a.txt"] != "one\n2\n3\n4\nfive\n" || got["b.txt"] == "" {
		t.Errorf("got the files %v, want both changes in a.txt, and b.txt", got)
	}
	if len(b.Merged) != 1 || len(b.NotMade) != 1 || b.NotMade[0].Path != "b.txt" {
		t.Errorf("got %+v, want one merge, and b.txt not made", b)
	}
}

// A cancelled turn leaves the rest of the changes as a patch.
func TestApplyCancelled(t *testing.T) {
	p := newProject(t)
	p.commit(map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
	c := p.make(p.options())
	p.write(c.Dir, map[string]string{"a.txt": "A\n", "b.txt": "B\n"})
	ctx, cancel := context.WithCancel(t.Context())
	s := p.session(nil)
	put := s.Put
	s.Put = func(ctx context.Context, path string, text *string, still func(context.Context) *executors.Failure) (executors.Result, error) {
		if strings.HasSuffix(path, "b.txt") {
			cancel()
			return executors.Result{}, context.Cause(ctx)
		}
		return put(ctx, path, text, still)
	}
	b, err := c.Apply(ctx, s)
	if !errors.Is(err, context.Canceled) || len(b.Written) != 1 || len(b.NotMade) != 1 {
		t.Fatalf("%+v, %v", b, err)
	}
	if patch, err := os.ReadFile(b.Kept.Patch); err != nil || !bytes.Contains(patch, []byte("+B")) || bytes.Contains(patch, []byte("+A")) {
		t.Errorf("%s, %v", patch, err)
	}
}

// What a sub-agent does to its own repository, and links that it makes, change neither
// the result nor the project.
func TestHostileCopy(t *testing.T) {
	p := newProject(t)
	p.commit(map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
	c := p.make(p.options())
	for key, value := range map[string]string{"core.fsmonitor": "touch ran", "filter.x.clean": "touch ran; echo x", "diff.external": "touch ran",
		"core.hooksPath": c.Dir, "core.worktree": p.dir} {
		p.gitIn(c.Dir, "config", key, value)
	}
	p.write(c.Dir, map[string]string{".gitattributes": "* filter=x diff=x\n", "a.txt": "A\n"})
	if err := errors.Join(os.RemoveAll(filepath.Join(c.Dir, ".git", "objects")), os.Symlink(p.dir, filepath.Join(c.Dir, "out")),
		os.Remove(filepath.Join(c.Dir, "b.txt")),
		os.Symlink(filepath.Join(p.dir, "a.txt"), filepath.Join(c.Dir, "b.txt"))); err != nil {
		t.Skip(err)
	}
	b, err := c.Apply(t.Context(), p.session(nil))
	if err != nil {
		t.Fatal(err)
	}
	p.wants("written", []string{".gitattributes", "a.txt"}, b.Written)
	if got := p.files(p.dir); got["a.txt"] != "A\n" || got["b.txt"] != "b\n" || got["ran"] != "" || len(got) != 3 {
		t.Errorf("the project has %v", got)
	}
	if err := errors.Join(os.RemoveAll(c.Root), os.Symlink(p.dir, c.Root)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.changes(t.Context()); err == nil {
		t.Error("a link in the place of the copy was followed")
	}
	if err := c.Close(); err != nil || len(p.files(p.dir)) != 3 {
		t.Errorf("%v, and the project has %v", err, p.files(p.dir))
	}
}

// The copies of killed processes are removed and their changes kept; other processes' copies stay.
func TestClean(t *testing.T) {
	p := newProject(t)
	p.commit(map[string]string{"a.txt": "a\n"})
	living, killed, idle := p.make(p.options()), p.make(p.options()), p.make(p.options())
	p.write(killed.Dir, map[string]string{"a.txt": "A\n", "n.txt": "n\n"})
	for _, c := range []*Copy{killed, idle} {
		c.lock.Close()
	}
	if err := os.MkdirAll(filepath.Join(p.state, "half", "p"), 0o700); err != nil {
		t.Fatal(err)
	}
	kept, err := Clean(t.Context(), p.options())
	if err != nil || len(kept) != 1 || kept[0].Files != "" {
		t.Fatalf("%v, %v", kept, err)
	}
	p.git("apply", kept[0].Patch)
	p.wants("the project", map[string]string{"a.txt": "A\n", "n.txt": "n\n"}, p.files(p.dir))
	entries, _ := os.ReadDir(p.state)
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := []string{living.id, living.id + metaEnd, living.id + lockEnd, filepath.Base(kept[0].Patch)}
	slices.Sort(want)
	slices.Sort(names)
	p.wants("left", want, names)
}

func TestReplaceDir(t *testing.T) {
	for text, want := range map[string]string{
		"/w":                       "/copy/w",
		"see /w/a.go and /w.":      "see /copy/w/a.go and /copy/w.",
		"/ww /w-x /w.txt x/w /w2":  "/ww /w-x /w.txt x/w /w2",
		"`/w`:(/w) \"/w\" file:/w": "`/copy/w`:(/copy/w) \"/copy/w\" file:/copy/w",
		"":                         "",
	} {
		if got := replaceDir(text, "/w", "/copy/w"); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A copy of a project with 5,000 files, and the return of one change.
func BenchmarkMake(b *testing.B) {
	p := newProject(b)
	files := map[string]string{}
	for i := range 5000 {
		files[fmt.Sprintf("d%d/f%d.txt", i/50, i)] = strings.Repeat(fmt.Sprintln("line", i), 100)
	}
	p.commit(files)
	b.ResetTimer()
	for b.Loop() {
		c := p.make(p.options())
		p.write(c.Dir, map[string]string{"new.txt": fmt.Sprint(b.N)})
		if changes, err := c.changes(b.Context()); err != nil || len(changes) != 1 {
			b.Fatal(changes, err)
		}
		if err := c.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
