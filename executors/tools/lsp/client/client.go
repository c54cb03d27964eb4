// Package client runs one language server and collects its diagnostics.
//
// Start a server with [Start], then report the texts of files with [Server.Before] and
// [Server.After]. [Server.NewDiagnostics] returns the diagnostics that a change brought.
//
// It promises that no method waits for the server, except [Server.Close]; the caller waits for a
// channel as long as it likes. A server that hangs, floods, dies or writes nonsense is ended, and
// only its diagnostics are missing. Requests of the server are answered, and the edits that it
// requests are not applied. Memory is bounded, and no process of the server is left after
// [Server.Close].
//
// Why are diagnostics published and not pulled? Because servers that publish also report on other
// files that a change broke. Diagnostics are pulled only from a server that does not publish them.
package client

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/zeph-acp/zeph-acp/executors/process"
	"github.com/zeph-acp/zeph-acp/filter/text/pathname"
)

// Options describe a server to [Start].
type Options struct {
	Program process.Program
	Folder  string // absolute; the project
	// Init are the options of initialize, and Settings the answer to requests for
	// the configuration; both are JSON objects, or empty.
	Init, Settings json.RawMessage
	Version        string            // of this program
	QuietOnClean   bool              // the server does not report on files without diagnostics
	Log            func(line string) // receives the first lines of stderr
	Timeouts       Timeouts
}

// Timeouts limit how long the package waits for a server.
type Timeouts struct {
	Start  time.Duration // until initialize is answered
	Load   time.Duration // until a server that reports progress has loaded the project
	Silent time.Duration // for a report on a text
	Quiet  time.Duration // after a report, for others that belong to it
}

// DefaultTimeouts returns the timeouts for real servers.
func DefaultTimeouts() Timeouts {
	return Timeouts{Start: 2 * time.Minute, Load: 2 * time.Minute, Silent: 5 * time.Second, Quiet: 100 * time.Millisecond}
}

// endGrace is the time from closing a server's stdin to SIGTERM, and from SIGTERM to
// SIGKILL.
const endGrace = 500 * time.Millisecond

// Server is a running language server. Close it.
type Server struct {
	options      Options
	piped        *process.Piped
	conn         *jsonrpc2.Conn
	pulls        bool // set before ready is closed
	unaskedBytes atomic.Int64
	ready        chan struct{} // closed when the server can be used, or has ended
	ended        chan struct{} // closed when it can no longer be used
	posted       chan struct{} // holds a value if the queue has messages
	answers      chan struct{} // holds a value for each answer that has not been sent
	readEnded    chan struct{} // closed when nothing is read any more
	stderrDone   chan struct{} // closed when stderr has ended
	work         sync.WaitGroup

	mu           sync.Mutex
	err          error // why it ended; nil while it runs
	lastStderr   string
	documents    map[string]*document // open ones, by URI
	reported     map[string]*report   // by URI
	reportBytes  int                  // of the reports, in bytes
	progress     map[string]time.Time // when each unfinished task began, by its token
	queue        []message            // not sent yet
	loaded       bool                 // the first report is complete
	quietOnClean bool                 // it does not report on each text
	slowest      time.Duration        // until a report on a text
	lastActive   time.Time            // the last report or progress
	changed      chan struct{}        // closed at each change of the above
}

// Start starts the program. It does not wait for the server.
func Start(o Options) (*Server, error) {
	piped, err := process.StartPiped(o.Program)
	if err != nil {
		return nil, err
	}
	s := &Server{
		options: o, piped: piped, quietOnClean: o.QuietOnClean,
		ready: make(chan struct{}), ended: make(chan struct{}), changed: make(chan struct{}),
		readEnded: make(chan struct{}), stderrDone: make(chan struct{}),
		posted: make(chan struct{}, 1), answers: make(chan struct{}, maxAnswers),
		documents: map[string]*document{}, reported: map[string]*report{}, progress: map[string]time.Time{},
	}
	stream := &failingStream{jsonrpc2.NewBufferedStream(pipes{piped.Stdin, piped.Stdout}, codec{unasked: &s.unaskedBytes}), s}
	s.conn = jsonrpc2.NewConn(context.Background(), stream, handler{s}, jsonrpc2.SetLogger(log.New(io.Discard, "", 0)))
	s.work.Go(s.readStderr)
	s.work.Go(s.initialize)
	s.work.Go(s.deliver)
	return s, nil
}

// failingStream is a stream whose first error ends the server.
type failingStream struct {
	jsonrpc2.ObjectStream
	server *Server
}

// ReadObject reads the next message.
func (w *failingStream) ReadObject(v any) error {
	err := w.ObjectStream.ReadObject(v)
	if err != nil { // the connection reads no more
		w.server.fail(err)
		close(w.server.readEnded)
	}
	return err
}

// WriteObject writes a message.
func (w *failingStream) WriteObject(v any) error {
	err := w.ObjectStream.WriteObject(v)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		err = errors.New("it does not read its input")
	}
	if err != nil {
		w.server.fail(err)
	}
	return err
}

// initialize makes the server ready.
func (s *Server) initialize() {
	defer func() {
		s.update(func() {})
		close(s.ready)
	}()
	ctx, cancel := context.WithTimeout(context.Background(), s.options.Timeouts.Start)
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			s.fail(fmt.Errorf("it did not start within %s", s.options.Timeouts.Start))
		}
	})
	defer stop()
	params := object{
		"processId": os.Getpid(), "clientInfo": object{"name": "zeph-acp", "version": s.options.Version},
		"rootPath": s.options.Folder, "rootUri": pathname.URI(s.options.Folder), "workspaceFolders": s.folders(),
		"capabilities": capabilities(),
	}
	if len(s.options.Init) > 0 {
		params["initializationOptions"] = s.options.Init
	}
	var result initialized
	if err := s.conn.Call(ctx, "initialize", params, &result); err != nil {
		s.fail(fmt.Errorf("initialize: %w", err))
		return
	}
	provider := string(result.Capabilities.Diagnostics)
	s.pulls = provider != "" && provider != "null" && provider != "false"
	s.notify("initialized", object{})
	if len(s.options.Settings) > 0 {
		s.notify("workspace/didChangeConfiguration", object{"settings": s.options.Settings})
	}
}

func (s *Server) folders() []folder {
	return []folder{{pathname.URI(s.options.Folder), filepath.Base(s.options.Folder)}}
}

// message is a notification to the server.
type message struct {
	method string
	params any
	sent   chan struct{} // closed when it was sent
}

// post sends a notification after those that were posted before; the caller holds s.mu.
func (s *Server) post(method string, params any) (sent <-chan struct{}) {
	m := message{method, params, make(chan struct{})}
	s.queue = append(s.queue, m)
	select {
	case s.posted <- struct{}{}:
	default:
	}
	return m.sent
}

// deliver sends the posted notifications.
func (s *Server) deliver() {
	<-s.ready
	for {
		select {
		case <-s.posted:
		case <-s.ended:
			return
		}
		s.mu.Lock()
		queue := s.queue
		s.queue = nil
		s.mu.Unlock()
		for _, m := range queue {
			s.notify(m.method, m.params)
			close(m.sent)
		}
	}
}

// notify sends a notification. Its failure ends the server.
func (s *Server) notify(method string, params any) {
	_ = s.conn.Notify(context.Background(), method, params)
}

// readStderr passes on the first lines of stderr, and keeps the last one.
func (s *Server) readStderr() {
	defer close(s.stderrDone)
	const most, longest = 200, 4 << 10
	in := bufio.NewReaderSize(s.piped.Stderr, longest)
	for n := 0; ; {
		line, err := in.ReadSlice('\n')
		if text := strings.TrimSpace(strings.ToValidUTF8(string(line), "\uFFFD")); text != "" {
			s.mu.Lock()
			s.lastStderr = text
			s.mu.Unlock()
			if n++; n <= most && s.options.Log != nil {
				s.options.Log(text)
			}
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}
