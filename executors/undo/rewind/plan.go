package rewind

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/undo"
)

// Plan lists the steps to another state of the files. Apply makes them.
type Plan struct {
	ID      string   // of the rewind
	Steps   []Step   // by path; without the files that need no change
	Gaps    []string // why changes may be missing
	session *Session
	record  journal
}

// Step is the restoration of one entry.
type Step struct {
	undo.Step
	// Conflict says how the present state differs from the agent's; empty if it is equal.
	Conflict string
	// Unrestorable says why the entry cannot be restored; empty if it can be.
	Unrestorable string
}

// Verb is the change of the entry: "restore", "remove" or "create".
func (s Step) Verb() string {
	switch {
	case !s.To.Exists():
		return "remove"
	case !s.From.Exists():
		return "create"
	}
	return "restore"
}

// ErrDropped means that the files of a turn are no longer kept.
var ErrDropped = errors.New("the files of that turn are no longer kept")

// Changed returns the number of files that each turn changed, by the turn's number. The
// number is -1 for a turn whose files are no longer kept.
func (s *Session) Changed() (map[int]int, error) {
	found := map[int]int{}
	if s == nil {
		return found, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	applied, err := s.applied()
	for _, p := range applied {
		found[p.Turn] = len(p.changed())
	}
	for turn := range s.droppedTurn() {
		found[turn+1] = -1
	}
	return found, err
}

// applied returns the points whose changes were not rewound.
func (s *Session) applied() ([]*point, error) {
	applied, _, err := s.appliedAndRewound()
	return applied, err
}

// appliedAndRewound returns the points whose changes were not rewound, and those that were, with
// the files that their rewind did not restore.
func (s *Session) appliedAndRewound() (applied, left []*point, err error) {
	all, err := s.points()
	if err != nil || len(all) == 0 {
		return nil, nil, err
	}
	gone, restored := map[int]bool{}, map[string]bool{}
	rewinds, err := s.rewinds()
	for _, r := range rewinds {
		for _, seq := range r.Points {
			gone[seq] = true
		}
		for path := range r.Files {
			restored[path] = true
		}
	}
	for _, p := range all {
		if !gone[p.Seq] {
			applied = append(applied, p)
			continue
		}
		maps.DeleteFunc(p.Files, func(path string, _ change) bool { return restored[path] })
		left = append(left, p)
	}
	return applied, left, err
}

// PlanRewind plans the way back to the files before a turn. id names the rewind.
func (s *Session) PlanRewind(ctx context.Context, turn int, id string) (*Plan, error) {
	if s == nil {
		return nil, errors.New("no files are kept (tools.rewind.enabled)")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	applied, left, err := s.appliedAndRewound()
	if err != nil {
		return nil, err
	}
	if turn <= s.droppedTurn() {
		return nil, ErrDropped
	}
	p := &Plan{ID: id, session: s, record: journal{ID: id}}
	ways := map[string]*combinedChange{}
	for i, at := range slices.Concat(applied, left) {
		if at.Turn < turn {
			continue
		}
		for path, c := range at.Files {
			ways[path] = ways[path].add(c)
		}
		if i >= len(applied) { // an earlier rewind has it
			continue
		}
		p.record.Points = append(p.record.Points, at.Seq)
		for _, why := range at.Gaps {
			p.Gaps = append(p.Gaps, fmt.Sprintf("turn %d: some of its changes are not covered: %s", at.Turn, why))
		}
	}
	p.setSteps(ctx, ways)
	return p, nil
}

// combinedChange is the combined change of one entry over several turns.
type combinedChange struct {
	first, last undo.State
	conflict    string
}

// add adds the change of the next turn, which may be the first one.
func (w *combinedChange) add(c change) *combinedChange {
	if w == nil {
		w = &combinedChange{first: c.Before}
	} else if w.last.Differs(c.Before) {
		w.conflict = "it was changed between the turns"
	}
	if c.Unsure {
		w.conflict = "it may have been changed after the agent was stopped"
	}
	w.last = c.After
	return w
}

// setSteps sets the steps of the plan from the combined changes and the present state of
// the files.
func (p *Plan) setSteps(ctx context.Context, ways map[string]*combinedChange) {
	r := p.session.reader()
	defer r.Close()
	for _, path := range slices.Sorted(maps.Keys(ways)) {
		w := ways[path]
		step := Step{
			Step:         undo.Step{Path: path, From: p.session.current(ctx, r, path), To: w.first},
			Unrestorable: w.first.Unrestorable(),
		}
		if !step.From.Differs(step.To) {
			continue
		}
		if step.From.IsDir() && step.To.IsDir() && step.From.Mode == step.To.Mode {
			continue
		}
		step.Conflict = w.conflict
		if step.From.Differs(w.last) && !(step.From.IsDir() && (w.last.IsDir() || step.To.IsDir())) {
			step.Conflict = "it is not as the agent left it"
		}
		p.Steps = append(p.Steps, step)
	}
}

// current returns the present state of a path, with the text of the editor if it
// has one.
func (s *Session) current(ctx context.Context, r *undo.Reader, path string) undo.State {
	state := r.State(path)
	if !s.editor.reads() || !state.IsFile() || state.Hash == "" {
		return state
	}
	data, err := undo.Read(s.store, state.Hash)
	if err != nil || !undo.IsText(data) {
		return state
	}
	if text, err := s.editor.FS.ReadFile(ctx, path); err == nil && text != string(data) {
		return s.withText(state, text)
	}
	return state
}

// PlanRedo plans the way forward to the files before a rewind.
func (s *Session) PlanRedo(ctx context.Context, id string) (*Plan, error) {
	if s == nil {
		return nil, errors.New("no files are kept (tools.rewind.enabled)")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := &Plan{ID: id, session: s, record: journal{ID: id, Redo: true}}
	var done journal
	ok, err := undo.ReadJSON(s.rewindFile(id), &done)
	if err != nil || !ok { // the rewind concerned the conversation alone
		return p, err
	}
	ways := map[string]*combinedChange{}
	for path, c := range done.Files {
		ways[path] = (*combinedChange)(nil).add(change{Before: c.Before, After: c.After})
	}
	p.setSteps(ctx, ways)
	return p, nil
}

// Conflicts returns the steps for files that have changed since the agent's last change.
func (p *Plan) Conflicts() []Step {
	return p.filter(func(s Step) bool { return s.Conflict != "" && s.Unrestorable == "" })
}

// WithoutConflict returns the steps that Apply makes without force.
func (p *Plan) WithoutConflict() []Step {
	return p.filter(func(s Step) bool { return s.Conflict == "" && s.Unrestorable == "" })
}

// Unrestorable returns the steps that cannot be made.
func (p *Plan) Unrestorable() []Step {
	return p.filter(func(s Step) bool { return s.Unrestorable != "" })
}

func (p *Plan) filter(is func(Step) bool) []Step {
	if p == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.Steps), func(s Step) bool { return !is(s) })
}

func (s *Session) rewindFile(id string) string {
	return filepath.Join(s.dir, "rewind-"+sessionDir(id)+".json")
}

// rewinds returns the rewinds that can be undone.
func (s *Session) rewinds() ([]journal, error) {
	names, err := filepath.Glob(filepath.Join(s.dir, "rewind-*.json"))
	var all []journal
	for _, name := range names {
		var j journal
		if ok, e := undo.ReadJSON(name, &j); ok {
			all = append(all, j)
		} else if err == nil {
			err = e
		}
	}
	return all, err
}

// forgetRewinds makes the rewinds final, since the files have changed again. The points
// that they undid are removed too.
func (s *Session) forgetRewinds() {
	rewinds, err := s.rewinds()
	if err != nil {
		s.Log.Warn("a rewind cannot be read", "session", s.Session, "err", err)
	}
	for _, r := range rewinds {
		for _, seq := range r.Points {
			os.Remove(s.pointFile(seq))
		}
		os.Remove(s.rewindFile(r.ID))
	}
}

// Rel returns the path of a step for people.
func (p *Plan) Rel(s Step) string { return p.session.rel(s.Path) }

func (s *Session) rel(path string) string { return strings.TrimSuffix(s.Roots.Rel(path), "/") }
