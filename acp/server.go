// Package acp implements the Agent Client Protocol, version 1 and, behind [Config].Protocol,
// version 2: wire types, line framing, dispatch of the client's requests, and typed calls to the
// client. All other packages use the same values for both versions; a connection has one dialect,
// which encodes them.
//
// Start with [Server]: set its Sessions and call Serve with a pair of pipes.
// The package promises that every request is answered exactly once. An invalid
// line is answered or ignored as JSON-RPC demands, and never ends the
// connection. Frames are written in the order in which they were sent, and
// conform to the schema. The package does not depend on models or tools;
// [Sessions] states its requirements.
//
// Why two phases in a handler? jsonrpc2 calls handlers on the read goroutine. The first phase of a
// handler runs there, in the order of the frames, and never blocks. So a session/cancel finds the
// turn that the frame before it began. The second phase runs on its own goroutine and may call the
// client. It starts after the first phases of all frames that have arrived. So if a prompt and a
// cancel arrive in one write, the cancel always takes effect, however fast the model is.
//
// Sources: https://agentclientprotocol.com/protocol/v1/overview and
// https://agentclientprotocol.com/protocol/v2/overview
package acp

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/zeph-acp/zeph-acp/filter/text/texts"
)

// Version is the protocol version of this package.
const Version = 1

// drainTime is how long Serve waits at its end for turns to stop, and then again
// for the last frames to be written. An editor expects the process to end
// within 2 seconds after it closed the connection.
const drainTime = 900 * time.Millisecond

// Server serves one connection.
type Server struct {
	Config   Config
	Agent    Implementation
	Sessions Sessions
	// Ready reports whether a turn could run: it returns nil, or an error that
	// wraps ErrAuthRequired and names the required action. authenticate calls
	// it each time, so that it finds a key which was added after the start.
	Ready func() error
	// Logout deletes the keys that login stored. If it is nil, logout is not
	// offered.
	Logout func() error
	// Initialized, if not nil, is called after each initialize.
	Initialized func()
	// Command is the absolute path of this program, for clients that run it for
	// a login; may be empty.
	Command string
	// Extensions are methods beyond the protocol, by name, which begins with
	// "_". Their params are any JSON, an empty object if absent.
	Extensions map[string]Extension
	// Trace, if not nil, is called with every line in both directions, without
	// its newline. It is called from two goroutines.
	Trace func(Side, []byte)
	// Exit returns the change that a session's text needs before it is sent, such as masking
	// credentials. The argument is the ID of a session or child session, or "" where there is
	// none. Words of the user and the model stay unchanged, and so do commands and file contents
	// that the client has to run or write. Nil sends everything unchanged.
	Exit func(session string) texts.Change
	// Fit adapts a tool call to the client of version 1 that is named, before it is shown. Nil changes none.
	Fit func(client Implementation, call ToolCall) ToolCall
	Log *slog.Logger

	stream   *stream
	client   *Client // has the dialect of the connection
	maxQueue int     // for tests; 0 means maxQueueBytes

	runningPhases sync.WaitGroup // second phases that run
	pendingPhases []func()       // second phases to start after all frames that have arrived; owned by the read goroutine

	order order // owned by the read goroutine

	mu       sync.Mutex
	ending   bool                               // no further second phase starts
	inFlight map[string]context.CancelCauseFunc // by the id's JSON text: 1 is not "1"
}

// maxQueueBytes is how many bytes may be queued for writing before session updates wait.
const maxQueueBytes = 4 << 20

// Extension begins to handle a request of a method beyond the protocol: in the order of
// the frames, and without blocking. answer then does the work, concurrently with others.
// Its result is any JSON; nil means an empty object.
type Extension = func(ctx context.Context, client *Client, params json.RawMessage) (answer func() (any, error), err error)

// handler is the first phase of a method: it decodes and reserves, and returns
// the second phase.
type handler func(s *Server, ctx context.Context, params json.RawMessage) (secondPhase, error)

// secondPhase is the second phase of a method.
type secondPhase struct {
	// work, instead of run, calls answer once and then goes on. ctx is the connection's.
	work   func(ctx context.Context, answer func(result any, err error))
	run    func() (any, error)       // nil means that result is already there
	result any                       // nil means an empty object
	sent   func(ctx context.Context) // called when the response is written, off the read goroutine; ctx is the connection's; may be nil
}

// handlers lists the methods of version 1.
var handlers = map[string]handler{
	"initialize":                typed((*Server).initialize),
	"authenticate":              typed((*Server).authenticate),
	"logout":                    typed((*Server).logout),
	"session/new":               typed((*Server).newSession),
	"session/load":              typed((*Server).loadSession),
	"session/resume":            typed((*Server).resumeSession),
	"session/fork":              typed((*Server).forkSession), // not stable yet
	"session/list":              typed((*Server).listSessions),
	"session/close":             typed((*Server).closeSession),
	"session/delete":            typed((*Server).deleteSession),
	"session/prompt":            typed((*Server).prompt),
	"session/cancel":            typed((*Server).cancel),
	"session/set_mode":          typed((*Server).setMode),
	"session/set_config_option": typed((*Server).setOption),
	"session/set_model":         typed((*Server).setModel), // sent by clients without config options
	"_session/steering":         typed((*Server).steer),
	"$/cancel_request":          typed((*Server).cancelRequest),
}

// Serve answers the client until in ends, out fails or ctx is done. Then it
// cancels every request, waits briefly for them to end, and returns nil, or the
// error of out. If in is an io.Closer, Serve closes it to unblock the reader. Call
// it once.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	stop := ctx.Done()
	// The end of the connection cancels turns, regardless of its reason.
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(ErrClosed)
	w := newWriter(out, cmp.Or(s.maxQueue, maxQueueBytes), s.Trace)
	closer, _ := in.(io.Closer)
	s.stream = &stream{
		in: bufio.NewReaderSize(in, 64<<10), closer: closer, maxLine: s.Config.MaxLineBytes,
		out: w, trace: s.Trace, beforeWait: s.startPending, done: ctx.Done(), log: s.Log, exit: s.Exit,
		onEnd: func() { cancel(ErrClosed) }, // a failed call must not look like a refusal of the client
	}
	s.inFlight = map[string]context.CancelCauseFunc{}
	s.client = &Client{stream: s.stream, dialect: version1{}, fitV1: s.Fit}

	broken := make(chan error, 1)
	go func() { broken <- w.run() }()
	// The handler may run before NewConn returns; it waits here for the client.
	dispatch := &dispatcher{server: s, ctx: ctx, ready: make(chan struct{})}
	conn := jsonrpc2.NewConn(context.WithoutCancel(ctx), s.stream, dispatch, jsonrpc2.SetLogger(noLog{}))
	s.client.conn = conn
	close(dispatch.ready)

	var err error
	select {
	case <-conn.DisconnectNotify():
	case <-stop:
	case err = <-broken:
	}
	cancel(ErrClosed)
	s.waitForPhases() // while the connection is open: after a signal the client still accepts answers
	_ = conn.Close()
	w.close(drainTime)
	return err
}

// waitForPhases waits briefly for the running second phases to end.
func (s *Server) waitForPhases() {
	s.mu.Lock()
	s.ending = true
	s.mu.Unlock()
	done := make(chan struct{})
	go func() { s.runningPhases.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(drainTime):
		s.Log.Warn("requests still run at the end of the connection")
	}
}

// noLog drops the messages of jsonrpc2: the package logs its own.
type noLog struct{}

func (noLog) Printf(string, ...any) {}

// dispatcher is the jsonrpc2 handler of one connection.
type dispatcher struct {
	server *Server
	ctx    context.Context
	ready  chan struct{}
}

// Handle runs on the read goroutine: in frame order, and always briefly.
func (d *dispatcher) Handle(context.Context, *jsonrpc2.Conn, *jsonrpc2.Request) {
	<-d.ready
	s := d.server
	f := s.stream.frame
	s.stream.frame = frame{} // do not hold the line of a prompt until the next frame
	if f.tooLong {
		s.refuseLong(f.id)
		return
	}
	s.handle(d.ctx, f.id, f.method, f.params)
}

// refuseLong answers a request whose line was over the limit, unless its id belongs to a request
// that is not answered yet.
func (s *Server) refuseLong(id json.RawMessage) {
	s.mu.Lock()
	_, used := s.inFlight[string(id)]
	s.mu.Unlock()
	if !used {
		fault := &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidRequest, Message: "the request is over the limit (acp.max_line_bytes)"}
		_ = s.stream.write(message{JSONRPC: "2.0", ID: id, Error: fault}) // a closed connection ends the reader as well
	}
}

// handle answers one request, or handles one notification without an answer.
func (s *Server) handle(conn context.Context, id json.RawMessage, method string, params json.RawMessage) {
	reply := func(result any, err error) {
		if id != nil {
			s.stream.reply(id, result, err)
		} else if err != nil {
			s.Log.Debug("notification", "method", method, "err", err)
		}
	}
	if err := s.checkOrder(id, method); err != nil {
		reply(nil, err)
		return
	}
	h := s.handler(id, method)
	if h == nil {
		reply(nil, fmt.Errorf("%w: %s", errUnknownMethod, method))
		return
	}
	ctx, end, err := s.track(conn, id)
	if err != nil {
		s.stream.refuse(jsonrpc2.CodeInvalidRequest, err.Error())
		return
	}
	sent := func(w secondPhase) {
		if w.sent != nil {
			_ = s.catchPanic(method, func() error { w.sent(conn); return nil })
		}
	}
	var w secondPhase
	err = s.catchPanic(method, func() (err error) { w, err = h(s, ctx, params); return err })
	if err == nil && w.work != nil {
		s.pendingPhases = append(s.pendingPhases, func() { s.work(conn, method, w, func(result any, err error) { end(); reply(result, err) }) })
		return
	}
	if err != nil || w.run == nil {
		end()
		reply(w.result, err)
		if err == nil && w.sent != nil {
			s.spawn(func() { sent(w) })
		}
		return
	}
	s.pendingPhases = append(s.pendingPhases, func() {
		var result any
		err := s.catchPanic(method, func() (err error) { result, err = w.run(); return err })
		// The id is free before the answer is written: the client may reuse it
		// as soon as it reads the answer.
		end()
		reply(result, err)
		sent(w)
	})
}

// work runs the second phase of a method that answers in the midst of its work.
func (s *Server) work(conn context.Context, method string, w secondPhase, reply func(any, error)) {
	var once sync.Once
	answer := func(result any, err error) { once.Do(func() { reply(result, err) }) }
	err := s.catchPanic(method, func() error { w.work(conn, answer); return nil })
	answer(nil, cmp.Or(err, errNotInserted))
}

// handler returns the handler of a method, nil if there is none. A request
// without an id has no effect: the client could not name the session that it
// opened.
func (s *Server) handler(id json.RawMessage, method string) handler {
	if id == nil && method != "session/cancel" && method != "$/cancel_request" {
		return nil
	}
	if e := s.Extensions[method]; e != nil {
		return func(s *Server, ctx context.Context, params json.RawMessage) (secondPhase, error) {
			answer, err := e(ctx, s.client, orEmpty(params))
			return secondPhase{run: answer}, err
		}
	}
	return s.client.dialect.methods()[method]
}

// startPending starts the second phases. The read goroutine calls it after every frame
// that has arrived.
func (s *Server) startPending() {
	for _, second := range s.pendingPhases {
		s.spawn(second)
	}
	clear(s.pendingPhases) // they hold prompts
	s.pendingPhases = s.pendingPhases[:0]
}

// spawn runs f on its own goroutine. Serve waits for it at its end.
func (s *Server) spawn(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ending {
		s.runningPhases.Go(f)
	}
}

// track records a request as in flight until end is called.
func (s *Server) track(ctx context.Context, id json.RawMessage) (_ context.Context, end func(), err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	if id == nil || string(id) == "null" {
		return ctx, func() { cancel(nil) }, nil
	}
	key := string(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.inFlight[key]; ok {
		cancel(nil)
		return nil, nil, fmt.Errorf("id %s belongs to a request that is not answered yet", key)
	}
	s.inFlight[key] = cancel
	return ctx, func() {
		s.mu.Lock()
		delete(s.inFlight, key)
		s.mu.Unlock()
		cancel(nil)
	}, nil
}

// catchPanic converts a panic of f to an error, so that the server continues.
func (s *Server) catchPanic(method string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.Log.Error("panic", "method", method, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("%s: internal error: %v", method, p)
		}
	}()
	return f()
}

// typed returns a handler that decodes the params for h. Absent and null params
// count as an empty object, since some clients omit them.
func typed[P any](h func(*Server, context.Context, P) (secondPhase, error)) handler {
	return func(s *Server, ctx context.Context, raw json.RawMessage) (secondPhase, error) {
		var p P
		if err := DecodeParams(orEmpty(raw), &p); err != nil {
			return secondPhase{}, err
		}
		return h(s, ctx, p)
	}
}

// orEmpty returns an empty object for params that are missing or null.
func orEmpty(raw json.RawMessage) json.RawMessage {
	if kind := jsonKind(raw); kind == "" || kind == "null" {
		return json.RawMessage("{}")
	}
	return raw
}

// validator is implemented by params with required members.
type validator interface{ validate() error }

// DecodeParams decodes params, valid JSON, into the struct that p points to.
// Its error is a *ParamsError.
func DecodeParams(raw json.RawMessage, p any) error {
	if jsonKind(raw) != "object" {
		return ParamsErrorf("params", "must be an object")
	}
	if d, ok := p.(interface{ decode(raw []byte) error }); ok {
		return d.decode(raw)
	}
	if err := json.Unmarshal(raw, p); err != nil {
		var params *ParamsError
		if errors.As(err, &params) || errors.As(wrongType(err), &params) {
			return params
		}
		return ParamsErrorf("params", "%v", err)
	}
	if v, ok := p.(validator); ok {
		return v.validate()
	}
	return nil
}

// wrongType returns an error of encoding/json in the words of JSON if a value has the wrong
// type. It returns other errors unchanged.
func wrongType(err error) error {
	wrong, ok := errors.AsType[*json.UnmarshalTypeError](err)
	if !ok {
		return err
	}
	field := strings.TrimPrefix(wrong.Field, "sessionRequest.") // encoding/json includes an embedded struct in the path
	return ParamsErrorf(field, "must be %s, not %s", jsonType(wrong.Type), strings.Replace(wrong.Value, "bool", "boolean", 1))
}

// jsonType returns the JSON type of a Go type.
func jsonType(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a boolean"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "an integer"
}

// cancelRequest handles $/cancel_request. It cancels the running request of
// that id, and ignores other ids. A cancelled prompt is answered as after
// session/cancel; other requests with -32800.
func (s *Server) cancelRequest(_ context.Context, p struct {
	RequestID json.RawMessage `json:"requestId"`
}) (secondPhase, error) {
	s.mu.Lock()
	cancel := s.inFlight[string(p.RequestID)]
	s.mu.Unlock()
	if cancel != nil {
		cancel(fmt.Errorf("%w: %w", errCancelled, ErrTurnCancelled))
	}
	return secondPhase{}, nil
}
