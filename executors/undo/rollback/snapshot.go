// Package rollback undoes the changes of a command to the files of a workspace.
//
// Start with [Take], which copies the files of a [Scope] into a [Snapshot].
// [Snapshot.Restore] puts them back and removes new files; [Snapshot.Close]
// frees the copies. [Writes] returns the files that a script may write, so that
// a scope need not be the whole workspace.
//
// It has the guarantees of package undo. The copies disappear with the process, and no other process
// can access them. The caller decides when a command has failed.
package rollback

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/undo"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// Scope is the part of the workspace that a snapshot covers.
type Scope struct {
	roots *workspace.Roots
	paths []string // absolute, without links; they need not exist
	globs []string // of the covered files, relative to the innermost root
	all   bool     // the command may write any file
}

// NewScope returns the scope of a command that may write paths, or all files.
// It covers only files that globs match.
func NewScope(roots *workspace.Roots, paths []string, all bool, globs []string) Scope {
	roots = roots.Writing()
	if all {
		paths = roots.Dirs()
	}
	return Scope{roots, undo.Outermost(undo.Targets(roots, paths)), globs, all}
}

// matches reports whether a glob of the scope matches the path.
func (s *Scope) matches(abs string) bool {
	_, rel := s.roots.Innermost(abs)
	rel = filepath.ToSlash(rel)
	return slices.ContainsFunc(s.globs, func(glob string) bool { return doublestar.MatchUnvalidated(glob, rel) })
}

// Snapshot is the state of a [Scope] before a command.
type Snapshot struct {
	scope  Scope
	limits undo.Limits
	before undo.Index
	store  *undo.PackStore
}

// Take makes a snapshot within the limits; a file of any size is kept. The error states why there is no
// snapshot.
func Take(ctx context.Context, s Scope, limits undo.Limits) (*Snapshot, error) {
	if !s.all {
		limits = limits.ForNamed()
	}
	limits.MaxFileBytes = math.MaxInt64 // part of the files would not undo a command
	snap := &Snapshot{scope: s, limits: limits, store: undo.NewSpoolStore()}
	var err error
	if snap.before, err = snap.survey(ctx, snap.store, nil); err == nil {
		err = snap.missing()
	}
	if err != nil {
		snap.Close()
		return nil, err
	}
	return snap, nil
}

// survey returns the present state of the scope: all directories, and the files and links that a glob matches.
func (s *Snapshot) survey(ctx context.Context, store undo.Store, old undo.Index) (undo.Index, error) {
	survey := undo.Survey{
		Roots: s.scope.roots, Limits: s.limits, Store: store, Exact: true,
		Covers: func(path string, dir bool) bool { return dir || s.scope.matches(path) },
	}
	return survey.Run(ctx, s.scope.paths, old)
}

// missing returns an error for the first file whose content is not kept.
func (s *Snapshot) missing() error {
	for _, abs := range slices.Sorted(maps.Keys(s.before)) {
		if why := s.before[abs].NotKept; why != "" {
			return fmt.Errorf("%s: %s", s.scope.roots.Rel(abs), why)
		}
	}
	return nil
}

// Close frees the copies.
func (s *Snapshot) Close() {
	if s != nil {
		s.store.Close()
	}
}

// Restore restores as many files as it can and removes new ones. The error
// names the files that it could not restore.
func (s *Snapshot) Restore() (count executors.Rollback, err error) {
	failed := s.restoreDirModes()
	now, err := s.survey(context.Background(), undo.Compared{}, s.before)
	if err != nil {
		return count, fmt.Errorf("find the changes: %w", err)
	}
	steps := s.steps(now)
	restorer := undo.Restorer{Roots: s.scope.roots, Store: s.store, ID: rand.Text()}
	maps.Copy(failed, restorer.Restore(context.Background(), steps))
	for _, step := range steps {
		switch {
		case failed[step.Path] != nil:
		case step.To.Exists() && !step.To.IsDir():
			count.Restored++
			if step.To.IsFile() && step.From.Hash != step.To.Hash {
				s.restoreModTime(step.Path)
			}
		case !step.To.Exists() && !step.From.IsDir():
			count.Deleted++
		}
	}
	return count, s.describe(failed)
}

// restoreDirModes restores the modes of directories, so that they can be read.
func (s *Snapshot) restoreDirModes() map[string]error {
	failed := map[string]error{}
	for _, abs := range slices.Sorted(maps.Keys(s.before)) { // directories before their entries
		if e := s.before[abs]; e.IsDir() {
			info, err := s.scope.roots.Lstat(abs)
			if err == nil && info.IsDir() && info.Mode().Perm() != e.Mode.Perm() {
				if err := s.scope.roots.Chmod(abs, e.Perm()); err != nil {
					failed[abs] = err
				}
			}
		}
	}
	return failed
}

// steps returns the way back to the snapshot. New directories are removed if they match the scope, or if
// something in them is removed.
func (s *Snapshot) steps(now undo.Index) []undo.Step {
	var steps []undo.Step
	emptied := map[string]bool{}
	for _, path := range slices.Backward(s.before.Changes(now)) {
		step := undo.Step{Path: path, From: now[path].State, To: s.before[path].State}
		if !step.To.Exists() {
			if step.From.IsDir() && !emptied[path] && !s.scope.matches(path) {
				continue
			}
			emptied[filepath.Dir(path)] = true
		}
		steps = append(steps, step)
	}
	slices.Reverse(steps)
	return steps
}

// describe returns an error that names the files that could not be restored, with reasons; nil if there
// are none.
func (s *Snapshot) describe(failed map[string]error) error {
	if len(failed) == 0 {
		return nil
	}
	var names []string
	for _, abs := range slices.Sorted(maps.Keys(failed)) {
		names = append(names, fmt.Sprintf("%s (%v)", s.scope.roots.Rel(abs), workspace.Cause(failed[abs])))
	}
	return errors.New(undo.Names(names, ", ", 10))
}

// restoreModTime restores the modification time of a file, which build tools compare. It
// ignores errors.
func (s *Snapshot) restoreModTime(abs string) {
	top, rel := s.scope.roots.Innermost(abs)
	if root, err := os.OpenRoot(top); err == nil {
		_ = root.Chtimes(rel, time.Time{}, time.Unix(0, s.before[abs].Changed))
		root.Close()
	}
}
