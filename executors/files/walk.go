package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// walkBudget bounds the entries of one walk: a cwd may be a home directory.
const walkBudget = 1_000_000

// walker goes through a directory tree for find_path and grep, in the order of
// the paths. It leaves out .git and what .gitignore files leave out, and it does
// not follow symlinks. Each directory is opened inside of the one above, so
// that no exchange of directories leads it out of the roots. What is hidden it
// does not open.
type walker struct {
	visit  func(entry) error // fs.SkipAll ends the walk
	base   string            // slash-separated path from the root to where the walk starts
	budget int               // entries that may still be visited
	cut    bool              // the budget did not last
	unread []string          // what could not be read, and why
	hidden bool              // zeph-acp's own files were left out
}

// entry is one thing that a walk came to.
type entry struct {
	fs.DirEntry
	path string         // slash-separated, relative to where the walk starts
	dir  *workspace.Dir // the directory it is in; open during the visit
}

// walk visits all that is below the directory at tg.
func (t *tools) walk(ctx context.Context, tg target, visit func(entry) error) (*walker, error) {
	var ign *ignore
	dir, err := t.roots.Descend(tg.abs, func(above *workspace.Dir, next string) { ign = ign.enter(above, next) })
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	w := &walker{visit: visit, base: dir.Rel(), budget: t.budget}
	err = w.enter(ctx, dir, ign)
	if errors.Is(err, fs.SkipAll) {
		err = nil
	}
	return w, err
}

// enter visits the entries of dir. Only the start of a walk must be readable;
// what cannot be read below is noted.
func (w *walker) enter(ctx context.Context, dir *workspace.Dir, ign *ignore) error {
	entries, hidden, err := dir.ReadDir(-1)
	if err != nil {
		return err
	}
	w.hidden = w.hidden || hidden
	// A directory stands where its name with a slash belongs, so that the paths of
	// the whole walk come sorted.
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(sortName(a), sortName(b)) })
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ignoreFile && e.Type().IsRegular() }) {
		ign = ign.load(dir)
	}
	for _, e := range entries {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if w.budget--; w.budget < 0 {
			w.cut = true
			return fs.SkipAll
		}
		full := path.Join(dir.Rel(), e.Name())
		if e.Name() == ".git" || ign.match(full, e.IsDir()) {
			continue
		}
		if err := w.visit(entry{DirEntry: e, path: w.below(full), dir: dir}); err != nil {
			return err
		}
		if !e.IsDir() {
			continue
		}
		if err := w.descend(ctx, dir, e.Name(), full, ign); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) descend(ctx context.Context, dir *workspace.Dir, name, full string, ign *ignore) error {
	sub, err := dir.Sub(name)
	if err == nil {
		defer sub.Close()
		err = w.enter(ctx, sub, ign)
	}
	if err == nil || errors.Is(err, fs.SkipAll) || ctx.Err() != nil {
		return err
	}
	w.problem(w.below(full), err)
	return nil
}

// below makes a path from the root relative to where the walk starts.
func (w *walker) below(full string) string {
	if w.base == "." {
		return full
	}
	return full[len(w.base)+1:]
}

// problem notes what could not be looked at.
func (w *walker) problem(name string, err error) {
	if _, ok := errors.AsType[*workspace.PrivateError](err); ok {
		w.hidden = true
		return
	}
	w.unread = append(w.unread, fmt.Sprintf("%s (%v)", oneLine(name), reason(err)))
}

func sortName(e fs.DirEntry) string {
	if e.IsDir() {
		return e.Name() + "/"
	}
	return e.Name()
}

// hiddenNote says why something that is there is not told of.
const hiddenNote = "[zeph-acp's own files are out of reach and left out]"

// notes says in lines of their own what a walk could not see.
func (w *walker) notes() string {
	const most = 3
	var b strings.Builder
	if w.cut {
		b.WriteString("\n[stopped after very many files: not all were looked at; give a path that is further down]")
	}
	if n := len(w.unread); n > 0 {
		fmt.Fprintf(&b, "\n[could not look at %s", strings.Join(w.unread[:min(n, most)], ", "))
		if n > most {
			fmt.Fprintf(&b, " and %d more", n-most)
		}
		b.WriteByte(']')
	}
	if w.hidden {
		b.WriteString("\n" + hiddenNote)
	}
	return b.String()
}
