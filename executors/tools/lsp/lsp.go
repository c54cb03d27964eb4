// Package lsp adds the errors that an edit introduced, as language servers report them, to
// the result of the edit.
//
// Make a [Session] with [New]. Put [Session.Around] outside of the links that check a
// call, and [Session.Within] inside of them; set [Session.Check] to a chain around
// [Session.Tools]. Close the session.
//
// It promises that an edit waits at most [Config].WaitMS for servers, and that no failure
// of a server fails an edit: a server that is missing, hangs, floods or dies costs only
// its lines. A server starts at the first edit of one of its files, and only after the
// user has agreed for the project. Without a server a call costs nothing.
//
// The check after an edit is a separate call of the tool "diagnostics", in the phase verifier. So
// gates check it, the audit log records it, and its output is redacted like any tool's.
//
// Why only new diagnostics? A model would otherwise fix errors that are unrelated to its task.
// Diagnostics that were there before the first edit of a file are never shown. One that comes too
// late for its edit is shown with the next one.
package lsp

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/permission/approval"
	"github.com/zeph-acp/zeph-acp/executors/process"
	"github.com/zeph-acp/zeph-acp/executors/tools/lsp/client"
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
	Timeouts client.Timeouts
	Busy     func() bool         // reports whether commands run in the background; nil means no
	Idle     time.Duration       // after which an unused server ends; 0 means half an hour
	Mask     func(string) string // redacts secrets
	// MaskLines returns a function that redacts secrets in the lines of one stream; nil means Mask.
	MaskLines func() func(line string) string
	Warn      func(string) // queues a line for the user
	Log       *slog.Logger
	NewID     func() string
	Version   string // of this program
}

// Session holds the language servers of one session. Its methods may be called
// concurrently.
type Session struct {
	options Options
	// Check is the chain of the calls that check an edit.
	Check executors.Executor

	watching sync.Mutex // held while files are compared

	initOnce sync.Once
	entries  Entries // set by initialize

	mu     sync.Mutex
	found  map[string]string  // paths of programs, by their names; "" if it is not installed
	used   map[string]*server // by name and folder
	closed bool
}

// initialize sets the fields that only an edit needs.
func (s *Session) initialize() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries, s.found, s.used = s.options.Entries.All(), map[string]string{}, map[string]*server{}
}

// New returns the servers of a session; nil if they are off. No server is started.
func New(o Options) *Session {
	if !o.Enabled || o.Find == nil {
		return nil
	}
	o.Idle = cmp.Or(o.Idle, idleTime)
	return &Session{options: o}
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
