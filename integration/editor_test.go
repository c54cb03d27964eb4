package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
)

// editor is a fake editor at the level of frames, for what no client library
// does: it has the files, terminals and dialogs of an ide, but its own ids,
// silences and odd answers.
type editor struct {
	ide
	// silent are the agent's methods that are never answered; mute adds to them.
	silent []string
	// odd, if not nil, gives the answer as an editor with that quirk words it:
	// the members "result" or "error" of a response. Empty means the usual one.
	odd func(method string, params json.RawMessage, result any, err error) string

	serving sync.WaitGroup
	ended   context.CancelFunc
}

// start starts the binary and answers its requests from now on.
func (e *editor) start(t testing.TB, s start) *editor {
	t.Helper()
	if e.buffers == nil {
		e.buffers = map[string]string{}
	}
	e.terminals = map[string]*terminal{}
	e.agent = launch(t, s)
	ctx, cancel := context.WithCancel(context.Background())
	e.ended = cancel
	e.serving.Go(func() { e.serve(ctx) })
	t.Cleanup(e.leave)
	return e
}

// leave stops the agent. One that nobody killed has released its terminals,
// unless its requests were not answered.
func (e *editor) leave() {
	e.agent.stop()
	e.ended()
	e.mu.Lock()
	for id, term := range e.terminals {
		if !e.killed.Load() && len(e.silent) == 0 {
			e.t.Errorf("terminal %s was never released", id)
		}
		term.kill()
	}
	clear(e.terminals)
	e.mu.Unlock()
	e.serving.Wait()
}

// serve answers each request on its own goroutine.
func (e *editor) serve(ctx context.Context) {
	for next := 0; ; {
		e.agent.mu.Lock()
		frames, more := e.frames, e.more
		e.agent.mu.Unlock()
		for ; next < len(frames); next++ {
			if f := frames[next]; f.side == agentSide && f.ID != nil && f.Method != "" && !e.mutes(f.Method) {
				e.serving.Go(func() { e.reply(ctx, f) })
			}
		}
		select {
		case <-more:
		case <-ctx.Done():
			return
		}
	}
}

// mute makes the editor answer a method no more.
func (e *editor) mute(method string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.silent = append(e.silent, method)
}

func (e *editor) mutes(method string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Contains(e.silent, method)
}

// reply answers one request.
func (e *editor) reply(ctx context.Context, f frame) {
	result, err := e.does(ctx, f.Method, f.Params)
	text := ""
	if e.odd != nil {
		text = e.odd(f.Method, f.Params, result, err)
	}
	switch {
	case text != "":
	case err != nil:
		text = `"error":` + encode(refusalOf(err))
	default:
		text = `"result":` + encode(result)
	}
	_, _ = e.Write([]byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", f.ID, text))) // the agent may be gone
}

func refusalOf(err error) *sdk.RequestError {
	if refused, ok := errors.AsType[*sdk.RequestError](err); ok {
		return refused
	}
	return &sdk.RequestError{Code: -32603, Message: err.Error()}
}

// does does what a request asks.
func (e *editor) does(ctx context.Context, method string, params json.RawMessage) (any, error) {
	switch method {
	case "session/request_permission":
		return decoded(ctx, params, e.RequestPermission)
	case "fs/read_text_file":
		return decoded(ctx, params, e.ReadTextFile)
	case "fs/write_text_file":
		return decoded(ctx, params, e.WriteTextFile)
	case "terminal/create":
		return decoded(ctx, params, e.CreateTerminal)
	case "terminal/output":
		return decoded(ctx, params, e.TerminalOutput)
	case "terminal/wait_for_exit":
		return decoded(ctx, params, e.WaitForTerminalExit)
	case "terminal/kill":
		return decoded(ctx, params, e.KillTerminal)
	case "terminal/release":
		return decoded(ctx, params, e.ReleaseTerminal)
	}
	e.t.Errorf("the agent calls %s", method)
	return nil, &sdk.RequestError{Code: -32601, Message: "Method not found"}
}

func decoded[P, R any](ctx context.Context, params json.RawMessage, does func(context.Context, P) (R, error)) (any, error) {
	var p P
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, &sdk.RequestError{Code: -32602, Message: err.Error()}
	}
	return does(ctx, p)
}

// encode gives a value as JSON.
func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
