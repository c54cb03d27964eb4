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
// for the last frames to be written: together within the 2 seconds of DESIGN 7.
const drain = 900 * time.Millisecond

// Server serves one connection.
type Server struct {
	Config   Config
	Agent    Implementation
	Sessions Sessions
	// Ready tells whether a turn could run: nil, or an error that wraps
	// ErrAuthRequired and says what to do. Authenticate asks it each time, so
	// that a key which appeared after the start is seen.
	Ready func() error
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

// handler is the first half of a method: it decodes and reserves, and gives the
// second half.
type handler func(s *Server, ctx context.Context, params json.RawMessage) (work, error)

// work is the second half of a method.
type work struct {
	run  func() (any, error) // nil means that the result is an empty object
	sent func()              // called when the response is written; may be nil
}

// handlers is the whole surface; anything else is -32601.
var handlers = map[string]handler{
	"initialize":       typed((*Server).initialize),
	"authenticate":     typed((*Server).authenticate),
	"session/new":      typed((*Server).newSession),
	"session/prompt":   typed((*Server).prompt),
	"session/cancel":   typed((*Server).cancel),
	"session/set_mode": typed((*Server).setMode),
	"session/close":    typed((*Server).closeSession),
	"$/cancel_request": typed((*Server).cancelRequest),
}

// Serve answers the client until in ends, out breaks or ctx is done. Then it
// cancels every request, waits a moment for them to end, and returns nil, or
// the error with which out broke. It closes in if it can, so that nobody reads
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

// wait gives the running handlers a moment to end.
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
	s.handle(d.ctx, s.stream.frame)
}

// handle answers one request, or takes one notification, which is never
// answered.
func (s *Server) handle(ctx context.Context, f frame) {
	reply := func(result any, err error) {
		if f.id != nil {
			s.stream.reply(f.id, result, err)
		} else if err != nil {
			s.Log.Debug("notification", "method", f.method, "err", err)
		}
	}
	h, ok := handlers[f.method]
	if !ok {
		reply(nil, fmt.Errorf("%w: %s", errUnknownMethod, f.method))
		return
	}
	ctx, end, err := s.begin(ctx, f)
	if err != nil {
		s.stream.refuse(jsonrpc2.CodeInvalidRequest, err.Error())
		return
	}
	w, err := s.firstHalf(h, ctx, f)
	if err != nil || w.run == nil {
		end()
		reply(struct{}{}, err)
		return
	}
	s.waiting = append(s.waiting, func() {
		result, err := s.secondHalf(w.run, f.method)
		// The id is free before the answer is out: the client may use it again
		// as soon as it reads the answer.
		end()
		reply(result, err)
		if w.sent != nil {
			w.sent()
		}
	})
}

// start lets the second halves run; the read goroutine calls it when it has
// taken every frame at hand.
func (s *Server) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, second := range s.waiting {
		if !s.ending {
			s.work.Go(second)
		}
	}
	s.waiting = s.waiting[:0]
}

// begin notes a request as in flight until end is called.
func (s *Server) begin(ctx context.Context, f frame) (_ context.Context, end func(), err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	if f.id == nil || string(f.id) == "null" {
		return ctx, func() { cancel(nil) }, nil
	}
	key := string(f.id)
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

func (s *Server) firstHalf(h handler, ctx context.Context, f frame) (w work, err error) {
	defer s.recovered(f.method, &err)
	return h(s, ctx, f.params)
}

func (s *Server) secondHalf(run func() (any, error), method string) (result any, err error) {
	defer s.recovered(method, &err)
	return run()
}

// recovered turns a panic into an error: the server lives on.
func (s *Server) recovered(method string, err *error) {
	if p := recover(); p != nil {
		s.Log.Error("panic", "method", method, "panic", p, "stack", string(debug.Stack()))
		*err = fmt.Errorf("%s: internal error: %v", method, p)
	}
}

// typed makes a handler from one with decoded params. Absent and null params
// are an empty object, since some clients leave out what they need not say.
func typed[P any](h func(*Server, context.Context, P) (work, error)) handler {
	return func(s *Server, ctx context.Context, raw json.RawMessage) (work, error) {
		if len(raw) == 0 || string(raw) == "null" {
			raw = json.RawMessage("{}")
		}
		var p P
		if err := decodeParams(raw, &p); err != nil {
			return work{}, err
		}
		return h(s, ctx, p)
	}
}

// validator is implemented by params with members that must be there.
type validator interface{ validate() error }

func decodeParams(raw json.RawMessage, p any) error {
	if raw[0] != '{' {
		return paramsErrorf("params", "must be an object")
	}
	if err := json.Unmarshal(raw, p); err != nil {
		var wrong *json.UnmarshalTypeError
		var params *ParamsError
		switch {
		case errors.As(err, &params):
			return params
		case errors.As(err, &wrong):
			// encoding/json counts an embedded struct into the path.
			return paramsErrorf(strings.TrimPrefix(wrong.Field, "sessionRequest."), "must be %s, not %s", jsonType(wrong.Type), wrong.Value)
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

// cancelRequest takes $/cancel_request: it cancels the request of that id, if
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
