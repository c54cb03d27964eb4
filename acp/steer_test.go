package acp

import (
	"context"
	"errors"
	"fmt"
	"testing"
)

// The outcome of a steer depends on the running turn, and on whether the client sends
// the prompt itself.
func TestSteering(t *testing.T) {
	settles := func(err error) func(context.Context) error {
		return func(context.Context) error { return err }
	}
	for name, tt := range map[string]struct {
		steer func(context.Context) error
		meta  string
		want  string
	}{
		"seen":          {settles(nil), ``, `{"outcome":"injected"}`},
		"idle":          {nil, ``, `{"outcome":"startedNewTurn"}`},
		"idle, guarded": {nil, `,"_meta":{"steering":{"idleBehavior":"promptRequired"}}`, `{"outcome":"promptRequired","reason":"noRunningTurn"}`},
		"another guard": {nil, `,"_meta":{"steering":{"idleBehavior":"x"}}`, `{"outcome":"startedNewTurn"}`},
		"odd _meta":     {nil, `,"_meta":{"steering":[]}`, `{"outcome":"startedNewTurn"}`},
		"too late":      {settles(ErrNoTurn), ``, `{"outcome":"startedNewTurn"}`},
		"too late, guarded": {
			settles(ErrNoTurn), `,"_meta":{"steering":{"idleBehavior":"promptRequired"}}`, `{"outcome":"promptRequired","reason":"noRunningTurn"}`,
		},
		"cancelled": {settles(fmt.Errorf("closed: %w", ErrTurnCancelled)), ``, `{"outcome":"failed","reason":"cancelled"}`},
		"failed":    {settles(errors.New("the model failed")), ``, `{"outcome":"failed","reason":"the model failed"}`},
	} {
		t.Run(name, func(t *testing.T) {
			w := checked(t, newServer(t, &fakeSessions{steer: tt.steer}))
			w.send(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`)
			w.read()
			w.send(`{"jsonrpc":"2.0","id":2,"method":"_session/steering","params":{"sessionId":"s1","prompt":[{"type":"text","text":"hi"}]` + tt.meta + `}}`)
			if got, want := w.read(), `{"jsonrpc":"2.0","id":2,"result":`+tt.want+`}`; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

// A turn without a request ends with the connection, and its failure is shown.
func TestSteeringStartsATurn(t *testing.T) {
	began := make(chan struct{})
	var cause error
	f := &fakeSessions{}
	f.turn = func(ctx context.Context, _ *Client, prompt []ContentBlock) (StopReason, error) {
		if *prompt[0].Text == "fail" {
			return "", errors.New("no model")
		}
		close(began)
		<-ctx.Done()
		cause = context.Cause(ctx)
		return "", cause
	}
	w := serve(t, newServer(t, f))
	w.send(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`)
	w.read()
	w.send(`{"jsonrpc":"2.0","id":2,"method":"_session/steering","params":{"sessionId":"s1","prompt":[{"type":"text","text":"fail"}]}}`)
	w.read()
	const told = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"The turn failed: no model"}}}}`
	if got := w.read(); got != told {
		t.Errorf("w.read(): got %v, want %v", got, told)
	}
	w.send(`{"jsonrpc":"2.0","id":3,"method":"_session/steering","params":{"sessionId":"s1","prompt":[{"type":"text","text":"wait"}]}}`)
	w.read()
	<-began
	w.in.Close()
	w.end <- <-w.end
	if !errors.Is(cause, ErrClosed) {
		t.Errorf("the turn ended with %v", cause)
	}
}

// A client may withdraw a text that waits.
func TestSteeringWithdrawn(t *testing.T) {
	waits := func(ctx context.Context) error {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	w := serve(t, newServer(t, &fakeSessions{steer: waits}))
	w.send(`{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}`)
	w.read()
	w.send(
		`{"jsonrpc":"2.0","id":2,"method":"_session/steering","params":{"sessionId":"s1","prompt":[{"type":"text","text":"hi"}]}}`,
		`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":2}}`)
	const want = `{"jsonrpc":"2.0","id":2,"error":{"code":-32800,"message":"the request was cancelled: the turn was cancelled"}}`
	if got := w.read(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}
