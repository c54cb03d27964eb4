// Package copies makes copies of a project in which sub-agents work, and brings their
// changes back.
//
// Start with [Make]. A [Copy] has the files that git lists, with their contents in the
// working directory: tracked files with the user's uncommitted changes, and new files that
// no ignore file names. [Copy.Apply] writes its changes into the project through calls of the
// session, and [Copy.Close] removes it. [Clean] removes the copies of processes that were
// killed.
//
// It promises that the project and its repository stay unchanged until Apply. A copy has its own
// git repository, which only borrows the objects of the project's repository. So git commands in
// the copy do not change settings, branches or hooks of the project. No hook and no filter runs.
// Changes are never lost: those that do not fit are kept as a patch.
//
// Why not "git worktree add"? Such a directory shares settings, hooks and branches
// with the project: "git config" in it would change what the user's next git command
// runs. A killed process would also leave an entry in the project's repository.
//
// Why are the changes not computed by git? The sub-agent can change the repository in its copy, and the user
// can remove the objects that it borrows. The state of the copy as it was made is outside of it, in a store of
// package undo.
//
// Why are the files copied and not checked out? A check-out runs filters, and lacks the
// uncommitted changes and the contents of large files (LFS).
package copies

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/process/program"
	"github.com/zeph-acp/zeph-acp/executors/undo"
)

// DirName is the name of the directory for copies, below the state directory.
const DirName = "worktrees"

// Variables are the environment variables that lead git to another repository. Commands in
// a copy must not inherit them.
var Variables = []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY",
	"GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE"}

// Options describe a copy. All are required, unless stated otherwise.
type Options struct {
	Project string // the session's working directory, absolute and without links
	State   string // the directory for all copies, absolute
	Name    string // of the sub-agent; a part of the name of a kept patch
	// Programs runs git. Its GIT_ variables are ignored, except the ones with settings.
	Programs *program.Runner
	Limits   undo.Limits // of the copy, and of the state that is kept of it
	// Refuses reports whether a file, an absolute path, must not be copied; nil copies all.
	Refuses func(abs string) bool
}

// Copy is a copy of a project. Its methods are not for concurrent use.
type Copy struct {
	Top  string // the top directory of the project's repository, absolute
	Root string // the copy of Top
	Dir  string // the copy of Options.Project
	Meta string // the directory with the state of the copy as it was made

	options    Options
	id         string
	git        git
	lock       *os.File
	repository repository
	base       base
	store      *undo.PackStore // nil before the files are copied
}

// base is the state of a copy as it was made. Meta has it in a file.
type base struct {
	Name     string               `json:"name"`              // of the sub-agent
	Format   string               `json:"format"`            // of the names of git's objects
	Modules  []string             `json:"modules,omitempty"` // directories of submodules, with slashes
	Files    undo.Index           `json:"files"`
	Contents map[string]undo.Span `json:"contents"` // in the store
}

func (c *Copy) baseFile() string { return filepath.Join(c.Meta, "base.json") }

// openStore opens the store of the contents of the files as the copy was made.
func (c *Copy) openStore() (err error) {
	c.store, err = undo.OpenPackStore(filepath.Join(c.Meta, "contents"), c.base.Contents)
	return err
}

// Make copies the project. A project that cannot be copied is a [*executors.Failure].
func Make(ctx context.Context, o Options) (*Copy, error) {
	g, err := newGit(o)
	if err != nil {
		return nil, err
	}
	g.dirs = g.runner.FindRepository(ctx, o.Project).Dirs()
	from, err := g.find(ctx, o.Project)
	if err != nil {
		return nil, err
	}
	if leadsInto(from.top, o.State) {
		return nil, refusal("the repository %s contains zeph-acp's own directory for copies, %s", from.top, o.State)
	}
	list, err := g.list(ctx, from)
	if err != nil {
		return nil, err
	}
	c := &Copy{Top: from.top, options: o, git: g, repository: from}
	if err := c.create(ctx, list); err != nil {
		if c.lock != nil { // else nothing was made
			err = errors.Join(err, c.Close())
		}
		return nil, err
	}
	return c, nil
}

// create makes the copy with the listed files.
func (c *Copy) create(ctx context.Context, files fileList) error {
	if err := c.reserve(); err != nil {
		return err
	}
	c.git.dirs = append(slices.Clip(c.git.dirs), c.Root, c.Meta)
	if err := c.copyFiles(ctx, files); err != nil {
		return err
	}
	if err := c.keepBase(ctx, files.modules); err != nil {
		return err
	}
	return c.initAgentRepository(ctx)
}

// keepBase keeps the state of the new copy.
func (c *Copy) keepBase(ctx context.Context, modules []string) error {
	if err := errors.Join(os.Mkdir(c.Meta, 0o700), c.openStore()); err != nil {
		return err
	}
	survey, err := c.survey(false)
	if err != nil {
		return err
	}
	found, err := survey.Run(ctx, []string{c.Root}, nil)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return c.tooMuch(err)
	}
	c.base = base{Name: c.options.Name, Format: c.repository.format, Modules: modules, Files: found, Contents: c.store.Kept()}
	return undo.WriteJSON(c.baseFile(), c.base, false)
}

// reserve makes the directories of the copy, and locks them as long as this process
// lives.
func (c *Copy) reserve() error {
	if err := os.MkdirAll(c.options.State, 0o700); err != nil {
		return err
	}
	var err error
	if c.options.State, err = filepath.EvalSymlinks(c.options.State); err != nil { // roots have no links
		return err
	}
	for c.lock == nil {
		random := make([]byte, 6)
		_, _ = rand.Read(random) // never fails
		c.id = hex.EncodeToString(random)
		if c.lock, err = lockNew(c.path(lockEnd)); err != nil {
			return err
		}
	}
	c.Root, c.Meta = filepath.Join(c.path(""), filepath.Base(c.Top)), c.path(metaEnd)
	rel, err := filepath.Rel(c.Top, c.options.Project)
	if err != nil {
		return err
	}
	c.Dir = filepath.Join(c.Root, rel)
	return os.MkdirAll(c.Dir, 0o700)
}

// leadsInto reports whether a path lies in a directory after its links are resolved. The
// path need not exist.
func leadsInto(dir, path string) bool {
	for at := path; ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil { // the rest does not exist yet
			rel, err := filepath.Rel(dir, real)
			return err == nil && filepath.IsLocal(rel)
		}
		if at == filepath.Dir(at) {
			return false
		}
	}
}

// The suffixes of the names of a copy's parts.
const (
	lockEnd  = ".lock"
	metaEnd  = ".base"
	gitEnd   = ".git" // of a copy by an earlier version: the repository that computed the changes
	tempEnd  = ".tmp"
	patchEnd = ".patch"
	filesEnd = ".files" // files that no patch holds
)

func (c *Copy) path(end string) string { return filepath.Join(c.options.State, c.id+end) }

// Temp makes a directory for the sub-agent's own temporary files.
func (c *Copy) Temp() (string, error) { return c.path(tempEnd), os.MkdirAll(c.path(tempEnd), 0o700) }

// Close removes the copy.
func (c *Copy) Close() error {
	err := errors.Join(c.store.Close(), removeAll(c.path("")), removeAll(c.path(metaEnd)), removeAll(c.path(gitEnd)), removeAll(c.path(tempEnd)))
	if c.lock == nil {
		return err
	}
	name := c.lock.Name()
	if os.Remove(name) == nil {
		return errors.Join(err, c.lock.Close())
	}
	return errors.Join(err, c.lock.Close(), os.Remove(name)) // Windows removes no open file
}

// removeAll removes a directory, including one with directories that may not be written,
// such as module caches.
func removeAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if e != nil && e.IsDir() && e.Type()&fs.ModeSymlink == 0 {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(dir)
}

// ToCopy replaces the paths of the project's top directory in a text by the copy's.
func (c *Copy) ToCopy(text string) string { return replaceDir(text, c.Top, c.Root) }

// ToProject is the inverse of ToCopy.
func (c *Copy) ToProject(text string) string { return replaceDir(text, c.Root, c.Top) }

// NamesProject reports whether a text names files of the project or of its repository.
func (c *Copy) NamesProject(text string) bool {
	return replaceDir(text, c.Top, "\x00") != text || replaceDir(text, c.repository.common, "\x00") != text
}

// replaceDir replaces the name of a directory where it is not a part of another name.
func replaceDir(text, from, to string) string {
	var b strings.Builder
	for {
		i := strings.Index(text, from)
		if i < 0 {
			return b.String() + text
		}
		rest := text[i+len(from):]
		b.WriteString(text[:i])
		if (i > 0 && isNameByte(text[i-1])) || (rest != "" && isNameByte(rest[0]) && !endsSentence(rest)) {
			b.WriteString(from)
		} else {
			b.WriteString(to)
		}
		text = rest
	}
}

// isNameByte reports whether a byte can be a part of a name of a file.
func isNameByte(b byte) bool {
	return b == '-' || b == '_' || b == '.' || b >= 0x80 || '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
}

// endsSentence reports whether a text begins with a full stop that ends a sentence.
func endsSentence(text string) bool {
	return text[0] == '.' && (len(text) == 1 || text[1] == ' ' || text[1] == '\n')
}

// refusal returns the failure for a project that cannot be copied.
func refusal(format string, args ...any) *executors.Failure {
	return executors.Failuref(executors.PermanentFailure, format, args...).
		Hint("Use a type of sub-agent that works in the project itself, or do the task yourself.")
}
