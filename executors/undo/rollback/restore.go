package rollback

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// restorer restores the files of a snapshot.
//
// It writes each file under a temporary name in the same directory and renames it, so
// that a reader never sees a part of a file. It does not touch unchanged files.
type restorer struct {
	*Snapshot
	current    map[string]entry // the scope as it is now, by absolute path
	count      executors.Rollback
	failures   []string               // files that could not be restored, with reasons
	laterModes map[string]fs.FileMode // of directories, to be set at the end
}

// Restore restores as many files as it can and removes new ones. The error
// names the files that it could not restore.
func (s *Snapshot) Restore() (executors.Rollback, error) {
	r := restorer{Snapshot: s, current: map[string]entry{}, laterModes: map[string]fs.FileMode{}}
	before := slices.Sorted(maps.Keys(s.before)) // directories before their entries
	r.restoreDirModes(before)
	err := s.scope.walk(context.Background(), func(dir *workspace.Dir, name, abs string, info fs.FileInfo) (err error) {
		e := entry{mode: info.Mode(), size: info.Size()}
		if e.mode&fs.ModeSymlink != 0 {
			e.target, err = dir.Readlink(name)
		}
		r.current[abs] = e
		return err
	})
	if err != nil {
		return r.count, fmt.Errorf("find the changes: %w", err)
	}
	r.removeNew()
	for _, abs := range before {
		if err := r.restoreEntry(abs, s.before[abs]); err != nil {
			r.fail(abs, err)
		}
	}
	for dir, mode := range r.laterModes {
		if err := r.scope.roots.Chmod(dir, mode); err != nil && !workspace.Missing(err) {
			r.fail(dir, err)
		}
	}
	if len(r.failures) > 0 {
		const maxNamed = 10
		more := ""
		if n := len(r.failures) - maxNamed; n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		return r.count, errors.New(strings.Join(r.failures[:min(maxNamed, len(r.failures))], ", ") + more)
	}
	return r.count, nil
}

func (r *restorer) fail(abs string, err error) {
	r.failures = append(r.failures, fmt.Sprintf("%s (%v)", r.scope.roots.Rel(abs), workspace.Cause(err)))
}

// restoreDirModes restores the modes of directories, so that they can be read.
func (r *restorer) restoreDirModes(before []string) {
	for _, abs := range before {
		e := r.before[abs]
		if !e.mode.IsDir() {
			continue
		}
		info, err := r.scope.roots.Lstat(abs)
		if err == nil && info.IsDir() && info.Mode() != e.mode {
			err = r.scope.roots.Chmod(abs, e.mode)
			if err != nil {
				r.fail(abs, err)
			}
		}
	}
}

// removeNew removes new files and links, the deepest first, and then new
// directories that are empty.
func (r *restorer) removeNew() {
	emptied := map[string]bool{}
	for _, abs := range slices.Backward(slices.Sorted(maps.Keys(r.current))) {
		e := r.current[abs]
		old, was := r.before[abs]
		if was && old.sameKind(e) {
			continue
		}
		if e.mode.IsDir() && !was && !emptied[abs] && !r.scope.covers(abs) {
			continue
		}
		err := r.scope.roots.InParent(abs, r.laterModes, func(dir *workspace.Dir, name string) error { return dir.Remove(name) })
		switch {
		case err == nil || workspace.Missing(err):
			emptied[filepath.Dir(abs)] = true
			if !was && !e.mode.IsDir() {
				r.count.Deleted++
			}
		case e.mode.IsDir() && !was: // it contains files outside the scope
		default:
			r.fail(abs, err)
		}
	}
}

// restoreEntry restores one file, link or directory.
func (r *restorer) restoreEntry(abs string, e entry) error {
	now, sameKind := r.current[abs]
	sameKind = sameKind && now.sameKind(e)
	switch {
	case e.mode.IsDir():
		if sameKind {
			return nil
		}
		if err := r.scope.roots.InParent(abs, r.laterModes, func(dir *workspace.Dir, name string) error { return dir.Mkdir(name, 0o700) }); err != nil {
			return err
		}
		r.laterModes[abs] = e.mode // set when its entries are restored
		return nil
	case e.mode&fs.ModeSymlink != 0:
		if sameKind && now.target == e.target {
			return nil
		}
		return r.countRestored(r.scope.roots.InParent(abs, r.laterModes, func(dir *workspace.Dir, name string) error {
			return dir.ReplaceNew(name, temporary(), func(temp string) error { return dir.Symlink(e.target, temp) })
		}))
	case e.mode.IsRegular():
		if sameKind && now.size == e.size && r.sameContent(abs, e) {
			if now.mode == e.mode {
				return nil
			}
			return r.countRestored(r.scope.roots.Chmod(abs, e.mode))
		}
		err := r.scope.roots.InParent(abs, r.laterModes, func(dir *workspace.Dir, name string) error {
			return dir.ReplaceNew(name, temporary(), func(temp string) error { return r.write(dir, temp, e) })
		})
		if err == nil {
			r.restoreModTime(abs, e.modTime)
		}
		return r.countRestored(err)
	case sameKind:
		return nil
	}
	return fmt.Errorf("it was %s, which cannot be copied", workspace.Describe(e.mode))
}

// countRestored counts a restored entry if err is nil, and returns err.
func (r *restorer) countRestored(err error) error {
	if err == nil {
		r.count.Restored++
	}
	return err
}

// sameContent reports whether the file still has the snapshot's content.
func (r *restorer) sameContent(abs string, e entry) bool {
	f, _, err := r.scope.roots.Open(abs)
	if err != nil {
		return false
	}
	defer f.Close()
	was, a, b := r.content(e), make([]byte, chunkSize), make([]byte, chunkSize)
	for {
		n, err := io.ReadFull(was, a)
		m, _ := io.ReadFull(f, b)
		if !bytes.Equal(a[:n], b[:m]) {
			return false
		}
		if err != nil {
			return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		}
	}
}

// write writes the saved content of a file under a new name.
func (r *restorer) write(dir *workspace.Dir, name string, e entry) error {
	f, err := dir.Create(name, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, r.content(e))
	if err == nil && n < e.size {
		err = io.ErrUnexpectedEOF
	}
	return errors.Join(err, f.Chmod(e.mode), f.Close())
}

// temporary returns a name that no program can predict.
func temporary() string { return ".zeph-restore-" + rand.Text() }

// restoreModTime restores the modification time of a file, which build tools compare. It
// ignores errors.
func (r *restorer) restoreModTime(abs string, modTime time.Time) {
	top, rel := r.scope.roots.Innermost(abs)
	if root, err := os.OpenRoot(top); err == nil {
		_ = root.Chtimes(rel, time.Time{}, modTime)
		root.Close()
	}
}
