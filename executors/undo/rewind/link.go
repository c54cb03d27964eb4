package rewind

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/undo"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// Middleware records the changes that calls make. It adds no link if s is nil.
func (s *Session) Middleware(next executors.Executor) executors.Executor {
	if s == nil {
		return next
	}
	return link{next, s}
}

type link struct {
	executors.Executor
	session *Session
}

// Execute keeps the files that a call may change, and records their state
// afterwards. A call whose files cannot be kept runs anyway.
func (l link) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	s := l.session
	changed := s.touches(call)
	if len(changed.paths) == 0 && !changed.all {
		return l.Executor.Execute(ctx, call)
	}
	seen := s.keepBefore(ctx, changed)
	res, err := l.Executor.Execute(ctx, call)
	s.recordAfter(context.WithoutCancel(ctx), seen)
	return res, err
}

// effect is the part of the workspace that a call may change.
type effect struct {
	paths []string // absolute
	trees []string // the subset of paths that are whole trees: everything below may change too
	all   bool     // it may change any file
}

// touches returns the part of the workspace that a call may change.
func (s *Session) touches(call *executors.Call) (e effect) {
	switch {
	case call.Spec.Effect&executors.Mutates == 0:
	case call.Card.Changes != nil && len(call.Card.Changes) == 0: // it changes nothing
	case call.Card.Script == nil:
		e.paths = call.Card.Paths
		if call.Card.NoFollow { // a directory is moved, copied or deleted with everything in it
			e.trees = e.paths
		}
	case call.Plain != nil && call.Plain.ReadOnly:
	default:
		e.paths, e.trees, e.all = s.Writes(call.Card.Script)
	}
	return e
}

// touched are the paths of a running call, without links.
type touched struct {
	paths, trees []string
	firstChange  map[string]bool // whose state before the call is the state before the turn
}

// keepBefore keeps the present state of the files before a call, and returns those to
// compare after it.
func (s *Session) keepBefore(ctx context.Context, e effect) touched {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.turn == 0 {
		return touched{}
	}
	p, err := s.ensurePoint()
	if err != nil {
		s.Log.Warn("the files before a call cannot be kept", "session", s.Session, "err", err)
		return touched{}
	}
	if e.all {
		s.surveyBefore(ctx, p)
		s.commandRan = true
		s.save(p)
		return touched{}
	}
	call := touched{undo.Targets(s.Roots, e.paths), undo.Targets(s.Roots, e.trees), map[string]bool{}}
	s.keepFiles(ctx, p, call)
	s.editor.begin()
	s.save(p)
	return call
}

// keepFiles records the state of the files of a call before their first change in the
// turn.
func (s *Session) keepFiles(ctx context.Context, p *point, call touched) {
	r := s.reader()
	defer r.Close()
	r.Left = s.Limits.MaxBytes - p.kept
	add := func(abs string) {
		if !p.has(abs) {
			before, now := s.stateBefore(ctx, r, p, abs)
			p.Files[abs], call.firstChange[abs] = change{Before: before}, now
		}
	}
	for _, path := range call.paths {
		add(path)
	}
	var below []string
	var size int64
	for _, dir := range call.trees {
		s.listBelow(ctx, p, dir, func(path string, e undo.Entry) {
			if !p.has(path) {
				below, size = append(below, path), size+s.sizeToKeep(e)
			}
		})
	}
	r.Full = size > r.Left
	for _, path := range below {
		add(path)
	}
	p.kept = s.Limits.MaxBytes - r.Left
}

// sizeToKeep returns how many bytes the content of a file in a tree would take. If there is no room for all
// of them, none is kept: copying a part of a large tree would take long, and would push out the older turns.
func (s *Session) sizeToKeep(e undo.Entry) int64 {
	if e.Size > s.Limits.MaxFileBytes {
		return 0
	}
	return e.Size
}

// stateBefore returns the state of a path before the turn. now reports whether that is
// the present one.
func (s *Session) stateBefore(ctx context.Context, r *undo.Reader, p *point, path string) (state undo.State, now bool) {
	if s.before != nil {
		if e, ok := s.before[path]; ok {
			return e.State, false
		}
		if s.commandRan { // a command of this turn may have made it
			s.recordCommands(ctx)
			if c, ok := p.Files[path]; ok {
				return c.Before, false
			}
		}
	}
	return r.State(path), true
}

// listBelow calls each for the entries below a directory that no ignore file excludes.
func (s *Session) listBelow(ctx context.Context, p *point, dir string, each func(path string, e undo.Entry)) {
	limits, n := s.Limits.ForNamed(), 0
	survey := undo.Survey{Roots: s.Roots.Writing(), Ignore: true}
	_, err := survey.List(ctx, dir, func(path string, e undo.Entry) bool {
		if n++; n <= limits.MaxFiles {
			each(path, e)
		}
		return n <= limits.MaxFiles
	})
	if err != nil {
		s.Log.Debug("look below a directory", "session", s.Session, "err", err)
	}
	if n > limits.MaxFiles {
		p.addGap(fmt.Sprintf("%s: %v", executors.OneLine(s.Roots.Rel(dir)), limits.TooManyFiles()))
	}
}

// recordAfter records the state of the files after a call.
func (s *Session) recordAfter(ctx context.Context, call touched) {
	if len(call.paths) == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	written := s.editor.end()
	p := s.point
	if p == nil {
		return
	}
	r := s.reader()
	defer r.Close()
	r.Left = s.Limits.MaxBytes
	var size int64
	for _, dir := range call.trees {
		s.listBelow(ctx, p, dir, func(path string, e undo.Entry) {
			if size += s.sizeToKeep(e); !p.has(path) { // a copy, or the place of a move
				p.Files[path] = change{}
			}
		})
	}
	r.Full = size > r.Left
	for _, path := range p.paths() {
		if !call.mayChange(path) {
			continue
		}
		c := p.Files[path]
		c.After = r.State(path)
		if w, ok := written[path]; ok {
			c = s.withEditorTexts(path, c, w, call.firstChange[path])
		}
		p.Files[path] = c
	}
	s.save(p)
}

// mayChange reports whether the call may change a path.
func (t touched) mayChange(path string) bool {
	if _, ok := slices.BinarySearch(t.paths, path); ok {
		return true
	}
	return slices.ContainsFunc(t.trees, func(top string) bool { return workspace.Within(top, path) })
}

// surveyBefore keeps the files of the session's directories before the first
// command of a turn that may change any of them.
func (s *Session) surveyBefore(ctx context.Context, p *point) {
	if s.before != nil {
		return
	}
	err := s.surveyErr
	if s.Limits.MaxFiles == 0 {
		err = errors.New("tools.undo.max_files is 0")
	}
	if err == nil {
		var found undo.Index
		if found, err = s.survey(ctx, s.loadIndex()); err == nil {
			s.before = found
			err = s.keepIndex(found, s.openFile(p.Seq))
		}
		if err != nil && ctx.Err() == nil {
			s.surveyErr = err // another attempt would take as long
		}
	}
	if err != nil {
		p.addGap(err.Error())
	}
}

// recordCommands records the changes of the commands so far; the caller holds s.mu.
func (s *Session) recordCommands(ctx context.Context) {
	if !s.commandRan || s.before == nil {
		return
	}
	s.commandRan = false
	now, err := s.survey(ctx, s.before)
	if err != nil {
		s.point.addGap(err.Error())
		return
	}
	if err := s.keepIndex(now, ""); err != nil {
		s.Log.Warn("the survey of a workspace cannot be kept", "session", s.Session, "err", err)
	}
	s.compare(s.point, s.before, now, false)
}

// compare adds the differences of two surveys to a point. A file that an earlier
// comparison found may have its original state again.
func (s *Session) compare(p *point, before, now undo.Index, unsure bool) {
	paths := before.Changes(now)
	for path := range s.foundBySurvey {
		paths = append(paths, path)
	}
	for _, path := range paths {
		c, ok := p.Files[path]
		if !ok {
			c.Before = before[path].State
		}
		c.After, c.Unsure = now[path].State, unsure
		p.Files[path], s.foundBySurvey[path] = c, true
	}
}
