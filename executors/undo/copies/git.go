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

	"github.com/zeph-acp/zeph-acp/executors"
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

// initMeta makes the repository that computes the changes, and records the state of the
// copy in it.
func (c *Copy) initMeta(ctx context.Context) error {
	if err := c.initRepository(ctx, c.Meta); err != nil {
		return err
	}
	// This file overrides all others. Contents are stored unchanged.
	const raw = "* -text -filter -ident -working-tree-encoding !eol\n"
	if err := os.WriteFile(filepath.Join(c.Meta, "info", "attributes"), []byte(raw), 0o600); err != nil {
		return err
	}
	if err := c.readHead(ctx, c.Meta); err != nil {
		return err
	}
	var err error
	if c.base, err = c.writeTree(ctx); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(c.Meta, baseName), []byte(c.base+"\n"+c.options.Name+"\n"), 0o600)
}

// initAgentRepository makes the repository of the sub-agent: on the project's HEAD, with its branches
// and tags, and the settings that change contents or name the user.
func (c *Copy) initAgentRepository(ctx context.Context) error {
	own := filepath.Join(c.Root, ".git")
	if err := c.initRepository(ctx, own); err != nil {
		return err
	}
	refs, err := c.git.run(ctx, c.Top, "for-each-ref", "--format=%(objectname) %(refname)", "refs/heads",
		"refs/tags", "refs/remotes")
	if err == nil {
		err = os.WriteFile(filepath.Join(own, "packed-refs"), append([]byte("# pack-refs with: sorted \n"), refs...), 0o600)
	}
	if err == nil && c.repository.head != "" {
		err = os.WriteFile(filepath.Join(own, "HEAD"), []byte(c.repository.head+"\n"), 0o600)
	}
	if err == nil {
		err = c.readHead(ctx, own)
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
		if _, err := c.git.runAt(ctx, place{dir: c.Root, write: []string{own}}, nil, "config", "--file", filepath.Join(own, "config"), key,
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
func (c *Copy) initRepository(ctx context.Context, dir string) error {
	objects := filepath.Join(c.repository.common, "objects")
	if strings.ContainsAny(objects, "\n\"") {
		return refusal("git cannot borrow objects from a directory of this name: %q", objects)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil { // git writes nothing beside it
		return err
	}
	if _, err := c.runIn(ctx, dir, nil, "init", "--quiet", "--template=", "--object-format="+c.repository.format); err != nil {
		return err
	}
	// An absolute path in its settings would lead the next program to this copy.
	if _, err := c.git.runAt(ctx, place{dir: c.Root, write: []string{dir}}, nil, "config", "--file", filepath.Join(dir, "config"),
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

// readHead fills the index of a repository from HEAD.
func (c *Copy) readHead(ctx context.Context, dir string) error {
	if c.repository.head == "" {
		return nil
	}
	_, err := c.runIn(ctx, dir, nil, "read-tree", c.repository.head)
	return err
}

// exists reports whether the copy is still a directory. A link would lead elsewhere.
func (c *Copy) exists() bool {
	info, err := os.Lstat(c.Root)
	return err == nil && info.IsDir()
}

// runMeta runs a command of the repository that computes the changes.
func (c *Copy) runMeta(ctx context.Context, stdin io.Reader, args ...string) ([]byte, error) {
	if !c.exists() {
		return nil, executors.Failuref(executors.PermanentFailure, "the copy of the project at %s no longer exists", c.Root)
	}
	return c.runIn(ctx, c.Meta, stdin, args...)
}

// runIn runs a git command with the repository dir and the copy as its working tree. The command
// writes only to that repository.
func (c *Copy) runIn(ctx context.Context, dir string, stdin io.Reader, args ...string) ([]byte, error) {
	at := place{dir: c.Root, write: []string{dir}, env: []string{"GIT_DIR=" + dir, "GIT_WORK_TREE=" + c.Root}}
	return c.git.runAt(ctx, at, stdin, args...)
}

// writeTree stores the files of the copy and returns the name of their tree.
func (c *Copy) writeTree(ctx context.Context) (string, error) {
	if _, err := c.runMeta(ctx, nil, "add", "--all", "--ignore-errors", "."); err != nil && !program.ExitedWith(err, exitAddFailed) {
		return "", err
	}
	out, err := c.runMeta(ctx, nil, "write-tree")
	return strings.TrimSpace(string(out)), err
}

// exitAddFailed is the exit status of git add if it could not read a file.
const exitAddFailed = 1
