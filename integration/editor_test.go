package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakeide"
)

// editor is a fake editor at the level of frames. It has the files, terminals and
// dialogs of an ide, and also ids, silences and odd answers that no client library
// produces.
type editor struct {
	ide
	silence sync.Mutex // guards silent
	// silent are the agent's methods that are never answered; mute adds to them.
	silent []string
	// quirk, if not nil, returns a quirky answer: the member "result" or "error" of
	// a response. Empty means the usual answer.
	quirk func(method string, params json.RawMessage, result any, err error) string

	serving sync.WaitGroup
	ended   context.CancelFunc
}

// start starts the binary and answers its requests.
func (e *editor) start(t testing.TB, s start) *editor {
	t.Helper()
	e.Start(t)
	e.agent = launch(t, s)
	ctx, cancel := context.WithCancel(context.Background())
	e.ended = cancel
	e.serving.Go(func() { e.serve(ctx) })
	t.Cleanup(e.quit)
	return e
}

// quit stops the agent. Unless it was killed, or some of its requests were not
// answered, it must have released its terminals.
func (e *editor) quit() {
	e.agent.stop()
	e.ended()
	for _, id := range e.Stop() {
		if !e.killed.Load() && !e.mutesAny() {
			e.t.Errorf("terminal %s was never released", id)
		}
	}
	e.serving.Wait()
}

// serve answers each request on its own goroutine.
func (e *editor) serve(ctx context.Context) {
	for next := 0; ; {
		e.agent.mu.Lock()
		frames, more := e.frames, e.newFrame
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

// mute stops the editor from answering a method.
func (e *editor) mute(method string) {
	e.silence.Lock()
	defer e.silence.Unlock()
	e.silent = append(e.silent, method)
}

// mutes reports whether the method stays unanswered.
func (e *editor) mutes(method string) bool {
	e.silence.Lock()
	defer e.silence.Unlock()
	return slices.Contains(e.silent, method)
}

// mutesAny reports whether any method stays unanswered.
func (e *editor) mutesAny() bool {
	e.silence.Lock()
	defer e.silence.Unlock()
	return len(e.silent) > 0
}

// reply answers one request.
func (e *editor) reply(ctx context.Context, f frame) {
	result, err := e.Answer(ctx, f.Method, f.Params)
	text := ""
	if e.quirk != nil {
		text = e.quirk(f.Method, f.Params, result, err)
	}
	switch {
	case text != "":
	case err != nil:
		text = `"error":` + encode(fakeide.RefusalOf(err))
	default:
		text = `"result":` + encode(result)
	}
	_, _ = e.Write([]byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`+"\n", f.ID, text))) // the agent may be gone
}

// encode returns a value as JSON.
func encode(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}
