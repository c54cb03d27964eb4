package files

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/filechange"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// planMove checks a move. A file that the rules for reading refuse may not be
// moved either: it might be readable under its new name.
func (t *tools) planMove(ctx context.Context, in *relocateInput) (relocation, error) {
	r, err := t.planRelocation(in, t.roots.Writing(), filechange.Move)
	if r.from.abs == "" || r.to.abs == "" {
		return r, err
	}
	if err := t.checkFixed(r.from, "moved"); err != nil { // the more specific message first
		return r, err
	}
	if err != nil && !t.respelled(r) {
		return r, err
	}
	if t.roots.Readable() == nil {
		return r, nil
	}
	var c census
	if err := c.countTree(ctx, t.roots, r.from, math.MaxInt); err != nil {
		return r, t.explain(err, "look at what is in", r.from)
	}
	if c.denied > 0 {
		return r, executors.Failuref(executors.PolicyBlocked,
			"%s can't be moved: %s may not be read ([tools.file] deny_read or allow_read)", r.from.display, quantity.Count(c.denied, "entry")).
			Hint("Move the other entries, or ask the user.")
	}
	return r, nil
}

// respelled reports whether a move only changes the spelling of a name. The file
// is then found at the destination.
func (t *tools) respelled(r relocation) bool {
	dir, name, err := t.roots.Writing().Parent(r.from.abs)
	if err != nil || filepath.Dir(r.from.abs) != filepath.Dir(r.to.abs) {
		return false
	}
	defer dir.Close()
	spelling := filepath.Base(r.to.abs)
	there, err := dir.Lstat(spelling)
	if err != nil || name == spelling || !strings.EqualFold(name, spelling) || !sameEntry(r.info, there) {
		return false
	}
	entries, _, err := dir.ReadDir(-1)
	for _, e := range entries {
		if e.Name() == spelling { // another name of the same file
			return false
		}
	}
	return err == nil
}

func (t *tools) prepareMove(ctx context.Context, _ *executors.Call, in *relocateInput) (executors.Card, error) {
	r, err := t.planMove(ctx, in)
	return r.card("", executors.KindMove, in, err), err
}

func (t *tools) move(ctx context.Context, call *executors.Call, in *relocateInput) (executors.Result, error) {
	r, err := t.planMove(ctx, in)
	if err := checkRelocation(ctx, call, r, err); err != nil {
		return fail(ctx, err)
	}
	dir, name, err := t.roots.Writing().Parent(r.from.abs)
	if err != nil {
		return fail(ctx, t.explain(err, "move", r.from))
	}
	defer dir.Close()
	done := fmt.Sprintf("Moved: %s -> %s", r.from.display, r.to.display)
	if t.respelled(r) {
		err = dir.Respell(name, filepath.Base(r.to.abs))
	} else {
		err = t.renameTo(dir, name, r.to)
	}
	if workspace.CrossDevice(err) {
		return t.moveAcrossDevices(ctx, r, dir, name, done)
	}
	if err != nil {
		return fail(ctx, t.explainRename(err, "move to", r))
	}
	return r.result(done), nil
}

// moveAcrossDevices moves to another device: it copies everything, then deletes the source.
func (t *tools) moveAcrossDevices(ctx context.Context, r relocation, dir *workspace.Dir, name, done string) (executors.Result, error) {
	c := t.newCopier(r)
	c.forMove = true
	if err := t.copyTo(ctx, c); err != nil {
		return fail(ctx, err)
	}
	// A cancel from here on would leave a part in each place.
	if _, err := remove(context.WithoutCancel(ctx), dir, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return executors.Failuref(executors.PermanentFailure,
			"%s was copied to %s on another device, but the source could not be deleted completely: %v", r.from.display, r.to.display, workspace.Cause(err)).
			Hint("Delete the rest of %s.", r.from.display).Result(), nil
	}
	return r.result(done + " (to another device)"), nil
}
