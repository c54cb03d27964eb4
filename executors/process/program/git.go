package program

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/pathname"
)

// gitSettings are settings of every git command. They override a repository's own settings of
// the same names.
var gitSettings = []string{
	"core.hooksPath=" + os.DevNull, "core.fsmonitor=false", "core.untrackedCache=false", "protocol.allow=never", "submodule.recurse=false",
	"gc.auto=0", "maintenance.auto=false",
}

// gitEnv are variables of every git command: it asks nothing, takes no locks that it can do
// without, and fetches nothing.
var gitEnv = []string{"GIT_TERMINAL_PROMPT=0", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_LAZY_FETCH=1", "GIT_PAGER=cat", "LC_ALL=C"}

// GitName is the name of git in PATH.
const GitName = "git"

// Git runs git without hooks, monitors and the network. settings, as NAME=value, override those
// of the user and the repository. c.Name is ignored.
func (r *Runner) Git(ctx context.Context, c Command, settings ...string) ([]byte, error) {
	c.Name = GitName
	var all []string
	for _, s := range slices.Concat(gitSettings, settings) {
		all = append(all, "-c", s)
	}
	c.Args = append(all, c.Args...)
	c.Env = slices.Concat(gitEnv, c.Env)
	return r.Run(ctx, c)
}

// Repository is the place of a git repository.
type Repository struct {
	Top string // the directory with the entry .git, without links
	// Common is the repository itself where .git only names it, as in a linked worktree or in a
	// submodule, and the repository names Top in turn. Else it is empty.
	Common string
}

// Dirs returns the directories that git reads in the repository.
func (r Repository) Dirs() []string {
	if r.Common == "" {
		return []string{r.Top}
	}
	return []string{r.Top, r.Common}
}

// FindRepository returns the place of the repository of an absolute directory. If there is
// none, Top is the directory itself.
//
// Anybody could write a file .git that names the repository of another project. So such a
// repository is readable only if it names the directory as well.
func (r *Runner) FindRepository(ctx context.Context, dir string) Repository {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	for top := dir; ; top = filepath.Dir(top) {
		info, err := os.Lstat(filepath.Join(top, ".git"))
		switch {
		case err == nil && info.Mode().IsRegular() && info.Size() < maxPathFile:
			return Repository{top, r.commonDir(ctx, top)}
		case err == nil:
			return Repository{Top: top}
		case top == filepath.Dir(top):
			return Repository{Top: dir}
		}
	}
}

// maxPathFile bounds a file of git that holds one path, in bytes.
const maxPathFile = 16 << 10

// commonDir returns the repository that the file .git of a directory names, if that repository
// names the directory; else "".
func (r *Runner) commonDir(ctx context.Context, top string) string {
	file := filepath.Join(top, ".git")
	named, ok := strings.CutPrefix(readPath(file), "gitdir: ")
	if !ok {
		return ""
	}
	gitDir, err := filepath.EvalSymlinks(pathname.From(top, filepath.FromSlash(named)))
	if err != nil {
		return ""
	}
	if dir := filepath.Dir(gitDir); filepath.Base(dir) == "worktrees" { // a linked worktree
		if pathname.Same(pathname.From(gitDir, filepath.FromSlash(readPath(filepath.Join(gitDir, "gitdir")))), file) {
			return filepath.Dir(dir)
		}
		return ""
	}
	// A submodule, or the result of "git init --separate-git-dir".
	out, err := r.Git(ctx, Command{
		Args: []string{"config", "--file", filepath.Join(gitDir, "config"), "--get", "core.worktree"},
		Dir:  gitDir, Read: []string{gitDir}, MaxOutput: maxPathFile,
	})
	if named := strings.TrimSuffix(string(out), "\n"); err == nil && named != "" && pathname.Same(pathname.From(gitDir, filepath.FromSlash(named)), top) {
		return gitDir
	}
	return ""
}

// readPath returns the path that a small regular file holds; "" if it cannot be read.
func readPath(file string) string {
	info, err := os.Lstat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() >= maxPathFile {
		return ""
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return strings.TrimRight(string(data), "\r\n")
}
