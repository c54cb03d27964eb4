// Package acp is the Agent Client Protocol, version 1: wire types, line framing,
// dispatch of the client's requests, and typed calls to the client.
//
// Start with [Server]: give it what opens sessions and let it Serve a pair of
// pipes. The package promises that every request is answered exactly once, that
// what is no request is answered or ignored as JSON-RPC demands and never ends
// the connection, that frames are written in the order in which they were sent,
// and that nothing it writes breaks the schema. It knows nothing of models and
// tools; what it needs of sessions it states as [Sessions].
//
// Why two phases in a handler? jsonrpc2 calls handlers on the read goroutine.
// The first half of a handler runs there, in the order of the frames, and never
// blocks: so a session/cancel finds the turn that the frame before it began. The
// second half runs on its own goroutine and may call the client. It starts when
// every frame that has arrived is taken, so that of a prompt and a cancel in one
// write the prompt never wins, however fast its model is.
//
// Source: https://agentclientprotocol.com/protocol/v1/overview
package acp

import (
	"bufio"
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
)

// Version is the protocol version that this package speaks.
const Version = 1

// drain is how long Serve waits at its end for turns to stop, and then again
// for the last frames to be written. An editor that closed its end expects the
// process to be gone within 2 seconds.
const drain = 900 * time.Millisecond

// Server serves one connection.
type Server struct {
	Config   Config
	Agent    Implementation
	Sessions Sessions
	// Ready reports whether a turn could run: nil, or an error that wraps
	// ErrAuthRequired and says what to do. Authenticate asks it each time, so
	// that a key which appeared after the start is seen.
	Ready func() error
	// Logout forgets the keys that login stored. Without it there is no logout.
	Logout func() error
	// Initialized, if not nil, is called each time that initialize is answered.
	Initialized func()
	// Command is this program, an absolute path, for clients that want to be
	// told how to start it for a login; may be empty.
	Command string
	// Extensions are methods beyond the protocol, by name, which begins with
	// "_". Params are JSON of any kind, and an empty object if there are none.
	Extensions map[string]Extension
	// Trace, if not nil, sees every line in both directions, without its
	// newline. It is called from two goroutines.
	Trace func(Side, []byte)
	Log   *slog.Logger

	stream *stream
	client *Client

	work    sync.WaitGroup // second halves that run
	waiting []func()       // second halves to start when all frames at hand are taken; of the read goroutine

	mu       sync.Mutex
	ending   bool                               // no second half is started any more
	inFlight map[string]context.CancelCauseFunc // by the id's JSON text: 1 is not "1"
}

// Extension answers a request of a method beyond the protocol. It may be called
// concurrently, and its result is any JSON; nil means an empty object.
type Extension = func(ctx context.Context, client *Client, params json.RawMessage) (result any, err error)

// handler is the first half of a method: it decodes and reserves, and returns the
// second half.
type handler func(s *Server, ctx context.Context, params json.RawMessage) (work, error)

// work is the second half of a method.
type work struct {
	run    func() (any, error)       // nil means that result is there already
	result any                       // nil means an empty object
	sent   func(ctx context.Context) // called when the response is written, off the read goroutine; ctx is the connection's; may be nil
}

// handlers is the whole surface; anything else is -32601.
var handlers = map[string]handler{
	"initialize":                typed((*Server).initialize),
	"authenticate":              typed((*Server).authenticate),
	"logout":                    typed((*Server).logout),
	"session/new":               typed((*Server).newSession),
	"session/load":              typed((*Server).loadSession),
	"session/resume":            typed((*Server).resumeSession),
	"session/list":              typed((*Server).listSessions),
	"session/close":             typed((*Server).closeSession),
	"session/delete":            typed((*Server).deleteSession),
	"session/prompt":            typed((*Server).prompt),
	"session/cancel":            typed((*Server).cancel),
	"session/set_mode":          typed((*Server).setMode),
	"session/set_config_option": typed((*Server).setOption),
	"session/set_model":         typed((*Server).setModel), // of clients from before config options
	"$/cancel_request":          typed((*Server).cancelRequest),
}

// Serve answers the client until in ends, out breaks or ctx is done. Then it
// cancels every request, waits a moment for them to end, and returns nil, or
// the error with which out broke. It closes in if it can, so that no one reads
// on. Call it once.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	stop := ctx.Done()
	// Turns end because the connection does, whatever ended that.
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cancel(ErrClosed)
	w := newWriter(out, s.Config.MaxQueueBytes, s.Trace)
	closer, _ := in.(io.Closer)
	s.stream = &stream{
		in: bufio.NewReaderSize(in, 64<<10), closer: closer, maxLine: s.Config.MaxLineBytes,
		out: w, trace: s.Trace, idle: s.start, done: ctx.Done(), log: s.Log,
		ended: func() { cancel(ErrClosed) }, // a call that failed must not look like a client that refused it
	}
	s.inFlight = map[string]context.CancelCauseFunc{}
	s.client = &Client{stream: s.stream}

	broken := make(chan error, 1)
	go func() { broken <- w.run() }()
	// The handler may run before NewConn returns; it waits here for the client.
	dispatch := &dispatcher{server: s, ctx: ctx, ready: make(chan struct{})}
	conn := jsonrpc2.NewConn(context.WithoutCancel(ctx), s.stream, dispatch, jsonrpc2.SetLogger(discard{}))
	s.client.conn = conn
	close(dispatch.ready)

	var err error
	select {
	case <-conn.DisconnectNotify():
	case <-stop:
	case err = <-broken:
	}
	cancel(ErrClosed)
	s.wait() // with the connection open: after a signal the client still takes answers
	_ = conn.Close()
	w.close(drain)
	return err
}

// wait waits a moment for the running handlers to end.
func (s *Server) wait() {
	s.mu.Lock()
	s.ending = true
	s.mu.Unlock()
	done := make(chan struct{})
	go func() { s.work.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(drain):
		s.Log.Warn("requests still run at the end of the connection")
	}
}

type discard struct{}

func (discard) Printf(string, ...any) {}

// dispatcher is the jsonrpc2 handler of one connection.
type dispatcher struct {
	server *Server
	ctx    context.Context // of the connection
	ready  chan struct{}
}

// Handle runs on the read goroutine: in frame order, and never for long.
func (d *dispatcher) Handle(context.Context, *jsonrpc2.Conn, *jsonrpc2.Request) {
	<-d.ready
	s := d.server
	f := s.stream.frame
	s.stream.frame = frame{} // the line of a prompt must not be held until the next frame
	large := len(f.params) > largeParams
	s.handle(d.ctx, f.id, f.method, f.params)
	if large {
		debug.FreeOSMemory() // the line is read: before the turn doubles what is held
	}
}

// largeParams are params, in bytes, whose line is not left to the garbage
// collector's own time.
const largeParams = 1 << 20

// handle answers one request, or takes one notification, which is never
// answered.
func (s *Server) handle(conn context.Context, id json.RawMessage, method string, params json.RawMessage) {
	reply := func(result any, err error) {
		if id != nil {
			s.stream.reply(id, result, err)
		} else if err != nil {
			s.Log.Debug("notification", "method", method, "err", err)
		}
	}
	h := s.handler(id, method)
	if h == nil {
		reply(nil, fmt.Errorf("%w: %s", errUnknownMethod, method))
		return
	}
	ctx, end, err := s.begin(conn, id)
	if err != nil {
		s.stream.refuse(jsonrpc2.CodeInvalidRequest, err.Error())
		return
	}
	sent := func(w work) {
		if w.sent != nil {
			_ = s.recovering(method, func() error { w.sent(conn); return nil })
		}
	}
	var w work
	err = s.recovering(method, func() (err error) { w, err = h(s, ctx, params); return err })
	if err != nil || w.run == nil {
		end()
		reply(w.result, err)
		if err == nil && w.sent != nil {
			s.spawn(func() { sent(w) })
		}
		return
	}
	s.waiting = append(s.waiting, func() {
		var result any
		err := s.recovering(method, func() (err error) { result, err = w.run(); return err })
		// The id is free before the answer is out: the client may use it again
		// as soon as it reads the answer.
		end()
		reply(result, err)
		sent(w)
	})
}

// handler is what answers a method; nil if there is nothing. A request without
// an id has no effect: the client could not name a session that it opened.
func (s *Server) handler(id json.RawMessage, method string) handler {
	if id == nil && method != "session/cancel" && method != "$/cancel_request" {
		return nil
	}
	if e := s.Extensions[method]; e != nil {
		return func(s *Server, ctx context.Context, params json.RawMessage) (work, error) {
			return work{run: func() (any, error) { return e(ctx, s.client, orEmpty(params)) }}, nil
		}
	}
	return handlers[method]
}

// start lets the second halves run; the read goroutine calls it when it has
// taken every frame at hand.
func (s *Server) start() {
	for _, second := range s.waiting {
		s.spawn(second)
	}
	clear(s.waiting) // they hold prompts
	s.waiting = s.waiting[:0]
}

// spawn runs f on its own goroutine, for which the end of Serve waits.
func (s *Server) spawn(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ending {
		s.work.Go(f)
	}
}

// begin notes a request as in flight until end is called.
func (s *Server) begin(ctx context.Context, id json.RawMessage) (_ context.Context, end func(), err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	if id == nil || string(id) == "null" {
		return ctx, func() { cancel(nil) }, nil
	}
	key := string(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.inFlight[key]; ok {
		cancel(nil)
		return nil, nil, fmt.Errorf("id %s is in use by a request that is not answered yet", key)
	}
	s.inFlight[key] = cancel
	return ctx, func() {
		s.mu.Lock()
		delete(s.inFlight, key)
		s.mu.Unlock()
		cancel(nil)
	}, nil
}

// recovering turns a panic of f into an error: the server lives on.
func (s *Server) recovering(method string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			s.Log.Error("panic", "method", method, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("%s: internal error: %v", method, p)
		}
	}()
	return f()
}

// typed makes a handler from one with decoded params. Absent and null params
// are an empty object, since some clients leave out what they need not say.
func typed[P any](h func(*Server, context.Context, P) (work, error)) handler {
	return func(s *Server, ctx context.Context, raw json.RawMessage) (work, error) {
		var p P
		if err := DecodeParams(orEmpty(raw), &p); err != nil {
			return work{}, err
		}
		return h(s, ctx, p)
	}
}

// orEmpty is an empty object for params that are missing or null.
func orEmpty(raw json.RawMessage) json.RawMessage {
	if kind := jsonKind(raw); kind == "" || kind == "null" {
		return json.RawMessage("{}")
	}
	return raw
}

// validator is implemented by params with members that must be there.
type validator interface{ validate() error }

// DecodeParams decodes params, valid JSON, into the struct that p points to. Its
// error is a *ParamsError.
func DecodeParams(raw json.RawMessage, p any) error {
	if jsonKind(raw) != "object" {
		return paramsErrorf("params", "must be an object")
	}
	if d, ok := p.(interface{ decode(raw []byte) error }); ok {
		return d.decode(raw)
	}
	if err := json.Unmarshal(raw, p); err != nil {
		var wrong *json.UnmarshalTypeError
		var params *ParamsError
		switch {
		case errors.As(err, &params):
			return params
		case errors.As(err, &wrong):
			// encoding/json counts an embedded struct into the path.
			field := strings.TrimPrefix(strings.TrimPrefix(wrong.Field, "sessionRequest."), "NewSessionRequest.")
			return paramsErrorf(field, "must be %s, not %s", jsonType(wrong.Type), strings.Replace(wrong.Value, "bool", "boolean", 1))
		}
		return paramsErrorf("params", "%v", err)
	}
	if v, ok := p.(validator); ok {
		return v.validate()
	}
	return nil
}

// jsonType names what a Go type is on the wire.
func jsonType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a boolean"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Struct, reflect.Map, reflect.Pointer:
		return "an object"
	}
	return "an integer"
}

// cancelRequest handles $/cancel_request: it cancels the request of that id, if
// it still runs, and is otherwise ignored. A prompt is then answered as after
// session/cancel; other requests with -32800.
func (s *Server) cancelRequest(_ context.Context, p struct {
	RequestID json.RawMessage `json:"requestId"`
}) (work, error) {
	s.mu.Lock()
	cancel := s.inFlight[string(p.RequestID)]
	s.mu.Unlock()
	if cancel != nil {
		cancel(fmt.Errorf("%w: %w", errCancelled, ErrTurnCancelled))
	}
	return work{}, nil
}
