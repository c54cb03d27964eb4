package headless

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/zeph-acp/zeph-acp/acp"
)

// lineStream is the client's ObjectStream: each frame is one line. The length of lines
// is not limited, since the peer is our own agent.
type lineStream struct {
	in  *bufio.Reader
	out io.WriteCloser
	raw []byte // the line that ReadObject read last; of the read goroutine
}

// ReadObject reads the next frame. It keeps the line, since jsonrpc2 does not
// preserve the bytes of params.
func (l *lineStream) ReadObject(v any) error {
	line, err := l.in.ReadBytes('\n')
	if err != nil {
		return err
	}
	l.raw = line
	return json.Unmarshal(line, v)
}

// WriteObject writes a frame with its newline in one Write.
func (l *lineStream) WriteObject(v any) error { return json.NewEncoder(l.out).Encode(v) }

// Close closes the connection.
func (l *lineStream) Close() error { return l.out.Close() }

type discard struct{}

func (discard) Printf(string, ...any) {}

// client answers the agent; it is the jsonrpc2 handler of a turn.
type client struct {
	*Turn
	dialect dialect
	stream  *lineStream
	work    sync.WaitGroup // requests that are being answered

	mu        sync.Mutex
	cancelled chan struct{} // closed after the turn's session/cancel was sent; nil before the first turn
	inFlight  map[jsonrpc2.ID]context.CancelFunc
}

// method answers one request.
type method func(c *client, ctx context.Context, params json.RawMessage) (any, error)

// typedMethod returns a method that decodes its params.
func typedMethod[P any](h func(*client, context.Context, P) (any, error)) method {
	return func(c *client, ctx context.Context, raw json.RawMessage) (any, error) {
		var p P
		if err := json.Unmarshal(raw, &p); err != nil {
			return nil, errorResponse(jsonrpc2.CodeInvalidParams, "%v", err)
		}
		return h(c, ctx, p)
	}
}

// errorResponse returns an error response.
func errorResponse(code int64, format string, args ...any) *jsonrpc2.Error {
	return &jsonrpc2.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Error codes of ACP: https://agentclientprotocol.com/protocol/v1/schema#errorcode
const (
	codeNotFound  = -32002
	codeCancelled = -32800
)

// info names the client.
func (c *client) info() acp.Implementation {
	return acp.Implementation{Name: "zeph-acp-run", Version: c.Server.Agent.Version}
}

// Handle runs on the read goroutine: updates are shown in the order of the frames,
// and requests are answered concurrently.
func (c *client) Handle(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request) {
	var frame struct {
		Params json.RawMessage `json:"params"`
	}
	_ = json.Unmarshal(c.stream.raw, &frame) // ReadObject has parsed the same line
	switch {
	case !req.Notif:
		params := c.dialect.request(req.Method, frame.Params)
		ctx, cancel := context.WithCancel(ctx)
		c.mu.Lock()
		c.inFlight[req.ID] = cancel
		c.mu.Unlock()
		c.work.Go(func() {
			defer c.end(req.ID)
			c.answer(ctx, conn, req, params)
		})
	case req.Method == "session/update":
		c.dialect.update(frame.Params)
	case req.Method == "$/cancel_request":
		var p struct {
			RequestID jsonrpc2.ID `json:"requestId"`
		}
		if json.Unmarshal(frame.Params, &p) == nil {
			c.end(p.RequestID)
		}
	}
}

// end cancels a request that is still being answered.
func (c *client) end(id jsonrpc2.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.inFlight[id]; cancel != nil {
		cancel()
		delete(c.inFlight, id)
	}
}

// answer answers one request. If the response cannot be written, the agent has exited.
func (c *client) answer(ctx context.Context, conn *jsonrpc2.Conn, req *jsonrpc2.Request, params json.RawMessage) {
	h, ok := c.dialect.methods()[req.Method]
	if !ok {
		_ = conn.ReplyWithError(ctx, req.ID, errorResponse(jsonrpc2.CodeMethodNotFound, "method not found: %s", req.Method))
		return
	}
	result, err := h(c, ctx, params)
	refused, ok := errors.AsType[*jsonrpc2.Error](err)
	switch {
	case err == nil:
		_ = conn.Reply(ctx, req.ID, result)
	case ok:
		_ = conn.ReplyWithError(ctx, req.ID, refused)
	case ctx.Err() != nil:
		_ = conn.ReplyWithError(ctx, req.ID, errorResponse(codeCancelled, "the request was cancelled"))
	default:
		_ = conn.ReplyWithError(ctx, req.ID, errorResponse(jsonrpc2.CodeInternalError, "%v", err))
	}
}

// requestPermission asks the user. When the turn is cancelled, open questions are
// answered with "cancelled", as the protocol requires.
func (c *client) requestPermission(ctx context.Context, p acp.RequestPermissionRequest) (any, error) {
	ctx, stop := c.untilCancelled(ctx)
	defer stop()
	chosen, err := c.Approver.Approve(ctx, p)
	if ctx.Err() != nil {
		return map[string]any{"outcome": map[string]string{"outcome": "cancelled"}}, nil
	}
	response := map[string]any{"outcome": map[string]string{"outcome": "selected", "optionId": chosen.OptionID}}
	if chosen.Reason != "" {
		response["_meta"] = map[string]string{acp.ReasonMeta: chosen.Reason}
	}
	return response, err
}

// untilCancelled returns a context that also ends after the session/cancel of the turn.
func (c *client) untilCancelled(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	c.mu.Lock()
	cancelled := c.cancelled
	c.mu.Unlock()
	go func() {
		select {
		case <-cancelled:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

func mustBeAbsolute(name, path string) error {
	if !filepath.IsAbs(path) {
		return errorResponse(jsonrpc2.CodeInvalidParams, "%s: must be an absolute path, got %q", name, path)
	}
	return nil
}
