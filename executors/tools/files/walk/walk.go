// Package walk visits the entries below a directory of a session. It uses
// several goroutines and honours git's ignore files.
//
// Start with [Do]; [PathMatcher] compiles a glob for the entries it visits.
//
// A walk stays inside the roots, even if directories and symlinks are replaced meanwhile. It never
// opens zeph-acp's own files, or files that the rules for reading refuse. Its result does not depend
// on scheduling: it is the same as for one goroutine that visits the tree in path order. It does not
// follow symlinks, and it does not read files; the visit may.
//
// Why another parser of .gitignore? Libraries match patterns as doublestar or
// filepath do. Git's wildmatch differs in classes, in braces and in "a/**".
package walk

import (
	"context"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// MaxEntries bounds the entries of one walk: a cwd may be a home directory.
const MaxEntries = 1_000_000

// Tree is the part of the file system that a walk visits.
type Tree struct {
	Roots  *workspace.Roots // required
	Dir    string           // absolute, as Roots.Resolve returned it
	Ignore bool             // leave out the entries that ignore files such as .gitignore exclude
	Budget int              // the largest number of entries to visit, such as MaxEntries
}

// Entry is one file, directory or symlink that a walk visits.
type Entry struct {
	workspace.Entry
	Dir *workspace.Branch // the directory that holds it; open during the visit
	In  string            // path of Dir from the start of the walk, "" or ending in "/"
}

// Path is slash-separated and relative to the start of the walk.
func (e Entry) Path() string { return e.In + e.Name }

// Visit examines one entry. Walks call it on several goroutines, in any order.
// ok reports whether there is a result. stopped reports whether the walk has
// ended, so that no result is needed.
type Visit[T any] func(e Entry, stopped func() bool) (found T, ok bool, err error)

// visit is a Visit without its type parameter.
type visit func(e Entry, stopped func() bool) (found any, ok bool, err error)

// Do visits all entries below the directory of the tree. It passes the results to
// take, in the order of the paths and one at a time, until take returns false.
//
// It leaves out .git and, with Tree.Ignore, the entries that ignore files exclude. It opens each
// directory relative to the one above, so that a replaced directory cannot lead it out of the
// roots.
//
// Results and budget are the same as for one goroutine that visits the tree in
// order. newVisit is called once for each goroutine. size returns the approximate
// size of a result in bytes.
func Do[T any](ctx context.Context, tree Tree, newVisit func() Visit[T], size func(T) int, take func(T) bool) (Unseen, error) {
	w := &walker{
		size: func(found any) int { return size(found.(T)) },
		take: func(found any) bool { return take(found.(T)) },
	}
	return w.walk(ctx, tree, func() visit {
		look := newVisit()
		return func(e Entry, stopped func() bool) (any, bool, error) { return look(e, stopped) }
	})
}

// walk visits the entries of the tree.
func (w *walker) walk(ctx context.Context, tree Tree, newVisit func() visit) (Unseen, error) {
	var ign *ignore
	if tree.Ignore {
		ign = newIgnore(tree.Roots, tree.Dir)
	}
	dir, err := tree.Roots.Descend(tree.Dir, func(above *workspace.Dir, next string) { ign = ign.descend(above, next) })
	if err != nil {
		return Unseen{}, err
	}
	defer dir.Close()
	top, err := dir.Branch()
	if err != nil {
		return Unseen{}, err
	}
	w.budget, w.wake.L, w.isStopped = tree.Budget, &w.mu, w.stopped.Load
	return w.run(ctx, top, ign, newVisit)
}

// Unseen is the part of a tree that a walk could not see.
type Unseen struct {
	Cut    bool     // the budget was exhausted
	unread []string // entries that could not be read, each with its reason
	more   int      // further ones, without their names
	hidden bool     // zeph-acp's own files were left out
	denied int      // entries that may not be read
}

// maxUnread bounds how many unreadable entries are named.
const maxUnread = 3

// Add adds an entry that could not be read.
func (u *Unseen) Add(path string, err error) { u.add(newProblem(path, err)) }

func (u *Unseen) add(p problem) {
	switch {
	case p.hidden:
		u.hidden = true
	case p.denied:
		u.denied++
	case len(u.unread) == maxUnread:
		u.more++
	default:
		u.unread = append(u.unread, fmt.Sprintf("%s (%v)", executors.OneLine(p.path), workspace.Cause(p.err)))
	}
}

// Unread names the entries that could not be read, each with its reason; "" if there are none.
func (u Unseen) Unread() string {
	names := strings.Join(u.unread, ", ")
	if u.more > 0 {
		names += fmt.Sprintf(" and %d more", u.more)
	}
	return names
}

// HiddenNote says that zeph-acp's own files are missing from a result.
const HiddenNote = "[zeph-acp's own files are protected and left out]"

// DeniedNote says on its own line that n entries may not be read; it is "" for
// 0.
func DeniedNote(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("\n[%s left out by deny_read or allow_read]", quantity.Count(n, "entry"))
}

// String returns notes for the model, each on its own line after a line break.
func (u Unseen) String() string {
	var b strings.Builder
	if u.Cut {
		b.WriteString("\n[stopped after very many files, before the end; use a deeper path]")
	}
	if unread := u.Unread(); unread != "" {
		b.WriteString("\n[could not read " + unread + "]")
	}
	b.WriteString(DeniedNote(u.denied))
	if u.hidden {
		b.WriteString("\n" + HiddenNote)
	}
	return b.String()
}
