package copies

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/filechange"
	"github.com/zeph-acp/zeph-acp/executors/undo"
)

// Session is the session that the changes are brought back to.
type Session struct {
	// Current returns the text of a file, an absolute path, as the user sees it; nil if
	// there is no file.
	Current func(ctx context.Context, path string) (*string, error)
	// Put writes the text of a file, or deletes the file if the text is nil, by a call of the
	// session. It calls still right before the effect; the call fails if still returns a failure.
	// An error ends the turn.
	Put func(ctx context.Context, path string, text *string, still func(context.Context) *executors.Failure) (executors.Result, error)
}

// Outcome is the result of each change. Paths are relative to the top directory, with
// slashes.
type Outcome struct {
	Written, Deleted, Merged []string
	NotMade                  []PathNote
	Notes                    []PathNote
	Kept                     Kept                // the changes of NotMade
	Changes                  []filechange.Change // that were made
}

// PathNote is a change that was not made, or a note about a change that was made.
type PathNote struct{ Path, Why string }

// Apply makes the changes of the copy in the project. A file that changed in the project
// meanwhile gets both changes, or stays unchanged if both changed the same lines. The
// changes that were not made are kept, even if an error ends the turn.
func (c *Copy) Apply(ctx context.Context, s Session) (b Outcome, err error) {
	changes, err := c.changes(ctx)
	for _, ch := range changes {
		why := "the turn ended"
		if err == nil {
			why, err = c.applyOne(ctx, s, ch, &b)
		}
		switch {
		case why != "":
			b.NotMade = append(b.NotMade, PathNote{ch.Path, why})
		case ch.Note != "":
			b.Notes = append(b.Notes, PathNote{ch.Path, ch.Note})
		}
	}
	if len(b.NotMade) == 0 && err == nil {
		return b, nil
	}
	paths := make([]string, len(b.NotMade))
	for i, l := range b.NotMade {
		paths[i] = l.Path
	}
	var lost error
	b.Kept, lost = c.Keep(context.WithoutCancel(ctx), paths)
	if err == nil {
		err = lost
	}
	return b, err
}

// tries is how often a change is attempted while its file keeps changing.
const tries = 3

// applyOne makes one change. It returns why it was not made, "" if it was.
func (c *Copy) applyOne(ctx context.Context, s Session, ch Change, b *Outcome) (why string, err error) {
	if ch.Unwritable != "" {
		return ch.Unwritable, nil
	}
	path := filepath.Join(c.Top, filepath.FromSlash(ch.Path))
	for range tries {
		now, err := s.Current(ctx, path)
		if err != nil {
			return "it cannot be read: " + err.Error(), nil
		}
		want, why, err := c.plan(ctx, ch, now)
		if why != "" || err != nil || same(want, now) {
			return why, err
		}
		moved := false
		still := func(ctx context.Context) *executors.Failure {
			if then, err := s.Current(ctx, path); err == nil && same(then, now) {
				return nil
			}
			moved = true
			return executors.Failuref(executors.PermanentFailure, "%s has changed since", ch.Path)
		}
		res, err := s.Put(ctx, path, want, still)
		switch {
		case err != nil:
			return "the turn ended", err
		case moved:
			continue
		case res.Failed:
			return executors.OneLine(res.ForPeople()), nil
		}
		b.recordChange(ch, path, now, want)
		return "", nil
	}
	return "it keeps changing", nil
}

// plan returns the text that a file should have after the change, given its present text.
// A nil text means no file. why is the reason if the file must stay unchanged.
func (c *Copy) plan(ctx context.Context, ch Change, now *string) (want *string, why string, err error) {
	const conflict = "it changed in the project meanwhile, in the same lines"
	switch {
	case same(now, ch.Old), same(now, ch.New):
		return ch.New, "", nil
	case now == nil:
		return nil, "it was deleted in the project meanwhile", nil
	case ch.New == nil:
		return nil, "it changed in the project meanwhile, and the sub-agent deleted it", nil
	case ch.Old == nil:
		return nil, "the project has another file of that name now", nil
	}
	text, ok, err := c.merge(ctx, *now, *ch.Old, *ch.New)
	if !ok {
		return nil, conflict, err
	}
	return &text, "", nil
}

// same reports whether two texts are equal, or both missing.
func same(a, b *string) bool { return a == b || a != nil && b != nil && *a == *b }

// maxTexts bounds the texts of the changes that are shown, in bytes.
const maxTexts = 256 << 10

// recordChange records a change that was made.
func (b *Outcome) recordChange(ch Change, path string, before, after *string) {
	c := filechange.Change{Op: filechange.OpOfWrite(before), Path: path, Old: before, New: after}
	if after == nil {
		c.Op, c.New = filechange.Delete, new(string) // clients of version 1 show a file that becomes empty
		b.Deleted = append(b.Deleted, ch.Path)
	} else {
		b.Written = append(b.Written, ch.Path)
		if !same(before, ch.Old) {
			b.Merged = append(b.Merged, ch.Path)
		}
	}
	if b.size()+sizeOf(c) <= maxTexts {
		b.Changes = append(b.Changes, c)
	}
}

func (b *Outcome) size() (n int) {
	for c := range slices.Values(b.Changes) {
		n += sizeOf(c)
	}
	return n
}

func sizeOf(c filechange.Change) int {
	n := len(*c.New)
	if c.Old != nil {
		n += len(*c.Old)
	}
	return n
}

// Lines describes the outcomes, each in brackets. It returns nil if there are no changes.
func (b Outcome) Lines() (lines []string) {
	add := func(format string, list []string) {
		if len(list) > 0 {
			lines = append(lines, "["+fmt.Sprintf(format, executors.OneLine(undo.Names(list, "; ", 30)))+"]")
		}
	}
	add("changed in the project: %s", b.Written)
	add("deleted in the project: %s", b.Deleted)
	add("merged with changes that the project got meanwhile: %s", b.Merged)
	for _, n := range b.Notes {
		add("%s", []string{n.Path + " " + n.Why})
	}
	var left []string
	for _, l := range b.NotMade {
		left = append(left, l.Path+": "+l.Why)
	}
	add("not changed in the project: %s", left)
	if b.Kept.Patch != "" {
		add("the patch of these changes is kept for the user: %s", []string{b.Kept.Patch})
	}
	if b.Kept.Files != "" {
		add("the files that no patch holds are kept for the user: %s", []string{b.Kept.Files})
	}
	return lines
}
