package integration

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/zeph-acp/zeph-acp/integration/fakeide"
)

// ide is a fake editor, connected to the binary by a client library from outside
// this project.
type ide struct {
	*agent
	fakeide.IDE
	conn *sdk.ClientSideConnection
	init sdk.InitializeResponse

	caps sdk.ClientCapabilities
	name string // of the client; empty means one whose terminals need no probe
}

// begin starts the binary and sends initialize. At the end of the test all
// terminals must be released.
func (e *ide) begin(t testing.TB, s start) *ide {
	t.Helper()
	e.Start(t)
	r, w := io.Pipe()
	s.mirror = w
	e.agent = launch(t, s)
	e.conn = sdk.NewClientSideConnection(&e.IDE, e.agent, r)
	e.conn.SetLogger(slog.New(slog.DiscardHandler))
	t.Cleanup(func() {
		e.agent.stop()
		for _, id := range e.Stop() {
			t.Errorf("terminal %s was never released", id)
		}
	})
	var err error
	e.init, err = e.conn.Initialize(t.Context(), sdk.InitializeRequest{
		ProtocolVersion: 1, ClientCapabilities: e.caps,
		ClientInfo: &sdk.Implementation{Name: cmp.Or(e.name, "zeph-acp-run"), Version: "0"},
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

// outcome is the answer to a prompt.
type outcome struct {
	reason sdk.StopReason
	err    error
}

// startPrompt sends a prompt and returns a channel for its answer.
func (e *ide) startPrompt(session sdk.SessionId, text string) <-chan outcome {
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
	if got := within(e.t, patience, "the turn's end", e.startPrompt(session, text)); got.err != nil || got.reason != sdk.StopReasonEndTurn {
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
