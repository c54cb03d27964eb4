package rewind

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/zeph-acp/zeph-acp/executors/filechange"
	"github.com/zeph-acp/zeph-acp/executors/undo"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// journal describes a rewind while it runs, and afterwards for its redo.
type journal struct {
	ID     string            `json:"id"`
	Redo   bool              `json:"redo,omitempty"`
	Points []int             `json:"points,omitempty"` // that it undoes
	Files  map[string]change `json:"files,omitempty"`  // from After to Before
	Mark   []byte            `json:"mark,omitempty"`   // see Apply
}

// The files of a rewind that is not complete.
func (s *Session) runningFile() string { return filepath.Join(s.dir, "running.json") }
func (s *Session) doneFile() string    { return filepath.Join(s.dir, "done.json") }

// Outcome is the result of a rewind.
type Outcome struct {
	Changed []string            // absolute paths of files and links
	Changes []filechange.Change // the same, with small texts, and directories
	Kept    []string            // files that were skipped because they have changed since the agent's last change
	Failed  []string            // files that could not be restored, each with its reason
}

// Apply restores the files. force also replaces the files that have changed since the agent's last
// change. The caller then records mark, and calls Complete. If the process ends before that,
// Recover returns mark.
func (p *Plan) Apply(ctx context.Context, force bool, mark []byte) (Outcome, error) {
	s := p.session
	s.mu.Lock()
	defer s.mu.Unlock()
	var out Outcome
	j := p.record
	j.Mark, j.Files = mark, map[string]change{}
	var steps []undo.Step
	r := s.reader()
	defer r.Close()
	for _, step := range p.Steps {
		rel := p.Rel(step)
		switch {
		case step.Unrestorable != "":
			out.Failed = append(out.Failed, fmt.Sprintf("%s: %s", rel, step.Unrestorable))
		case step.Conflict != "" && !force:
			out.Kept = append(out.Kept, rel)
		default:
			now := s.current(ctx, r, step.Path)
			if now.Differs(step.From) && !(now.IsDir() && step.From.IsDir()) { // changed during the question
				out.Kept = append(out.Kept, rel)
				continue
			}
			steps = append(steps, step.Step)
			j.Files[step.Path] = change{Before: step.From, After: step.To}
		}
	}
	r.Close() // on Windows an open directory cannot be renamed
	if err := undo.WriteJSON(s.runningFile(), j, true); err != nil {
		return out, fmt.Errorf("keep a journal of the rewind: %w", err)
	}
	room := maxTexts
	failed := s.restorer(j.ID).Restore(ctx, steps)
	for _, step := range steps {
		if err := failed[step.Path]; err != nil {
			out.Failed = append(out.Failed, fmt.Sprintf("%s: %v", s.rel(step.Path), workspace.Cause(err)))
			delete(j.Files, step.Path)
			continue
		}
		out.Changes = append(out.Changes, s.fileChange(step, &room))
		if !step.From.IsDir() && !step.To.IsDir() {
			out.Changed = append(out.Changed, step.Path)
		}
	}
	if err := undo.WriteJSON(s.runningFile(), j, true); err != nil {
		return out, err
	}
	return out, os.Rename(s.runningFile(), s.doneFile())
}

// maxTexts bounds the texts of the changes that a rewind reports, in bytes.
const maxTexts = 128 << 10

// fileChange returns a step as a change of files. Texts are left out if they exceed room, which it lowers.
func (s *Session) fileChange(step undo.Step, room *int) filechange.Change {
	c := filechange.Change{Op: filechange.Modify, Path: s.Roots.AsGiven(step.Path)}
	entry := step.To
	switch {
	case !step.From.Exists():
		c.Op = filechange.Add
	case !step.To.Exists():
		c.Op, entry = filechange.Delete, step.From
	}
	switch {
	case entry.IsDir():
		c.Type = filechange.Directory
	case !entry.IsFile():
		c.Type = filechange.Symlink
	default:
		c.Old, c.New = s.text(step.From, &c.Type, room), s.text(step.To, &c.Type, room)
	}
	return c
}

// text returns the text of a file; nil if there is no file, or its text cannot be shown.
func (s *Session) text(state undo.State, fileType *string, room *int) *string {
	if !state.IsFile() || state.Hash == "" || state.Size > int64(*room) {
		return nil
	}
	data, err := undo.Read(s.store, state.Hash)
	if err != nil {
		return nil
	}
	if !undo.IsText(data) {
		*fileType = filechange.Binary
		return nil
	}
	*room -= len(data)
	text := string(data)
	return &text
}

// Complete ends a rewind after its mark was recorded.
func (s *Session) Complete() error {
	var j journal
	ok, err := undo.ReadJSON(s.doneFile(), &j)
	if err != nil || !ok {
		return err
	}
	if !j.Redo {
		return os.Rename(s.doneFile(), s.rewindFile(j.ID))
	}
	return errors.Join(os.Remove(s.doneFile()), undo.IgnoreMissing(os.Remove(s.rewindFile(j.ID))))
}

// restorer returns what makes the steps of a rewind. Texts go through the editor.
func (s *Session) restorer(id string) *undo.Restorer {
	r := &undo.Restorer{Roots: s.Roots, Store: s.store, ID: id, Working: s.refreshJournal}
	if s.editor.writes() {
		r.Text = s.editor.FS.WriteFile
	}
	return r
}

// refreshJournal renews the age of the journal, since an editor may be slow.
func (s *Session) refreshJournal() {
	now := s.Now()
	if info, err := os.Stat(s.runningFile()); err == nil && now.Sub(info.ModTime()) > abandonedAfter/6 {
		_ = os.Chtimes(s.runningFile(), now, now)
	}
}

// Recover completes the turn and the rewind in which a process was killed. It returns the
// mark of a rewind whose files are restored, and a message for the user. The caller
// records the mark, unless it is recorded already, and then calls Complete.
func (s *Session) Recover(ctx context.Context) (mark []byte, message string, err error) {
	if s == nil {
		return nil, "", nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := os.Lstat(s.base()); err != nil {
		return nil, "", undo.IgnoreMissing(err)
	}
	message = s.recoverOthers(ctx)
	s.recoverTurns(ctx)
	var j journal
	if ok, err := undo.ReadJSON(s.doneFile(), &j); ok || err != nil {
		return j.Mark, "A rewind was interrupted after it had restored the files. It is now complete.", err
	}
	ok, err := undo.ReadJSON(s.runningFile(), &j)
	if !ok || err != nil {
		return nil, message, err
	}
	return nil, s.undo(ctx, j), os.Remove(s.runningFile())
}

// abandonedAfter is the age of a journal from which its process is assumed to have exited.
const abandonedAfter = 30 * time.Second

// recoverOthers undoes rewinds that other sessions of this workspace began and whose
// processes were killed. It returns a message for the user.
func (s *Session) recoverOthers(ctx context.Context) (message string) {
	files, err := filepath.Glob(filepath.Join(s.base(), "sessions", "*", filepath.Base(s.runningFile())))
	if err != nil {
		return ""
	}
	for _, file := range files {
		info, err := os.Stat(file)
		var j journal
		if file == s.runningFile() || err != nil || s.Now().Sub(info.ModTime()) < abandonedAfter {
			continue
		}
		if ok, err := undo.ReadJSON(file, &j); !ok || err != nil {
			continue
		}
		message = s.undo(ctx, j)
		if err := os.Remove(file); err != nil {
			s.Log.Warn("the journal of a rewind cannot be removed", "file", file, "err", err)
		}
	}
	return message
}

// undo restores the files as they were before an interrupted rewind. It returns a
// message for the user.
func (s *Session) undo(ctx context.Context, j journal) string {
	var steps []undo.Step
	var left []string
	at := s.restorer(j.ID)
	r := s.reader()
	defer r.Close()
	for _, path := range slices.Sorted(maps.Keys(j.Files)) {
		at.RemoveTemporary(path)
		c, now := j.Files[path], s.current(ctx, r, path)
		switch {
		case !now.Differs(c.Before):
		case now.Differs(c.After) && now.Exists() && !now.IsDir():
			left = append(left, s.Roots.Rel(path))
		default:
			steps = append(steps, undo.Step{Path: path, From: now, To: c.Before})
		}
	}
	r.Close()
	for path, err := range at.Restore(ctx, steps) {
		left = append(left, fmt.Sprintf("%s (%v)", s.Roots.Rel(path), workspace.Cause(err)))
	}
	message := "A rewind was interrupted. The files are as they were before it."
	if len(left) > 0 {
		slices.Sort(left)
		message += fmt.Sprintf(" Not restored: %s.", undo.Names(left, ", ", 10))
	}
	return message
}

// recoverTurns completes the points of turns in which a process was killed.
func (s *Session) recoverTurns(ctx context.Context) {
	all, err := s.points()
	if err != nil {
		return
	}
	for _, p := range all {
		if p.Open == "" {
			continue
		}
		var before undo.Index
		if ok, _ := undo.ReadJSON(s.openFile(p.Seq), &before); ok {
			if now, err := s.survey(ctx, before); err == nil {
				s.foundBySurvey = map[string]bool{}
				s.compare(p, before, now, true)
			} else {
				p.Gaps = append(p.Gaps, err.Error())
			}
			os.Remove(s.openFile(p.Seq))
		}
		r := s.reader()
		for _, path := range p.paths() {
			if c := p.Files[path]; !c.After.Exists() && !c.Unsure { // the call may not have ended
				c.After, c.Unsure = r.State(path), true
				p.Files[path] = c
			}
		}
		r.Close()
		p.Open = ""
		s.save(p)
	}
}
