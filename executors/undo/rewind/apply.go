package rewind

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

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
	Changed []string // absolute paths of files and links
	Kept    []string // files that were skipped because they have changed since the agent's last change
	Failed  []string // files that could not be restored, each with its reason
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
	var steps []Step
	r := s.reader()
	defer r.close()
	for _, step := range p.Steps {
		rel := p.Rel(step)
		switch {
		case step.Unrestorable != "":
			out.Failed = append(out.Failed, fmt.Sprintf("%s: %s", rel, step.Unrestorable))
		case step.Conflict != "" && !force:
			out.Kept = append(out.Kept, rel)
		default:
			now := s.current(ctx, r, step.Path)
			if differs(now, step.From) && !(now.isDir() && step.From.isDir()) { // changed during the question
				out.Kept = append(out.Kept, rel)
				continue
			}
			steps = append(steps, step)
			j.Files[step.Path] = change{Before: step.From, After: step.To}
		}
	}
	r.close() // on Windows an open directory cannot be renamed
	if err := writeJSONDurably(s.runningFile(), j); err != nil {
		return out, fmt.Errorf("keep a journal of the rewind: %w", err)
	}
	failed := s.restore(ctx, j.ID, steps)
	for _, step := range steps {
		if err := failed[step.Path]; err != nil {
			out.Failed = append(out.Failed, fmt.Sprintf("%s: %v", p.Rel(step), workspace.Cause(err)))
			delete(j.Files, step.Path)
		} else if !step.From.isDir() && !step.To.isDir() {
			out.Changed = append(out.Changed, step.Path)
		}
	}
	if err := writeJSONDurably(s.runningFile(), j); err != nil {
		return out, err
	}
	return out, os.Rename(s.runningFile(), s.doneFile())
}

// Complete ends a rewind after its mark was recorded.
func (s *Session) Complete() error {
	var j journal
	ok, err := readJSON(s.doneFile(), &j)
	if err != nil || !ok {
		return err
	}
	if !j.Redo {
		return os.Rename(s.doneFile(), s.rewindFile(j.ID))
	}
	return errors.Join(os.Remove(s.doneFile()), ignoreMissing(os.Remove(s.rewindFile(j.ID))))
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// restore makes the steps, and returns the errors by path.
func (s *Session) restore(ctx context.Context, id string, steps []Step) map[string]error {
	failed := map[string]error{}
	at := newWriter(s.Roots, id)
	defer at.close()
	try := func(step Step, do func() error) {
		if failed[step.Path] == nil {
			if err := do(); err != nil {
				failed[step.Path] = err
			}
		}
	}
	deepest := slices.Clone(steps)
	slices.SortFunc(deepest, func(a, b Step) int { return cmp.Compare(b.Path, a.Path) })
	for _, step := range deepest {
		if step.From.exists() && step.From.Mode.Type() != step.To.Mode.Type() || !step.To.exists() {
			try(step, func() error {
				err := at.remove(step.Path)
				if step.From.isDir() && !step.To.exists() && errors.Is(err, errNotEmpty) {
					return nil // files of the user are in it
				}
				return err
			})
		}
	}
	for _, step := range slices.Backward(deepest) {
		if step.To.isDir() && !step.From.isDir() {
			try(step, func() error { return at.mkdir(step.Path) })
		}
	}
	for _, step := range steps {
		s.refreshJournal()
		switch {
		case step.To.isLink():
			try(step, func() error { return at.link(step.Path, step.To.Target) })
		case step.To.isFile():
			try(step, func() error { return s.restoreFile(ctx, at, step) })
		}
	}
	for _, step := range deepest {
		if step.To.isDir() {
			try(step, func() error { return at.roots.Chmod(step.Path, step.To.perm()) })
		}
	}
	return failed
}

// refreshJournal renews the age of the journal, since an editor may be slow.
func (s *Session) refreshJournal() {
	now := s.Now()
	if info, err := os.Stat(s.runningFile()); err == nil && now.Sub(info.ModTime()) > abandonedAfter/6 {
		_ = os.Chtimes(s.runningFile(), now, now)
	}
}

// restoreFile restores a file: texts through the editor, so that its buffer
// follows.
func (s *Session) restoreFile(ctx context.Context, at *writer, step Step) error {
	from, to := step.From, step.To
	if from.isFile() && from.Hash == to.Hash {
		return at.roots.Chmod(step.Path, to.perm())
	}
	data, err := s.contents.get(to.Hash)
	if err != nil {
		return err
	}
	// An editor may not save, and then the file would still be missing.
	if !from.isFile() || !s.editor.writes() || !isText(data) {
		return at.write(step.Path, data, to.perm())
	}
	if from.perm()&0o200 == 0 {
		if err := at.roots.Chmod(step.Path, from.perm()|0o200); err != nil {
			return err
		}
	}
	if err := s.editor.FS.WriteFile(ctx, step.Path, string(data)); err != nil {
		return err
	}
	return at.roots.Chmod(step.Path, to.perm())
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
		return nil, "", ignoreMissing(err)
	}
	message = s.recoverOthers(ctx)
	s.recoverTurns(ctx)
	var j journal
	if ok, err := readJSON(s.doneFile(), &j); ok || err != nil {
		return j.Mark, "A rewind was interrupted after it had restored the files. It is now complete.", err
	}
	ok, err := readJSON(s.runningFile(), &j)
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
		if ok, err := readJSON(file, &j); !ok || err != nil {
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
	var steps []Step
	var left []string
	at := newWriter(s.Roots, j.ID)
	defer at.close()
	r := s.reader()
	defer r.close()
	for _, path := range slices.Sorted(maps.Keys(j.Files)) {
		at.removeTemporary(path)
		c, now := j.Files[path], s.current(ctx, r, path)
		switch {
		case !differs(now, c.Before):
		case differs(now, c.After) && now.exists() && !now.isDir():
			left = append(left, s.Roots.Rel(path))
		default:
			steps = append(steps, Step{Path: path, From: now, To: c.Before})
		}
	}
	r.close()
	failed := s.restore(ctx, j.ID, steps)
	for path, err := range failed {
		left = append(left, fmt.Sprintf("%s (%v)", s.Roots.Rel(path), workspace.Cause(err)))
	}
	message := "A rewind was interrupted. The files are as they were before it."
	if len(left) > 0 {
		slices.Sort(left)
		message += fmt.Sprintf(" Not restored: %s.", joinNames(left))
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
		var before index
		if ok, _ := readJSON(s.openFile(p.Seq), &before); ok {
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
			if c := p.Files[path]; !c.After.exists() && !c.Unsure { // the call may not have ended
				c.After, c.Unsure = r.state(path), true
				p.Files[path] = c
			}
		}
		r.close()
		p.Open = ""
		s.save(p)
	}
}

// joinNames joins names for a message, at most ten.
func joinNames(names []string) string {
	const most = 10
	more := ""
	if n := len(names) - most; n > 0 {
		names, more = names[:most], fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(names, ", ") + more
}
