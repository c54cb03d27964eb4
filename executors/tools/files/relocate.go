package files

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/filechange"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

type relocateInput struct {
	Source      string `json:"source"`
	Destination string `json:"destination"`
}

// relocation is the effect of a move or a copy.
type relocation struct {
	op       string // of the change of files
	from, to target
	info     fs.FileInfo // of from; nil if it cannot be read
}

// card returns the card of a relocation, as far as it is known; err is why it cannot be made. verb begins the
// title if the kind does not imply it.
func (r relocation) card(verb string, kind executors.Kind, in *relocateInput, err error) executors.Card {
	if r.from.abs == "" || r.to.abs == "" && in.Destination != "" {
		card := refusedCard(kind, in.Source)
		if card.Title != "" && in.Destination != "" {
			card.Title = verb + card.Title + " → " + titled(in.Destination)
		}
		if r.from.abs != "" {
			card.Paths, card.NoFollow = []string{r.from.abs}, true
		}
		return card
	}
	card := executors.Card{Title: verb + r.from.title(), Kind: kind, Paths: []string{r.from.abs}, NoFollow: true}
	if r.to.abs != "" {
		card.Title += " → " + r.to.title()
		card.Paths = append(card.Paths, r.to.abs)
	}
	if r.info != nil && !r.info.IsDir() {
		card.Locations = []executors.Location{{Path: r.from.client}}
	}
	if err == nil {
		card.Changes = []filechange.Change{r.change()}
	}
	return card
}

// change returns the relocation as a change of files.
func (r relocation) change() filechange.Change {
	return filechange.Change{Op: r.op, Path: r.to.client, OldPath: r.from.client, Type: typeOfMode(r.info.Mode())}
}

// typeOfMode returns the type of a file for a client, empty for a regular file.
func typeOfMode(mode fs.FileMode) string {
	switch {
	case mode.IsDir():
		return filechange.Directory
	case mode&fs.ModeSymlink != 0:
		return filechange.Symlink
	}
	return ""
}

// planRelocation resolves and checks both ends; it resolves the source by the roots from. op is move or copy.
// It never overwrites an existing destination.
func (t *tools) planRelocation(in *relocateInput, from *workspace.Roots, op string) (r relocation, err error) {
	r.op = op
	if r.from, err = t.resolveEntry("source", in.Source, from); err != nil {
		return r, err
	}
	if r.to, err = t.resolveEntry("destination", in.Destination, t.roots.Writing()); err != nil {
		return r, err
	}
	info, err := from.Lstat(r.from.abs)
	if err != nil {
		return r, t.explain(err, op, r.from)
	}
	r.info = info
	if t.roots.InGit(r.to.abs) {
		return r, executors.Failuref(executors.PolicyBlocked, "%s belongs to git, and no tool may write there", r.to.display).
			Hint("Use git for it, or ask the user.")
	}
	if strings.HasSuffix(in.Destination, "/") && !info.IsDir() {
		return r, executors.Failuref(executors.InvalidParameters, "destination: %q names a directory", in.Destination).
			Hint("Use the full new path: %s.", filepath.Join(r.to.display, filepath.Base(r.from.abs)))
	}
	return r, t.checkDestination(r)
}

// checkDestination fails if the destination exists, or is inside the source.
func (t *tools) checkDestination(r relocation) error {
	if r.from.abs == r.to.abs {
		return executors.Failuref(executors.InvalidParameters, "source and destination are the same: %s", r.from.display)
	}
	if r.info.IsDir() && workspace.Encloses(r.from.abs, r.info, filepath.Dir(r.to.abs)) {
		return executors.Failuref(executors.InvalidParameters, "%s is inside %s", r.to.display, r.from.display).
			Hint("Choose a destination outside the source.")
	}
	there, err := t.roots.Writing().Lstat(r.to.abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return t.explain(err, "look at", r.to)
	case there.IsDir():
		return executors.Failuref(executors.PermanentFailure, "%s already exists: it is a directory", r.to.display).
			Hint("To move it into the directory, use the full new path: %s.", filepath.Join(r.to.display, filepath.Base(r.from.abs)))
	}
	return executors.Failuref(executors.PermanentFailure, "%s already exists: it is %s", r.to.display, workspace.Describe(there.Mode())).
		Hint("Choose another name, or delete it first.")
}

// renameTo renames name in dir, a finished copy or the source of a move, to the
// destination. It creates missing directories.
func (t *tools) renameTo(dir *workspace.Dir, name string, to target) error {
	parent, err := t.roots.Writing().MakeDir(filepath.Dir(to.abs))
	if err != nil {
		return err
	}
	defer parent.Close()
	return dir.Rename(name, parent, filepath.Base(to.abs))
}

// openStaging opens the deepest existing directory above the destination. A copy is made
// in it under a temporary name.
func (t *tools) openStaging(to target) (*workspace.Dir, error) {
	at := filepath.Dir(to.abs)
	for {
		dir, err := t.roots.Writing().Dir(at)
		if parent := filepath.Dir(at); errors.Is(err, fs.ErrNotExist) && t.roots.Writing().Contains(parent) && parent != at {
			at = parent
			continue
		}
		return dir, err
	}
}

// explainRename returns the failure for an error of renameTo.
func (t *tools) explainRename(err error, verb string, r relocation) error {
	if errors.Is(err, fs.ErrExist) {
		return executors.Failuref(executors.PermanentFailure, "%s already exists", r.to.display).
			Hint("Choose another name, or delete it first.")
	}
	return t.explain(err, verb, r.to)
}

// result returns the result of a relocation.
func (r relocation) result(text string) executors.Result {
	made := r.change()
	res := executors.Result{Text: text, Raw: rawRelocated{r.from.client, r.to.client}, Content: []executors.Content{{Change: &made}}}
	if r.info.Mode().IsRegular() {
		res.Locations = []executors.Location{{Path: r.to.client}}
	}
	return res
}

// checkRelocation checks a move or a copy before it starts. The plan is computed again; it
// must still lead to the checked paths.
func checkRelocation(ctx context.Context, call *executors.Call, r relocation, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return err
	}
	return sameAsCard(call, r.from, r.to)
}

// sameEntry reports whether two paths name the same entry.
func sameEntry(a, b fs.FileInfo) bool { return a != nil && b != nil && os.SameFile(a, b) }
