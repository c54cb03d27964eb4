package copies

import (
	"cmp"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/executors/undo"
)

// maxAge is how long changes are kept.
const maxAge = 30 * 24 * time.Hour

// Clean removes the copies of processes that have ended, and old patches. It returns
// where it has kept the changes in those copies.
func Clean(ctx context.Context, o Options) (kept []Kept, err error) {
	entries, err := os.ReadDir(o.State)
	if err != nil {
		return nil, undo.IgnoreMissing(err)
	}
	done := map[string]bool{}
	for _, e := range entries {
		name := e.Name()
		if strings.HasSuffix(name, patchEnd) || strings.HasSuffix(name, filesEnd) {
			if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > maxAge {
				_ = removeAll(filepath.Join(o.State, name)) // the next start tries again
			}
			continue
		}
		id, _, _ := strings.Cut(name, ".")
		if done[id] || ctx.Err() != nil {
			continue
		}
		done[id] = true
		k, e := cleanOne(ctx, o, id)
		if k != (Kept{}) {
			kept = append(kept, k)
		}
		err = errors.Join(err, e)
	}
	return kept, err
}

// cleanOne removes a copy, unless its process still runs.
func cleanOne(ctx context.Context, o Options, id string) (k Kept, err error) {
	c := &Copy{options: o, id: id}
	lock, free, err := lockAbandoned(c.path(lockEnd))
	if err != nil || !free {
		return k, err
	}
	c.lock, c.Meta = lock, c.path(metaEnd)
	k, err = c.rescue(ctx)
	info, statErr := os.Stat(c.Meta)
	if err != nil && k == (Kept{}) && statErr == nil && time.Since(info.ModTime()) < maxAge { // the next start tries again
		return k, errors.Join(err, lock.Close())
	}
	return k, c.Close()
}

// rescue keeps the changes of a copy whose process has ended.
func (c *Copy) rescue(ctx context.Context) (k Kept, err error) {
	entries, err := os.ReadDir(c.path(""))
	if err != nil || len(entries) != 1 { // the copy was incomplete, so no sub-agent had worked in it
		return k, nil
	}
	c.Root = filepath.Join(c.path(""), entries[0].Name())
	ok, err := undo.ReadJSON(c.baseFile(), &c.base)
	if !ok && err == nil && !exists(c.path(gitEnd)) {
		return k, nil
	}
	c.options.Name = cmp.Or(c.base.Name, "sub-agent")
	if !ok { // damaged, or of an earlier version
		k.Files, err = c.setAside([]string{"."})
		return k, err
	}
	if c.git, err = newGit(c.options); err != nil {
		return k, err
	}
	c.git.dirs = []string{c.Root, c.Meta}
	if err := c.openStore(); err != nil {
		return k, err
	}
	return c.Keep(ctx, nil)
}
