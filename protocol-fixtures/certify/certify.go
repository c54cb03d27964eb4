// Package certify is an agent that tests its client: the fixtures turned round.
//
// [Serve] answers a client like an agent, and plays one scripted scenario for each prompt:
// it streams, asks, reads files, runs commands, and sends frames that a client should
// survive. Everything that the client sends is checked against the schema of its version and
// against the table of statements. The result is a [Report], with the frames of each
// statement that the client broke. No model is involved.
//
// A scenario that the client did not reach is "not tried", never "passed".
package certify

import (
	"context"
	"encoding/json"
	"io"
	"sync"
	"time"
)

// Config is the configuration of a connection.
type Config struct {
	Protocol string // the versions that are served: v1, v2, or auto for both
	Version  string // of zeph-acp
	// Only names the scenario of the first prompt, for a client without a user; later prompts
	// run none. "" means all: a prompt "/certify NAME" runs that scenario, any other one the
	// next one that has not run.
	Only string
	// Patience limits the wait for an answer. A user's answer has no limit unless Only is set.
	Patience time.Duration
	Changed  func(*Report) // gets the report after each change; nil for none
}

// Serve tests the client until its stream ends or ctx is done, and returns the report.
func Serve(ctx context.Context, in io.Reader, out io.Writer, c Config) *Report {
	a := &agent{
		config: c, queued: make(chan struct{}, 1), closed: make(chan struct{}), turn: make(chan struct{}, 1),
		report: newReport(), requests: map[string]*request{}, open: map[string]bool{}, sessions: map[string]string{}, seen: map[string]bool{},
	}
	go a.write(out)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		a.read(in)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
		if c, ok := in.(io.Closer); ok {
			_ = c.Close() // unblocks the reader
		}
	}
	a.end()
	a.turns.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.changed()
	return a.report
}

// agent is one connection.
type agent struct {
	config Config
	closed chan struct{}  // closed at the end of the client's stream
	turn   chan struct{}  // holds one element while a turn runs
	turns  sync.WaitGroup // running and waiting turns

	writing sync.Mutex
	queue   [][]byte
	queued  chan struct{} // signals the writer

	mu        sync.Mutex
	ended     bool
	report    *Report
	version   int // of the protocol; 0 before initialize
	client    map[string]any
	requests  map[string]*request // ours, by the JSON of the id
	open      map[string]bool     // ids of the client's requests that are not answered
	sessions  map[string]string   // the directories of sessions, by id
	seen      map[string]bool     // scenarios that began
	current   *turn               // nil between turns
	prompts   []*turn             // running and waiting
	lastID    int
	lastName  int  // of sessions, messages and calls
	malformed bool // malformed lines were sent, so answers with the id null are due
	mute      bool // the client does not answer unknown methods
	mode      string
	value     string // of the option "style"
}

// end marks the end of the client's stream.
func (a *agent) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.ended {
		a.ended = true
		close(a.closed)
	}
}

// changed passes the report on. a.mu is held.
func (a *agent) changed() {
	a.report.finish(a.client)
	if a.config.Changed != nil {
		a.config.Changed(a.report)
	}
}

// checked notes an observation of a statement. A broken one is recorded with its frames. It
// returns ok.
func (a *agent) checked(statement string, ok bool, what string, frames ...Frame) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.note(statement, ok, what, frames...)
	return ok
}

// note is checked while a.mu is held.
func (a *agent) note(statement string, ok bool, what string, frames ...Frame) {
	a.report.observed[statement]++
	if ok {
		return
	}
	scenario := connection
	if a.current != nil {
		scenario = a.current.scenario.name
		a.current.broken = true
	}
	a.report.breaks(statement, scenario, what, frames)
}

// declared reports whether the client declared a capability, by its path.
func (a *agent) declared(path string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return declares(a.client, path)
}

// send writes a frame of the agent.
func (a *agent) send(frame map[string]any) []byte {
	frame["jsonrpc"] = "2.0"
	line, _ := json.Marshal(frame) // only maps, slices and strings
	a.line(line)
	return line
}

// line queues a line as it is. A client may write a lot before it reads, so writing must not
// stop reading.
func (a *agent) line(line []byte) {
	a.writing.Lock()
	defer a.writing.Unlock()
	a.queue = append(a.queue, append(line[:len(line):len(line)], '\n'))
	select {
	case a.queued <- struct{}{}:
	default: // the writer has not seen the last signal yet
	}
}

// write writes the queued lines until the client's stream ends. A failed write means that the
// client has ended, which the reader notices, too.
func (a *agent) write(out io.Writer) {
	for {
		select {
		case <-a.queued:
		case <-a.closed:
			return
		}
		a.writing.Lock()
		lines := a.queue
		a.queue = nil
		a.writing.Unlock()
		for _, line := range lines {
			if _, err := out.Write(line); err != nil {
				return
			}
		}
	}
}
