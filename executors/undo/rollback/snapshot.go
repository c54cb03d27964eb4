// Package rollback undoes the changes of a command to the files of a workspace.
//
// Start with [Take], which copies the files of a [Scope] into a [Snapshot].
// [Snapshot.Restore] puts them back and removes new files; [Snapshot.Close]
// frees the copies. [Writes] returns the files that a script may write, so that
// a scope need not be the whole workspace.
//
// It promises that nothing outside the workspace roots is read, written or removed, even through
// links. A reader never sees a part of a file. An unchanged file stays untouched. Modes are
// restored too.
//
// It does not copy files in .git, zeph-acp's own files, pipes, sockets or
// devices. The caller decides when a command has failed.
package rollback

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// maxEntries is the maximum number of files and directories in a snapshot.
const maxEntries = 200_000

// chunkSize is how much of a file is copied or compared at once, in bytes.
const chunkSize = 64 << 10

// Snapshot is the state of a [Scope] before a command. One Spool holds the
// contents of all files. It disappears with the process, and no other command
// can access it. Hard links would be cheaper, but a program that writes in
// place would change them too.
type Snapshot struct {
	scope  Scope
	before map[string]entry // by absolute path
	data   *executors.Spool
}

// entry is one file, link or directory of a snapshot.
type entry struct {
	mode    fs.FileMode
	modTime time.Time
	offset  int64  // offset of the content in the Spool
	size    int64  // of the content
	target  string // of a link
}

func (e entry) sameKind(o entry) bool { return e.mode.Type() == o.mode.Type() }

// Scope is the part of the workspace that a snapshot covers.
type Scope struct {
	roots *workspace.Roots
	paths []string // absolute, without links; they need not exist
	globs []string // of the covered files, relative to the innermost root
}

// NewScope returns the scope of a command that may write paths, or all files.
// It covers only files that globs match.
func NewScope(roots *workspace.Roots, paths []string, all bool, globs []string) Scope {
	roots = roots.Writing()
	s := Scope{roots: roots, globs: globs}
	if all {
		paths = roots.Dirs()
	}
	for _, p := range paths {
		if full, err := roots.Resolve(p); err == nil {
			s.add(full)
		}
		// A command may write to the target of a link, or replace the link itself.
		if link, err := roots.ResolveEntry(filepath.Clean(p)); err == nil {
			s.add(link)
		}
	}
	slices.Sort(s.paths) // a path comes after the directories that contain it
	found := s.paths
	s.paths = nil
	for _, path := range found {
		if !slices.ContainsFunc(s.paths, func(outer string) bool { return workspace.Within(outer, path) }) {
			s.paths = append(s.paths, path)
		}
	}
	return s
}

// add adds a path. If the path does not exist, it adds the first missing
// directory of the path.
func (s *Scope) add(abs string) {
	if s.roots.InGit(abs) {
		return
	}
	for at := filepath.Dir(abs); s.roots.Contains(at); at = filepath.Dir(at) {
		if info, err := s.roots.Lstat(at); err == nil && info.IsDir() {
			break
		}
		abs = at
	}
	s.paths = append(s.paths, abs)
}

// covers reports whether a glob of the scope matches the file.
func (s *Scope) covers(abs string) bool {
	_, rel := s.roots.Innermost(abs)
	rel = filepath.ToSlash(rel)
	return slices.ContainsFunc(s.globs, func(glob string) bool { return doublestar.MatchUnvalidated(glob, rel) })
}

// walk visits the entries of the scope: directories before their entries, files and links
// only if a glob covers them. It leaves out .git, since a partly restored repository
// would be corrupt.
func (s *Scope) walk(ctx context.Context, visit func(dir *workspace.Dir, name, abs string, info fs.FileInfo) error) error {
	for _, path := range s.paths {
		dir, name, err := s.roots.Parent(path)
		if err == nil {
			err = s.walkEntry(ctx, dir, name, path, visit)
			dir.Close()
		}
		if err != nil && !workspace.Missing(err) {
			return err
		}
	}
	return nil
}

// walkEntry visits one entry and everything below it.
func (s *Scope) walkEntry(
	ctx context.Context, dir *workspace.Dir, name, abs string, visit func(*workspace.Dir, string, string, fs.FileInfo) error,
) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if strings.EqualFold(filepath.Base(abs), ".git") {
		return nil
	}
	info, err := dir.Lstat(name)
	if _, private := errors.AsType[*workspace.PrivateError](err); private || workspace.Missing(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.roots.Rel(abs), workspace.Cause(err))
	}
	if info.IsDir() || s.covers(abs) {
		if err := visit(dir, name, abs, info); err != nil && !workspace.Missing(err) {
			return err
		}
	}
	if !info.IsDir() {
		return nil
	}
	sub, err := dir.Sub(name)
	if workspace.Missing(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", s.roots.Rel(abs), workspace.Cause(err))
	}
	defer sub.Close()
	entries, _, err := sub.ReadDir(-1)
	if err != nil {
		return fmt.Errorf("%s: %w", s.roots.Rel(abs), workspace.Cause(err))
	}
	for _, e := range entries {
		if err := s.walkEntry(ctx, sub, e.Name(), filepath.Join(abs, e.Name()), visit); err != nil {
			return err
		}
	}
	return nil
}

// Take makes a snapshot of at most limit bytes of content; 0 means any number.
// The error states why there is no snapshot.
func Take(ctx context.Context, s Scope, limit int64) (*Snapshot, error) {
	snap := &Snapshot{scope: s, before: map[string]entry{}, data: &executors.Spool{}}
	buf := make([]byte, chunkSize)
	err := s.walk(ctx, func(dir *workspace.Dir, name, abs string, info fs.FileInfo) error {
		if len(snap.before) == maxEntries {
			return fmt.Errorf("there are more than %s files", executors.Grouped(maxEntries))
		}
		e := entry{mode: info.Mode(), modTime: info.ModTime(), offset: snap.data.Size()}
		var err error
		switch {
		case info.Mode().IsRegular() && limit > 0 && e.offset+info.Size() > limit:
			return tooLarge(limit)
		case info.Mode().IsRegular():
			e.size, err = copyContent(snap.data, dir, name, buf)
		case info.Mode()&fs.ModeSymlink != 0:
			e.target, err = dir.Readlink(name)
		}
		if err != nil && !workspace.Missing(err) {
			err = fmt.Errorf("%s: %w", s.roots.Rel(abs), workspace.Cause(err))
		}
		if err == nil {
			snap.before[abs] = e
		}
		return err
	})
	if err == nil && limit > 0 && snap.data.Size() > limit { // files grew in the meantime
		err = tooLarge(limit)
	}
	if err != nil {
		snap.Close()
		return nil, err
	}
	return snap, nil
}

func tooLarge(limit int64) error {
	return fmt.Errorf("the files have more than %s bytes (tools.shell.max_snapshot_bytes)", executors.Grouped(limit))
}

func copyContent(to io.Writer, dir *workspace.Dir, name string, buf []byte) (int64, error) {
	f, _, err := dir.Open(name, os.O_RDONLY)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return io.CopyBuffer(to, struct{ io.Reader }{f}, buf) // without WriteTo, which allocates a buffer each time
}

// content returns a reader of the saved content of a file.
func (s *Snapshot) content(e entry) io.Reader { return io.NewSectionReader(s.data, e.offset, e.size) }

func (s *Snapshot) Close() {
	if s != nil {
		s.data.Close()
	}
}
