package files

import (
	"context"
	"errors"
	"io/fs"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/filechange"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

type createInput struct {
	Path string `json:"path"`
}

// planCreate resolves the path and reports whether the directory already
// exists.
func (t *tools) planCreate(in *createInput) (tg target, exists bool, err error) {
	roots := t.roots.Writing()
	if tg, err = t.resolveTarget("path", in.Path, roots.Resolve); err != nil {
		return tg, false, err
	}
	info, err := roots.Lstat(tg.abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return tg, false, nil
	case err != nil:
		return tg, false, t.explain(err, "create", tg)
	case !info.IsDir():
		return tg, false, executors.Failuref(executors.PermanentFailure, "%s already exists: it is %s", tg.display,
			workspace.Describe(info.Mode())).
			Hint("Choose another name.")
	}
	return tg, true, nil
}

func (t *tools) prepareCreate(_ context.Context, _ *executors.Call, in *createInput) (executors.Card, error) {
	tg, exists, err := t.planCreate(in)
	if tg.abs == "" {
		return refusedCard(executors.KindEdit, in.Path), err
	}
	card := executors.Card{Title: "new directory " + tg.title(), Kind: executors.KindEdit, Paths: []string{tg.abs}}
	if !exists && err == nil {
		card.Changes = []filechange.Change{newDirectory(tg)}
	}
	return card, err
}

// newDirectory returns the change of files that creates a directory.
func newDirectory(tg target) filechange.Change {
	return filechange.Change{Op: filechange.Add, Path: tg.client, Type: filechange.Directory}
}

func (t *tools) create(ctx context.Context, call *executors.Call, in *createInput) (executors.Result, error) {
	tg, exists, err := t.planCreate(in)
	if err == nil {
		err = sameAsCard(call, tg)
	}
	if err != nil || ctx.Err() != nil {
		return fail(ctx, err)
	}
	if exists {
		return executors.Result{Text: "Directory already exists: " + tg.display, Unchanged: true, Raw: rawDirectory{Path: tg.client}}, nil
	}
	dir, err := t.roots.Writing().MakeDir(tg.abs)
	if err != nil {
		return fail(ctx, t.explain(err, "create", tg))
	}
	dir.Close()
	made := newDirectory(tg)
	return executors.Result{
		Text: "Created directory: " + tg.display, Raw: rawDirectory{Path: tg.client, Created: true}, Content: []executors.Content{{Change: &made}},
	}, nil
}
