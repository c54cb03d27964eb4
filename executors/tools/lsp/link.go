package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/tools/diagnostics"
	"github.com/zeph-acp/zeph-acp/executors/tools/lsp/client"
)

// edit is a running call that changes files, and the servers that are asked about it.
type edit struct {
	began  time.Time     // of the wait for servers before the change
	waited time.Duration // before the change
	files  []file
	inUse  []*server // to be released after the call
	ran    bool      // the call has changed the files
}

// file is a file of an edit.
type file struct {
	path    string
	existed bool
	server  *server // nil if none serves it
}

// Around adds the report on an edit to its result. It adds no link if s is nil.
func (s *Session) Around(next executors.Executor) executors.Executor {
	if s == nil {
		return next
	}
	return reportLink{next, s}
}

type reportLink struct {
	executors.Executor
	session *Session
}

func (l reportLink) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	if !isEdit(call) {
		return l.Executor.Execute(ctx, call)
	}
	e := &edit{}
	defer func() {
		for _, srv := range e.inUse {
			l.session.release(srv)
		}
	}()
	call.Edit = e
	res, err := l.Executor.Execute(ctx, call)
	if err != nil || !e.ran || len(e.files) == 0 {
		return res, err
	}
	res.Below(l.session.checkEdit(ctx, call, e))
	return res, nil
}

// isEdit reports whether a call changes files that it names.
func isEdit(call *executors.Call) bool {
	if !call.Spec.Effect.Has(executors.Mutates) || call.Card.Command() != "" || call.Skipped != nil {
		return false
	}
	switch call.Card.Kind {
	case executors.KindEdit, executors.KindDelete, executors.KindMove:
		return len(call.Card.Paths) > 0
	}
	return false
}

// Within reports the files of an edit to servers before it runs. It adds no link if s is
// nil.
func (s *Session) Within(next executors.Executor) executors.Executor {
	if s == nil {
		return next
	}
	return openLink{next, s}
}

type openLink struct {
	executors.Executor
	session *Session
}

func (l openLink) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	e, _ := call.Edit.(*edit)
	if e == nil {
		if mayChange(call) {
			l.session.ExpectChanges(ctx)
		}
		return l.Executor.Execute(ctx, call)
	}
	l.session.openFiles(ctx, call, e)
	res, err := l.Executor.Execute(ctx, call)
	e.ran = err == nil && !res.Failed
	return res, err
}

// openFiles opens the files of an edit at their servers.
func (s *Session) openFiles(ctx context.Context, call *executors.Call, e *edit) {
	var steps []*client.Step
	wait := false
	for _, path := range call.Card.Paths {
		f := file{path: path, existed: s.exists(path)}
		if call.Card.Kind == executors.KindEdit {
			f.server = s.serverFor(ctx, path)
		}
		if f.server != nil {
			e.inUse = append(e.inUse, f.server)
			step, err := s.openFile(ctx, f)
			if step != nil {
				wait = f.server.worthWaiting() || wait
				steps = append(steps, step)
			}
			if err != nil {
				f.server = nil
			}
		}
		if f.server != nil || len(s.running()) > 0 {
			e.files = append(e.files, f)
		}
	}
	s.catchUp(ctx, e)
	e.began = time.Now()
	if wait {
		awaitSteps(ctx, steps, s.wait()/2)
	}
	e.waited = time.Since(e.began)
}

func (s *Session) wait() time.Duration { return time.Duration(s.options.WaitMS) * time.Millisecond }

// openFile reports to the server of a file its text before the edit. The step is nil if
// the server does not run.
func (s *Session) openFile(ctx context.Context, f file) (step *client.Step, err error) {
	text := ""
	if f.existed {
		if text, err = s.sourceText(ctx, f.path); err != nil {
			return nil, err
		}
	}
	running := f.server.client()
	if running == nil {
		return nil, nil
	}
	f.server.countLate(s.wait())
	return running.Before(f.path, f.server.entry.language(f.path), text, f.existed), nil
}

// countLate counts how many reports in a row took longer than an edit waits.
func (srv *server) countLate(wait time.Duration) {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	if srv.lastStep == nil {
		return
	}
	if took, ok := srv.lastStep.Took(); !ok || took > wait {
		srv.lateInARow++
	} else {
		srv.lateInARow = 0
	}
}

// worthWaiting reports whether an edit waits for the server: it answered the last edits in
// time. Only the first edit waits for a server that still loads the project.
func (srv *server) worthWaiting() bool {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	return srv.lateInARow < maxLate && (srv.lastStep == nil || srv.running.Loaded())
}

// awaitSteps waits until all steps are done, maxWait is over or ctx ends.
func awaitSteps(ctx context.Context, steps []*client.Step, maxWait time.Duration) {
	if len(steps) == 0 || maxWait <= 0 {
		return
	}
	timer := time.NewTimer(maxWait)
	defer timer.Stop()
	for _, step := range steps {
		select {
		case <-step.Done():
		case <-timer.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// running returns the running servers.
func (s *Session) running() []*client.Server {
	var out []*client.Server
	for _, srv := range s.all() {
		if running := srv.client(); running != nil {
			out = append(out, running)
		}
	}
	return out
}

func (s *Session) exists(path string) bool {
	_, err := s.options.Roots.Lstat(path)
	return err == nil
}

// maxText bounds the files that are checked, in bytes. Servers are too slow for larger ones.
const maxText = 2 << 20

var errNoSource = errors.New("not a source file")

// sourceText returns the text of a file for its server.
func (s *Session) sourceText(ctx context.Context, path string) (string, error) {
	text, err := s.options.Read(ctx, path)
	if err == nil && (len(text) > maxText || !utf8.ValidString(text) || strings.ContainsRune(text, 0)) {
		err = errNoSource
	}
	return text, err
}

// checkEdit makes the call that checks an edit, and returns its text.
func (s *Session) checkEdit(ctx context.Context, of *executors.Call, e *edit) string {
	s.announce(e)
	var in checkInput
	for _, f := range e.files {
		if f.server != nil && s.exists(f.path) {
			in.Paths = append(in.Paths, f.path)
		}
	}
	if len(in.Paths) == 0 {
		return ""
	}
	input, err := json.Marshal(in)
	if err != nil {
		return ""
	}
	call := &executors.Call{
		ID: s.options.NewID(), Tool: diagnostics.Tool, Input: input, Session: of.Session, Caller: of.Caller,
		Origin: executors.Agent, Phase: executors.PhaseVerifier, Attempt: 1, UserWords: of.UserWords,
		Record: &executors.Record{}, Notify: func(executors.Event) {}, OwnState: executors.OwnState{Edit: e},
	}
	call.Card, call.PrepareErr = s.Check.Prepare(ctx, call)
	res, err := s.Check.Execute(ctx, call)
	if err != nil || res.Failed {
		return ""
	}
	return res.ForModel()
}

// announce reports to all servers that files were made, changed or deleted.
func (s *Session) announce(e *edit) {
	var changes []client.Change
	for _, f := range e.files {
		switch exists := s.exists(f.path); {
		case !exists && f.existed:
			changes = append(changes, client.Change{Path: f.path, Kind: client.Deleted})
		case exists && f.existed:
			changes = append(changes, client.Change{Path: f.path, Kind: client.Changed})
		case exists:
			changes = append(changes, client.Change{Path: f.path, Kind: client.Created})
		}
	}
	for _, running := range s.running() {
		running.FilesChanged(changes)
	}
}
