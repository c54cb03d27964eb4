package rewind

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/files/walk"
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
	paths, all := s.touches(call)
	if len(paths) == 0 && !all {
		return l.Executor.Execute(ctx, call)
	}
	seen := s.keepBefore(ctx, paths, all)
	res, err := l.Executor.Execute(ctx, call)
	s.recordAfter(context.WithoutCancel(ctx), seen)
	return res, err
}

// touched are the paths of a running call.
type touched struct {
	paths       []string
	firstChange map[string]bool // whose state before the call is the state before the turn
}

// touches returns the paths that a call may change. all reports that it may change any
// file.
func (s *Session) touches(call *executors.Call) (paths []string, all bool) {
	switch {
	case call.Spec.Effect&executors.Mutates == 0:
		return nil, false
	case call.Card.Command == "":
		return call.Card.Paths, false
	case call.Judged != nil && call.Judged.ReadOnly:
		return nil, false
	}
	return s.Writes(call.Card.Command)
}

// keepBefore keeps the present state of the files before a call, and returns those to
// compare after it.
func (s *Session) keepBefore(ctx context.Context, paths []string, all bool) touched {
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
	if all {
		s.surveyBefore(ctx, p)
		s.commandRan = true
		s.save(p)
		return touched{}
	}
	call := touched{s.entryPaths(paths), map[string]bool{}}
	r := s.reader()
	defer r.close()
	for _, path := range call.paths {
		s.keepTree(ctx, r, p, path, call.firstChange)
	}
	s.editor.begin()
	s.save(p)
	return call
}

// entryPaths returns the paths without links. For a path that does not exist it also
// returns the first missing directory.
func (s *Session) entryPaths(paths []string) []string {
	roots := s.Roots.Writing()
	var all []string
	add := func(path string) {
		if !roots.Contains(path) || roots.InGit(path) {
			return
		}
		all = append(all, path)
		for at := filepath.Dir(path); roots.Contains(at); at = filepath.Dir(at) {
			if _, err := roots.Lstat(at); !missing(err) {
				break
			}
			all = append(all, at)
		}
	}
	for _, path := range paths {
		if full, err := roots.Resolve(path); err == nil {
			add(full)
		}
		if entry, err := roots.ResolveEntry(filepath.Clean(path)); err == nil {
			add(entry)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// keepTree records the state of a path, and of everything below it, before its first
// change in the turn. It sets firstChange for the paths whose present state that is.
func (s *Session) keepTree(ctx context.Context, r *reader, p *point, path string, firstChange map[string]bool) {
	add := func(abs string) {
		if _, ok := p.Files[abs]; !ok {
			before, now := s.stateBefore(ctx, r, p, abs)
			p.Files[abs], firstChange[abs] = change{Before: before}, now
		}
	}
	add(path)
	s.walkBelow(ctx, path, add)
}

// stateBefore returns the state of a path before the turn. now reports whether that is
// the present one.
func (s *Session) stateBefore(ctx context.Context, r *reader, p *point, path string) (state State, now bool) {
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
	return r.state(path), true
}

// withContent returns the state of a file with that content, which it keeps. A content
// that cannot be kept can still be compared.
func (s *Session) withContent(state State, data []byte) State {
	hash, err := s.contents.put(data)
	state.Hash, state.Size, state.NotKept = hash, int64(len(data)), ""
	if err != nil {
		state.NotKept = "its content could not be kept: " + workspace.Cause(err).Error()
	}
	return state
}

// walkBelow calls visit for the entries below a directory that no ignore file
// excludes.
func (s *Session) walkBelow(ctx context.Context, dir string, visit func(abs string)) {
	info, err := s.Roots.Writing().Lstat(dir)
	if err != nil || !info.IsDir() {
		return
	}
	tree := walk.Tree{Roots: s.Roots.Writing(), Dir: dir, Ignore: true, Budget: s.Config.MaxFiles}
	all := func() walk.Visit[string] {
		return func(e walk.Entry, _ func() bool) (string, bool, error) { return e.Path(), true, nil }
	}
	_, err = walk.Do(ctx, tree, all, func(p string) int { return len(p) }, func(p string) bool {
		visit(filepath.Join(dir, filepath.FromSlash(p)))
		return true
	})
	if err != nil {
		s.Log.Debug("look below a directory", "session", s.Session, "err", err)
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
	defer r.close()
	for _, path := range call.paths {
		s.walkBelow(ctx, path, func(abs string) {
			if _, ok := p.Files[abs]; !ok { // a copy, or the place of a move
				p.Files[abs] = change{}
			}
		})
	}
	for _, path := range p.paths() {
		if !slices.ContainsFunc(call.paths, func(top string) bool { return workspace.Within(top, path) }) {
			continue
		}
		c := p.Files[path]
		c.After = r.state(path)
		if w, ok := written[path]; ok {
			c = s.withEditorTexts(path, c, w, call.firstChange[path])
		}
		p.Files[path] = c
	}
	s.save(p)
}

// surveyBefore keeps the files of the session's directories before the first
// command of a turn that may change any of them.
func (s *Session) surveyBefore(ctx context.Context, p *point) {
	if s.before != nil {
		return
	}
	err := s.surveyErr
	if s.Config.MaxFiles == 0 {
		err = errors.New("tools.rewind.max_files is 0")
	}
	if err == nil {
		var found index
		if found, err = s.survey(ctx, s.loadIndex()); err == nil {
			s.before = found
			err = s.keepIndex(found, s.openFile(p.Seq))
		}
		if err != nil && ctx.Err() == nil {
			s.surveyErr = err // another attempt would take as long
		}
	}
	if err != nil && !slices.Contains(p.Gaps, err.Error()) {
		p.Gaps = append(p.Gaps, err.Error())
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
		s.point.Gaps = append(s.point.Gaps, err.Error())
		return
	}
	if err := s.keepIndex(now, ""); err != nil {
		s.Log.Warn("the survey of a workspace cannot be kept", "session", s.Session, "err", err)
	}
	s.compare(s.point, s.before, now, false)
}

// compare adds the differences of two surveys to a point. A file that an earlier
// comparison found may have its original state again.
func (s *Session) compare(p *point, before, now index, unsure bool) {
	paths := changes(before, now)
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
