package integration

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
)

// ide is a fake editor on a client library that nobody here wrote: it owns
// buffers and terminals, answers questions by script and keeps every update.
type ide struct {
	*agent
	conn *sdk.ClientSideConnection
	init sdk.InitializeResponse

	caps sdk.ClientCapabilities
	// before, if not nil, sees each request of the agent first. It may wait,
	// and an error is the answer.
	before func(ctx context.Context, method string) error
	// permit gives the kind of option to choose; nil allows once.
	permit func(sdk.RequestPermissionRequest) sdk.PermissionOptionKind
	// buffers holds unsaved text by absolute path.
	buffers map[string]string

	mu        sync.Mutex // guards buffers and what follows
	terminals map[string]*terminal
	made      int
	updates   []sdk.SessionNotification
	asked     []sdk.RequestPermissionRequest
}

// canAll is a client with buffers and terminals.
func canAll() sdk.ClientCapabilities {
	return sdk.ClientCapabilities{Terminal: true, Fs: sdk.FileSystemCapabilities{ReadTextFile: true, WriteTextFile: true}}
}

// begin starts the binary and shakes hands. When the test ends, no terminal may
// be left.
func (e *ide) begin(t testing.TB, s start) *ide {
	t.Helper()
	if e.buffers == nil {
		e.buffers = map[string]string{}
	}
	e.terminals = map[string]*terminal{}
	r, w := io.Pipe()
	s.feed = w
	e.agent = launch(t, s)
	e.conn = sdk.NewClientSideConnection(e, e.agent, r)
	e.conn.SetLogger(slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		e.agent.stop()
		e.mu.Lock()
		defer e.mu.Unlock()
		for id, term := range e.terminals {
			t.Errorf("terminal %s was never released", id)
			term.kill()
		}
	})
	var err error
	e.init, err = e.conn.Initialize(t.Context(), sdk.InitializeRequest{
		ProtocolVersion: 1, ClientCapabilities: e.caps,
		ClientInfo: &sdk.Implementation{Name: "zeph-acp-run", Version: "0"}, // whose terminals need no probe
	})
	if err != nil {
		t.Fatalf("initialize: %v", err)
	}
	return e
}

// session opens a session in the workspace.
func (e *ide) session() sdk.SessionId {
	e.t.Helper()
	r, err := e.conn.NewSession(e.t.Context(), sdk.NewSessionRequest{Cwd: e.dir, McpServers: []sdk.McpServer{}})
	if err != nil {
		e.t.Fatalf("session/new: %v", err)
	}
	return r.SessionId
}

// outcome is how a prompt was answered.
type outcome struct {
	reason sdk.StopReason
	err    error
}

// begun sends a prompt and gives its answer later.
func (e *ide) begun(session sdk.SessionId, text string) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		r, err := e.conn.Prompt(context.Background(), sdk.PromptRequest{
			SessionId: session, Prompt: []sdk.ContentBlock{sdk.TextBlock(text)},
		})
		done <- outcome{r.StopReason, err}
	}()
	return done
}

// prompt runs a turn that must end well.
func (e *ide) prompt(session sdk.SessionId, text string) {
	e.t.Helper()
	if got := within(e.t, patience, "the turn's end", e.begun(session, text)); got.err != nil || got.reason != sdk.StopReasonEndTurn {
		e.t.Fatalf("prompt %q: %q, %v\n%s", text, got.reason, got.err, e.tail())
	}
}

// cancel sends session/cancel.
func (e *ide) cancel(session sdk.SessionId) {
	e.t.Helper()
	if err := e.conn.Cancel(e.t.Context(), sdk.CancelNotification{SessionId: session}); err != nil {
		e.t.Fatal(err)
	}
}

// text joins what the agent said in a session.
func (e *ide) text(session sdk.SessionId) string {
	var b strings.Builder
	for _, u := range e.seen(session) {
		if c := u.AgentMessageChunk; c != nil && c.Content.Text != nil {
			b.WriteString(c.Content.Text.Text)
		}
	}
	return b.String()
}

// seen gives the updates of a session so far.
func (e *ide) seen(session sdk.SessionId) []sdk.SessionUpdate {
	e.mu.Lock()
	defer e.mu.Unlock()
	var us []sdk.SessionUpdate
	for _, u := range e.updates {
		if u.SessionId == session {
			us = append(us, u.Update)
		}
	}
	return us
}

// results gives the final updates of all tool calls, in order.
func (e *ide) results(session sdk.SessionId) []sdk.SessionToolCallUpdate {
	var us []sdk.SessionToolCallUpdate
	for _, u := range e.seen(session) {
		if c := u.ToolCallUpdate; c != nil && c.Status != nil && (*c.Status == sdk.ToolCallStatusCompleted || *c.Status == sdk.ToolCallStatusFailed) {
			us = append(us, *c)
		}
	}
	return us
}

// shownText joins the text in what a client shows of a call.
func shownText(content []sdk.ToolCallContent) string {
	var b strings.Builder
	for _, c := range content {
		if c.Content != nil && c.Content.Content.Text != nil {
			b.WriteString(c.Content.Content.Text.Text)
		}
	}
	return b.String()
}

func (e *ide) buffer(path string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.buffers[path]
}

func (e *ide) questions() []sdk.RequestPermissionRequest {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]sdk.RequestPermissionRequest(nil), e.asked...)
}

// The methods of sdk.Client follow.

func (e *ide) SessionUpdate(_ context.Context, p sdk.SessionNotification) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.updates = append(e.updates, p)
	return nil
}

func (e *ide) called(ctx context.Context, method string) error {
	if e.before == nil {
		return nil
	}
	return e.before(ctx, method)
}

func (e *ide) ReadTextFile(ctx context.Context, p sdk.ReadTextFileRequest) (sdk.ReadTextFileResponse, error) {
	if err := e.called(ctx, "fs/read_text_file"); err != nil {
		return sdk.ReadTextFileResponse{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if text, ok := e.buffers[p.Path]; ok {
		return sdk.ReadTextFileResponse{Content: text}, nil
	}
	b, err := os.ReadFile(p.Path) // an editor opens the file then
	if errors.Is(err, os.ErrNotExist) {
		return sdk.ReadTextFileResponse{}, &sdk.RequestError{Code: -32002, Message: "no such file"}
	}
	return sdk.ReadTextFileResponse{Content: string(b)}, err
}

// WriteTextFile changes the buffer and saves nothing.
func (e *ide) WriteTextFile(ctx context.Context, p sdk.WriteTextFileRequest) (sdk.WriteTextFileResponse, error) {
	if err := e.called(ctx, "fs/write_text_file"); err != nil {
		return sdk.WriteTextFileResponse{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.buffers[p.Path] = p.Content
	return sdk.WriteTextFileResponse{}, nil
}

func (e *ide) RequestPermission(ctx context.Context, p sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
	e.mu.Lock()
	e.asked = append(e.asked, p)
	e.mu.Unlock()
	if err := e.called(ctx, "session/request_permission"); err != nil {
		return sdk.RequestPermissionResponse{}, err
	}
	kind := sdk.PermissionOptionKindAllowOnce
	if e.permit != nil {
		kind = e.permit(p)
	}
	for _, o := range p.Options {
		if o.Kind == kind {
			return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeSelected(o.OptionId)}, nil
		}
	}
	return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeCancelled()}, nil
}

// refusing answers one method with an error.
func refusing(method string, code int, message string) func(context.Context, string) error {
	return func(_ context.Context, m string) error {
		if m == method {
			return &sdk.RequestError{Code: code, Message: message}
		}
		return nil
	}
}
