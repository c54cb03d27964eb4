// Package lsp adds the errors that an edit brought to the edit's result, as language
// servers report them.
//
// Make a [Session] with [New]. Put [Session.Around] outside of the links that judge a
// call, and [Session.Within] inside of them; set [Session.Check] to a chain around
// [Session.Tools]. Close the session.
//
// It promises that an edit waits at most [Config].WaitMS for servers, and that no failure
// of a server fails an edit: a server that is missing, hangs, floods or dies costs only
// its lines. A server starts at the first edit of one of its files, and only after the
// user has agreed for the project. Without a server a call costs nothing.
//
// The check after an edit is a call of its own, of the tool "diagnostics" in the phase
// verifier, so that gates judge it and the audit log has it. Its text is masked like that
// of any tool.
//
// Why only new diagnostics? Because a model would begin to mend what it has not been
// asked for. Diagnostics that were there before the first edit of a file are never shown.
// One that comes too late for its edit is shown with the next one.
package lsp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/approval"
	"github.com/zeph-acp/zeph-acp/executors/lsp/client"
	"github.com/zeph-acp/zeph-acp/executors/shell/process"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// Options are the surroundings of a session.
type Options struct {
	Config
	Entries Entries
	Session string           // the ACP session id
	Roots   *workspace.Roots // of the file tools
	// Read returns the text of a file as the user sees it, unsaved changes included.
	Read func(ctx context.Context, path string) (string, error)
	Desk *approval.Desk
	// Find returns the absolute path of a program.
	Find func(name string) (string, error)
	// Hash returns the hash of a file of the project, by its absolute path.
	Hash     func(path string) (string, error)
	Env      func() []string // the environment of a server
	Reaper   *process.Reaper
	Patience client.Patience
	Idle     time.Duration       // after which an unused server ends; 0 means half an hour
	Mask     func(string) string // redacts secrets
	Warn     func(string)        // queues a line for the user
	Log      *slog.Logger
	NewID    func() string
	Version  string // of this program
}

// Session holds the language servers of one session. Its methods may be called
// concurrently.
type Session struct {
	o Options
	// Check is the chain of the calls that check an edit.
	Check executors.Executor

	watching sync.Mutex // held while files are compared

	begin   sync.Once
	entries Entries // set by begin

	mu     sync.Mutex
	found  map[string]string  // paths of programs, by their names; "" if it is not installed
	used   map[string]*server // by name and folder
	closed bool
}

// ready sets what only an edit needs.
func (s *Session) ready() {
	s.entries, s.found, s.used = s.o.Entries.All(), map[string]string{}, map[string]*server{}
}

// New returns the servers of a session; nil if they are off. No server is started.
func New(o Options) *Session {
	if !o.Enabled || o.Find == nil {
		return nil
	}
	o.Idle = cmp.Or(o.Idle, idleTime)
	return &Session{o: o}
}

// idleTime is how long a server runs without an edit of one of its files. The next edit
// starts it again.
const idleTime = 30 * time.Minute

// maxStarts is how often a server is started that ends by itself.
const maxStarts = 3

// maxLate is how many reports in a row a server may be late until it is no longer waited
// for.
const maxLate = 3

// server is a server of one folder.
type server struct {
	entry   Entry
	folder  string
	program string // absolute

	starting sync.Mutex // held while it is started

	mu      sync.Mutex
	running *client.Server // nil if it does not run
	starts  int
	off     string       // why it is not started; "" if it is
	last    *client.Step // of the last edit
	late    int          // reports in a row that came too late
	idle    *time.Timer  // ends the server
	busy    int          // edits that use it

	files   stamps // of the project before the last command, for Session.watching; nil if none ran
	foreign bool   // a command ran since
	open    stamps // of open documents when their text was sent; for Session.watching
}

// of returns the server of a file, for use until [Session.release]. If there is none, it
// starts one with the user's approval; it returns nil without it.
func (s *Session) of(ctx context.Context, path string) *server {
	entry, program, folder := s.entry(path)
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
	if srv.off == "" && srv.client() == nil {
		s.start(ctx, srv)
	}
	if srv.client() == nil {
		return nil
	}
	srv.mu.Lock()
	defer srv.mu.Unlock()
	srv.busy++
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

// entry returns the entry of a file, with the path of its program and the folder of its
// project; "" if there is none that is installed.
func (s *Session) entry(path string) (e Entry, program, folder string) {
	s.begin.Do(s.ready)
	for _, e := range s.entries {
		if !e.Enabled || !e.serves(path) {
			continue
		}
		if program := s.find(e.Command); program != "" {
			if folder := s.folder(e, path); folder != "" {
				return e, program, folder
			}
		}
	}
	return Entry{}, "", ""
}

// find returns the path of a program; "" if it is not installed.
func (s *Session) find(command string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	path, ok := s.found[command]
	if !ok {
		var err error
		if path, err = s.o.Find(command); err != nil || !filepath.IsAbs(path) {
			path = ""
		}
		s.found[command] = path
	}
	return path
}

// folder returns the directory of the project of a file: the session's directory that
// holds the file, or the nearest one below it with a marker. It returns "" if no
// directory has a marker.
func (s *Session) folder(e Entry, path string) string {
	marked := func(dir string) bool {
		return slices.ContainsFunc(e.Markers, func(name string) bool {
			_, err := s.o.Roots.Lstat(filepath.Join(dir, name))
			return err == nil
		})
	}
	nearest := ""
	for dir := filepath.Dir(path); s.o.Roots.Contains(dir); dir = filepath.Dir(dir) {
		if nearest == "" && marked(dir) {
			nearest = dir
		}
		if slices.Contains(s.o.Roots.Dirs(), dir) && (len(e.Markers) == 0 || marked(dir)) {
			return dir
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return nearest
}

// start starts a server, if the user agrees.
func (s *Session) start(ctx context.Context, srv *server) {
	name := srv.entry.Name
	if srv.running != nil { // it has ended
		err := srv.running.Err()
		srv.running.Close()
		s.o.Log.Warn("language server", "server", name, "err", s.o.Mask(fmt.Sprint(err)))
		if srv.starts >= maxStarts || !srv.running.Loaded() {
			s.stop(srv, fmt.Sprint(err))
			s.o.Warn(executors.Shown(fmt.Sprintf("The language server %s is not used in this session: %s.", name, strings.TrimSuffix(srv.off, "."))))
			return
		}
	}
	subject := s.subject(srv)
	if s.o.Desk.Ask == nil && s.o.Desk.State(subject) != approval.Approved {
		s.stop(srv, "nobody could be asked whether it may run")
		s.o.Warn(fmt.Sprintf("The language server %s was not started, since nobody could be asked whether it may run in this project; docs/lsp.md describes the approval.", name))
		return
	}
	if !s.o.Desk.Allowed(ctx, subject) {
		if ctx.Err() == nil {
			s.stop(srv, "you did not allow it")
		}
		return
	}
	if err := s.launch(srv); err != nil {
		s.stop(srv, err.Error())
		s.o.Warn(executors.Shown(fmt.Sprintf("The language server %s was not started: %s", name, srv.off)))
	}
}

// stop notes why a server is not started again.
func (s *Session) stop(srv *server, why string) {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	srv.off = executors.OneLine(s.o.Mask(why))
}

// launch starts the program of a server.
func (s *Session) launch(srv *server) error {
	name := srv.entry.Name
	running, err := client.Start(client.Options{
		Program: process.Program{Path: srv.program, Args: srv.entry.Args, Env: s.o.Env(), Dir: srv.folder, Reaper: s.o.Reaper},
		Folder:  srv.folder, Version: s.o.Version, Patience: s.o.Patience,
		Init: json.RawMessage(srv.entry.InitOptions), Settings: json.RawMessage(srv.entry.Settings),
		Log: func(line string) { s.o.Log.Info("language server", "server", name, "line", s.o.Mask(line)) },
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
	srv.running, srv.last, srv.late, srv.open = running, nil, 0, nil
	srv.starts++
	srv.idle = time.AfterFunc(s.o.Idle, srv.rest)
	return nil
}

// rest ends a server that was not used for a while.
func (srv *server) rest() {
	srv.starting.Lock()
	defer srv.starting.Unlock()
	srv.mu.Lock()
	running, busy := srv.running, srv.busy > 0
	if !busy {
		srv.running = nil
		srv.starts--
	}
	srv.mu.Unlock()
	if running != nil && !busy {
		running.Close()
	}
}

// release ends the use of a server that [Session.of] returned.
func (s *Session) release(srv *server) {
	srv.mu.Lock()
	defer srv.mu.Unlock()
	srv.busy--
	srv.idle.Reset(s.o.Idle)
}

// subject returns the server as the user approves it. A program of the project is
// approved with its content.
func (s *Session) subject(srv *server) approval.Subject {
	shown, _ := json.MarshalIndent(struct {
		Program string   `json:"program"`
		Args    []string `json:"args,omitempty"`
		Note    string   `json:"note"`
	}{srv.program, srv.entry.Args, "It reads the project, and may run its build scripts. Its errors are added to the results of edits."}, "", "  ")
	subject := approval.Subject{What: "the language server " + srv.entry.Name, Dir: s.o.Roots.Cwd(), Text: string(shown)}
	if s.o.Roots.Contains(srv.program) {
		hash, err := s.o.Hash(srv.program)
		subject.Covers = []string{cmp.Or(hash, fmt.Sprint(err))}
	}
	return subject
}

// all returns the servers that were used, sorted.
func (s *Session) all() []*server {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*server, 0, len(s.used))
	for _, srv := range s.used {
		out = append(out, srv)
	}
	slices.SortFunc(out, func(a, b *server) int {
		return cmp.Or(strings.Compare(a.entry.Name, b.entry.Name), strings.Compare(a.folder, b.folder))
	})
	return out
}

// Status returns the line about the servers for /status; no line if none was needed.
func (s *Session) Status() []string {
	if s == nil {
		return nil
	}
	var states []string
	for _, srv := range s.all() {
		states = append(states, srv.entry.Name+" "+srv.state())
	}
	if len(states) == 0 {
		return nil
	}
	return []string{"Language servers: " + strings.Join(states, "; ")}
}

func (srv *server) state() string {
	running := srv.client()
	srv.mu.Lock()
	defer srv.mu.Unlock()
	switch {
	case srv.off != "":
		return "is off: " + srv.off
	case running == nil:
		return "does not run"
	case !running.Loaded():
		return "is starting"
	case srv.late >= maxLate:
		return "runs, but is too slow to be waited for"
	}
	return "runs"
}

// Close ends all servers, and waits for that.
func (s *Session) Close() {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	var all sync.WaitGroup
	for _, srv := range s.all() {
		srv.mu.Lock()
		running := srv.running
		if srv.idle != nil {
			srv.idle.Stop()
		}
		srv.mu.Unlock()
		if running != nil {
			all.Go(running.Close)
		}
	}
	all.Wait()
}
