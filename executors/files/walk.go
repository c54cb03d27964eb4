package files

import (
	"context"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// walkBudget bounds the entries of one walk: a cwd may be a home directory.
const walkBudget = 1_000_000

// entry is one thing that a walk came to.
type entry struct {
	workspace.Entry
	dir *workspace.Branch // the directory it is in; open during the visit
	in  string            // path of dir from where the walk starts, "" or ending in "/"
}

// path is slash-separated and relative to where the walk starts.
func (e entry) path() string { return e.in + e.Name }

// visit looks at one entry. Walks call it on several goroutines, in no order;
// what it found is ok to be taken in. stopped tells that nobody needs it any more.
type visit[T any] func(e entry, stopped func() bool) (found T, ok bool, err error)

// walk visits all that is below the directory at tg and hands what was found to
// take, in the order of the paths and one at a time, until take returns false.
//
// It leaves out .git and, with ignoring, what [ignore] says. It does not follow
// symlinks. Each directory is opened inside of the one above, so that no exchange
// of directories leads it out of the roots. What is hidden or may not be read it
// does not open.
//
// However the work is scheduled, what is taken is what one goroutine that goes
// through the tree in order would take: the budget too is counted in that order.
// newVisit is called once for each goroutine; size is about the bytes of what was found.
func walk[T any](ctx context.Context, t *tools, tg target, ignoring bool, newVisit func() visit[T], size func(T) int, take func(T) bool) (notes, error) {
	ign := t.globalIgnore(ignoring)
	dir, err := t.roots.Descend(tg.abs, func(above *workspace.Dir, next string) { ign = ign.down(above, next) })
	if err != nil {
		return notes{}, err
	}
	defer dir.Close()
	top, err := dir.Branch()
	if err != nil {
		return notes{}, err
	}
	w := &walker[T]{size: size, take: take, budget: t.budget}
	w.wake.L = &w.mu
	return w.run(ctx, top, ign, newVisit)
}

// notes is what a walk could not see.
type notes struct {
	cut    bool     // the budget did not last
	unread []string // what could not be looked at, and why
	more   int      // of those, without their names
	hidden bool     // zeph-acp's own files were left out
	denied int      // may not be read
}

// maxUnread bounds what is named of what could not be looked at.
const maxUnread = 3

func (n *notes) problem(p problem) {
	if p.hidden {
		n.hidden = true
		return
	}
	if p.denied {
		n.denied++
		return
	}
	if len(n.unread) == maxUnread {
		n.more++
		return
	}
	n.unread = append(n.unread, fmt.Sprintf("%s (%v)", oneLine(p.path), reason(p.err)))
}

// hiddenNote says why something that is there is not told of.
const hiddenNote = "[zeph-acp's own files are out of reach and left out]"

// String says in lines of their own what a walk could not see.
func (n notes) String() string {
	var b strings.Builder
	if n.cut {
		b.WriteString("\n[stopped after very many files: not all were looked at; give a path that is further down]")
	}
	if len(n.unread) > 0 {
		fmt.Fprintf(&b, "\n[could not look at %s", strings.Join(n.unread, ", "))
		if n.more > 0 {
			fmt.Fprintf(&b, " and %d more", n.more)
		}
		b.WriteByte(']')
	}
	b.WriteString(deniedNote(n.denied))
	if n.hidden {
		b.WriteString("\n" + hiddenNote)
	}
	return b.String()
}
