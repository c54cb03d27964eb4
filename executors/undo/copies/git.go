package copies

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/process/program"
)

// git runs git without hooks, filters and the network.
type git struct {
	runner *program.Runner
	dirs   []string // of the project's repository, which git reads
}

// newGit returns git for the copies in the directory o.State.
func newGit(o Options) (git, error) {
	if _, err := exec.LookPath(program.GitName); err != nil {
		return git{}, refusal("git is not installed, and this sub-agent works in a copy that git makes")
	}
	r := *o.Programs
	r.Env = slices.DeleteFunc(slices.Clone(r.Env), func(v string) bool {
		name, _, _ := strings.Cut(strings.ToUpper(v), "=")
		return strings.HasPrefix(name, "GIT_") && !slices.Contains(settingVariables, name)
	})
	return git{runner: &r}, nil
}

// settingVariables name the files of the user's settings. The box grants them.
var settingVariables = []string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"}

// safeSettings are settings of every command but those that read the user's settings.
var safeSettings = []string{
	"core.looseCompression=0", "core.bigFileThreshold=8m", "core.autocrlf=false", "core.safecrlf=false", "core.quotePath=false",
}

// place is where a command runs.
type place struct {
	dir   string
	write []string // files and directories that the command may write
	env   []string
}

// run runs git in a directory and returns its output. The error has the first line of
// git's message.
func (g git) run(ctx context.Context, dir string, args ...string) ([]byte, error) {
	return g.runAt(ctx, place{dir: dir}, nil, args...)
}

// runAt is run with an input.
func (g git) runAt(ctx context.Context, at place, stdin io.Reader, args ...string) ([]byte, error) {
	out, err := g.runner.Git(ctx, program.Command{
		Args: args, Dir: at.dir, Env: at.env, Stdin: stdin, Read: g.dirs, Write: at.write,
	}, safeSettings...)
	return out, describe(ctx, args[0], err)
}

// describe returns the error of a git command with its message.
func describe(ctx context.Context, command string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if e, ok := errors.AsType[*program.ExitError](err); ok {
		return &gitError{command, cmp.Or(strings.TrimPrefix(e.Message, "fatal: "), e.Error()), err}
	}
	if errors.Is(err, program.ErrOfProject) {
		return refusal("%v", err)
	}
	return err
}

// gitError is the failure of a git command.
type gitError struct {
	command, message string
	err              error
}

func (e *gitError) Error() string { return fmt.Sprintf("git %s: %s", e.command, e.message) }
func (e *gitError) Unwrap() error { return e.err }

// repository is the repository of a project.
type repository struct {
	top    string // the top directory, absolute and without links
	common string // its .git, absolute
	format string // of the names of its objects
	head   string // the commit; empty if there is none
}

// find returns the repository that contains a directory.
func (g git) find(ctx context.Context, dir string) (r repository, err error) {
	out, err := g.run(ctx, dir, "rev-parse", "--is-inside-work-tree", "--git-common-dir", "--show-object-format")
	facts := strings.Split(string(out), "\n")
	switch e, ok := errors.AsType[*gitError](err); {
	case ok && strings.Contains(e.message, "not a git repository"):
		return r, refusal("this sub-agent works in a git worktree, and %s is not in a git repository", dir)
	case ok:
		return r, refusal("git cannot use the repository of %s: %s", dir, e.message)
	case err != nil:
		return r, err
	case len(facts) < 3 || facts[0] != "true":
		return r, refusal("%s is in a bare repository, which has no files to work on", dir)
	}
	top, err := g.run(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return r, err
	}
	r.common, r.format = filepath.FromSlash(facts[1]), facts[2]
	if !filepath.IsAbs(r.common) {
		r.common = filepath.Join(dir, r.common)
	}
	if r.top, err = filepath.EvalSymlinks(filepath.FromSlash(strings.TrimSuffix(string(top), "\n"))); err != nil {
		return r, err
	}
	rel, err := filepath.Rel(r.top, dir)
	if err != nil || !filepath.IsLocal(rel) || !exists(filepath.Join(r.top, ".git")) { // its settings name another directory
		return r, refusal("the repository of %s has its files in another directory, %s", dir, r.top)
	}
	head, err := g.run(ctx, r.top, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
	if err != nil && ctx.Err() != nil {
		return r, err
	}
	if err == nil { // else nothing has been committed yet
		r.head = strings.TrimSpace(string(head))
	}
	return r, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// initRaw makes an empty repository for the files in a directory, in which contents are as they are on the disk.
func (c *Copy) initRaw(ctx context.Context, repository, files string) error {
	if err := os.MkdirAll(filepath.Join(repository, "info"), 0o700); err != nil { // git writes nothing beside it
		return err
	}
	if _, err := c.git.runAt(ctx, inRepository(repository, files), nil, "init", "--quiet", "--template=",
		"--object-format="+c.base.Format); err != nil {
		return err
	}
	// This file overrides all others.
	const raw = "* -text -filter -ident -working-tree-encoding !eol\n"
	return os.WriteFile(filepath.Join(repository, "info", "attributes"), []byte(raw), 0o600)
}

// inRepository is the place of a command in a repository with a working tree. The command writes only to that
// repository.
func inRepository(repository, files string) place {
	return place{dir: files, write: []string{repository}, env: []string{"GIT_DIR=" + repository, "GIT_WORK_TREE=" + files}}
}

// initAgentRepository makes the repository of the sub-agent: on the project's HEAD, with its branches
// and tags, and the settings that change contents or name the user.
func (c *Copy) initAgentRepository(ctx context.Context) error {
	own := filepath.Join(c.Root, ".git")
	at := inRepository(own, c.Root)
	if err := c.initRepository(ctx, own, at); err != nil {
		return err
	}
	refs, err := c.git.run(ctx, c.Top, "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads",
		"refs/tags", "refs/remotes")
	if err == nil {
		err = os.WriteFile(filepath.Join(own, "packed-refs"), append([]byte("# pack-refs with: sorted \n"), refs...), 0o600)
	}
	if err == nil && c.repository.head != "" {
		err = os.WriteFile(filepath.Join(own, "HEAD"), []byte(c.repository.head+"\n"), 0o600)
		if err == nil {
			_, err = c.git.runAt(ctx, at, nil, "read-tree", c.repository.head)
		}
	}
	if err != nil {
		return err
	}
	for _, key := range []string{"core.autocrlf", "core.eol", "core.filemode", "core.ignorecase", "core.precomposeunicode",
		"user.name", "user.email"} {
		value, err := c.git.runPlain(ctx, c.Top, "config", "--get", key)
		if err != nil {
			continue // it is not set
		}
		if _, err := c.git.runAt(ctx, at, nil, "config", "--file", filepath.Join(own, "config"), key,
			strings.TrimSuffix(string(value), "\n")); err != nil {
			return err
		}
	}
	return nil
}

// runPlain runs a command that only reads the user's settings, without safeSettings.
func (g git) runPlain(ctx context.Context, dir string, args ...string) ([]byte, error) {
	return g.runner.Git(ctx, program.Command{Args: args, Dir: dir, Read: g.dirs})
}

// initRepository makes an empty repository that borrows the objects of the project's.
func (c *Copy) initRepository(ctx context.Context, dir string, at place) error {
	objects := filepath.Join(c.repository.common, "objects")
	if strings.ContainsAny(objects, "\n\"") {
		return refusal("git cannot borrow objects from a directory of this name: %q", objects)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil { // git writes nothing beside it
		return err
	}
	if _, err := c.git.runAt(ctx, at, nil, "init", "--quiet", "--template=", "--object-format="+c.base.Format); err != nil {
		return err
	}
	// An absolute path in its settings would lead the next program to this copy.
	if _, err := c.git.runAt(ctx, at, nil, "config", "--file", filepath.Join(dir, "config"),
		"--unset-all", "core.worktree"); err != nil {
		if !program.ExitedWith(err, exitNotSet) {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "info"), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, alternatesName), []byte(filepath.ToSlash(objects)+"\n"), 0o600); err != nil {
		return err
	}
	from, err := os.OpenRoot(c.repository.common)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer to.Close()
	for _, name := range []string{"shallow", filepath.Join("info", "exclude")} {
		if info, err := from.Stat(name); err != nil || !info.Mode().IsRegular() { // or a link that leads out of the repository
			continue
		}
		if _, err := copyContent(from, to, name); err != nil {
			return err
		}
	}
	return nil
}

// alternatesName is the name of the file, in a repository, with the directory whose objects it
// borrows.
var alternatesName = filepath.Join("objects", "info", "alternates")

// exitNotSet is the exit status of git config for a setting that is not set.
const exitNotSet = 5

// Objects returns the directory whose objects the copy borrows. It is empty if that may
// have objects of another project, as with a .git that leads elsewhere: git commands in
// the copy then need permission, as they do in the project.
func (c *Copy) Objects() string {
	own := filepath.Join(c.Top, ".git")
	objects := filepath.Join(own, "objects")
	if c.repository.common != own {
		return ""
	}
	for _, dir := range []string{own, objects, filepath.Join(objects, "info"), filepath.Join(objects, "pack")} {
		if info, err := os.Lstat(dir); err == nil && !info.IsDir() {
			return ""
		}
	}
	if exists(filepath.Join(objects, "info", "alternates")) || exists(filepath.Join(objects, "info", "http-alternates")) {
		return ""
	}
	return objects
}

// exists reports whether the copy is still a directory. A link would lead elsewhere.
func (c *Copy) exists() bool {
	info, err := os.Lstat(c.Root)
	return err == nil && info.IsDir()
}
