package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/permission/approval"
	"github.com/zeph-acp/zeph-acp/executors/process"
	"github.com/zeph-acp/zeph-acp/executors/tools/lsp/client"
)

// idleTime is how long a server runs without an edit of one of its files. The next edit
// starts it again.
const idleTime = 30 * time.Minute

// maxStarts is how often a server that ends by itself is started.
const maxStarts = 3

// maxLate is how many reports in a row may be late before edits no longer wait for the
// server.
const maxLate = 3

// server is a server of one folder.
type server struct {
	entry   Entry
	folder  string
	program string // absolute

	starting sync.Mutex // held while it is started

	mu         sync.Mutex
	running    *client.Server // nil if it does not run
	starts     int
	offReason  string       // why it is not started; "" if it is
	lastStep   *client.Step // of the last edit
	lateInARow int          // reports in a row that came too late
	idle       *time.Timer  // ends the server
	users      int          // edits that use it

	files           stamps // of the project before the last command, for Session.watching; nil if none ran
	changesExpected bool   // a command has run since files was recorded
	open            stamps // of open documents when their text was sent; for Session.watching
}

// serverFor returns the server of a file, for use until [Session.release]. If there is none, it
// starts one with the user's approval; it returns nil without it.
func (s *Session) serverFor(ctx context.Context, path string) *server {
	entry, program, folder := s.entryFor(path)
	if program == "" {
		return nil
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	key := entry.Name + "\x00" + folder
	srv := s.used[key]
	if srv == nil {
		srv = &server{entry: entry, folder: folder, program: program}
		s.used[key] = srv
	}
	s.mu.Unlock()
	srv.starting.Lock()
	defer srv.starting.Unlock()
	if srv.offReason == "" && srv.client() == nil {
		s.start(ctx, srv)
	}
	if srv.client() == nil {
		return nil
	}
	srv.mu.Lock()
	defer srv.mu.Unlock()
	srv.users++
	return srv
}

// client returns the running server; nil if it does not run.
func (srv *server) client() *client.Server {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	if srv.running == nil {
		return nil
	}
	select {
	case <-srv.running.Ended():
		return nil
	default:
		return srv.running
	}
}

// start starts a server, if the user agrees.
func (s *Session) start(ctx context.Context, srv *server) {
	name := srv.entry.Name
	if srv.running != nil { // it has ended
		err := srv.running.Err()
		srv.running.Close()
		s.options.Log.Warn("language server", "server", name, "err", s.options.Mask(fmt.Sprint(err)))
		if srv.starts >= maxStarts || !srv.running.Loaded() {
			s.disable(srv, fmt.Sprint(err))
			s.options.Warn(executors.Shown(fmt.Sprintf("The language server %s is not used in this session: %s.", name,
				strings.TrimSuffix(srv.offReason, "."))))
			return
		}
	}
	subject := s.subject(srv)
	if s.options.Desk.Ask == nil && s.options.Desk.State(subject) != approval.Approved {
		s.disable(srv, "no user could be asked whether it may run")
		s.options.Warn(fmt.Sprintf("The language server %s was not started, since no user could be asked whether it may run in this project; docs/code.md describes the approval.", name))
		return
	}
	if !s.options.Desk.Allowed(ctx, subject) {
		if ctx.Err() == nil {
			s.disable(srv, "you did not allow it")
		}
		return
	}
	if err := s.launch(srv); err != nil {
		s.disable(srv, err.Error())
		s.options.Warn(executors.Shown(fmt.Sprintf("The language server %s was not started: %s", name, srv.offReason)))
	}
}

// logLine returns a function that logs the lines of a server's stderr.
func (s *Session) logLine(server string) func(line string) {
	mask := s.options.Mask
	if s.options.MaskLines != nil {
		mask = s.options.MaskLines()
	}
	return func(line string) { s.options.Log.Info("language server", "server", server, "line", mask(line)) }
}

// disable records why a server is not started again.
func (s *Session) disable(srv *server, why string) {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	srv.offReason = executors.OneLine(s.options.Mask(why))
}

// launch starts the program of a server.
func (s *Session) launch(srv *server) error {
	name := srv.entry.Name
	running, err := client.Start(client.Options{
		Program: process.Program{Path: srv.program, Args: srv.entry.Args, Env: s.options.Env(), Dir: srv.folder, Reaper: s.options.Reaper},
		Folder:  srv.folder, Version: s.options.Version, Timeouts: s.options.Timeouts, QuietOnClean: srv.entry.quietOnClean,
		Init: json.RawMessage(srv.entry.InitOptions), Settings: json.RawMessage(srv.entry.Settings),
		Log: s.logLine(name),
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		go running.Close()
		return context.Canceled
	}
	srv.mu.Lock()
	defer srv.mu.Unlock()
	srv.running, srv.lastStep, srv.lateInARow, srv.open = running, nil, 0, nil
	srv.starts++
	srv.idle = time.AfterFunc(s.options.Idle, srv.endIdle)
	return nil
}

// endIdle ends a server that was not used for a while.
func (srv *server) endIdle() {
	srv.starting.Lock()
	defer srv.starting.Unlock()
	srv.mu.Lock()
	running, busy := srv.running, srv.users > 0
	if !busy {
		srv.running = nil
		srv.starts--
	}
	srv.mu.Unlock()
	if running != nil && !busy {
		running.Close()
	}
}

// release ends the use of a server that [Session.serverFor] returned.
func (s *Session) release(srv *server) {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	srv.users--
	srv.idle.Reset(s.options.Idle)
}

// subject returns the server as the user approves it. A program of the project is
// approved with its content.
func (s *Session) subject(srv *server) approval.Subject {
	shown, _ := json.MarshalIndent(struct {
		Program string   `json:"program"`
		Args    []string `json:"args,omitempty"`
		Note    string   `json:"note"`
	}{srv.program, srv.entry.Args, "It reads the project, and may run its build scripts. Its errors are added to the results of edits."}, "", "  ")
	subject := approval.Subject{What: "the language server " + srv.entry.Name, Dir: s.options.Roots.Cwd(), Text: string(shown)}
	if s.options.Roots.Contains(srv.program) {
		hash, err := s.options.Hash(srv.program)
		subject.Covers = []string{cmp.Or(hash, fmt.Sprint(err))}
	}
	return subject
}

// state says in words, for the user, whether the server runs.
func (srv *server) state() string {
	running := srv.client()
	srv.mu.Lock()
	defer srv.mu.Unlock()
	switch {
	case srv.offReason != "":
		return "is off: " + srv.offReason
	case running == nil:
		return "does not run"
	case !running.Loaded():
		return "is starting"
	case srv.lateInARow >= maxLate:
		return "runs, but is too slow to be waited for"
	}
	return "runs"
}
