package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/integration/fakeide"
)

// client is a fake editor that keeps no frames, for tests with more of them than
// fit in memory.
type client struct {
	*agent
	fakeide.IDE
	// update, if not nil, is called with each update, in order.
	update  func(session string, f frame)
	servers string // of each session: the elements of mcpServers

	serving sync.WaitGroup
	asking  sync.Mutex
	asked   int                     // id of the last request
	waiting map[string]chan<- frame // by the id of the request
}

// start starts the binary and initializes it.
func (c *client) start(t testing.TB, capabilities string, s start) *client {
	t.Helper()
	c.Start(t)
	c.waiting = map[string]chan<- frame{}
	s.unchecked, s.onFrame = true, c.handle
	c.agent = launch(t, s)
	t.Cleanup(func() {
		c.agent.stop()
		for _, id := range c.Stop() {
			if !c.exitChecked {
				t.Errorf("terminal %s was never released", id)
			}
		}
		c.serving.Wait()
	})
	c.call("initialize", `{"protocolVersion":1,`+knownClient+`,"clientCapabilities":`+capabilities+`}`)
	return c
}

// handle handles a frame of the agent.
func (c *client) handle(f frame) {
	switch {
	case f.Method == "":
		c.asking.Lock()
		defer c.asking.Unlock()
		if answer := c.waiting[string(f.ID)]; answer != nil {
			delete(c.waiting, string(f.ID))
			answer <- f
		} else {
			c.t.Errorf("an answer to no request: %s", f.line)
		}
	case f.ID != nil:
		c.serving.Go(func() { c.reply(f) })
	case f.Method == "session/update" && c.update != nil:
		var p struct{ SessionID string }
		if err := json.Unmarshal(f.Params, &p); err != nil {
			c.t.Errorf("%v: %s", err, f.line)
		}
		c.update(p.SessionID, f)
	}
}

// reply answers a request of the agent.
func (c *client) reply(f frame) {
	result, err := c.Answer(context.Background(), f.Method, f.Params)
	text := `"result":` + encode(result)
	if err != nil {
		text = `"error":` + encode(fakeide.RefusalOf(err))
	}
	c.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, f.ID, text))
}

// post writes a line. The agent may be gone.
func (c *client) post(line string) {
	c.writing.Lock()
	defer c.writing.Unlock()
	_, _ = c.in.Write([]byte(line + "\n"))
}

// startCall sends a request and returns a channel for its answer.
func (c *client) startCall(method, params string) <-chan frame {
	answer := make(chan frame, 1)
	c.asking.Lock()
	c.asked++
	id := strconv.Itoa(c.asked)
	c.waiting[id] = answer
	c.asking.Unlock()
	c.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
	return answer
}

// waitAnswer waits for an answer. It returns false if the agent exits before.
func (c *client) waitAnswer(what string, answer <-chan frame) (f frame, ok bool) {
	c.t.Helper()
	select {
	case f := <-answer:
		return f, true
	case <-c.exited:
		select {
		case f := <-answer:
			return f, true
		default:
			return frame{}, false
		}
	case <-time.After(patience):
		c.t.Fatalf("no answer to %s after %s\nstderr: %s", what, patience, &c.stderr)
		panic("unreachable")
	}
}

// call sends a request that must succeed and returns its result.
func (c *client) call(method, params string) json.RawMessage {
	c.t.Helper()
	f, ok := c.waitAnswer(method, c.startCall(method, params))
	if !ok || f.Error != nil {
		c.t.Fatalf("%s: %s\nstderr: %s", method, f.line, &c.stderr)
	}
	return f.Result
}

// open opens a session in the workspace.
func (c *client) open() string {
	c.t.Helper()
	var r struct{ SessionID string }
	if err := json.Unmarshal(c.call("session/new", fmt.Sprintf(`{"cwd":%q,"mcpServers":[%s]}`, c.dir, c.servers)), &r); err != nil {
		c.t.Fatal(err)
	}
	return r.SessionID
}

// load loads a session.
func (c *client) load(session string) {
	c.t.Helper()
	c.call("session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[%s]}`, session, c.dir, c.servers))
}

// cancel sends session/cancel.
func (c *client) cancel(session string) {
	c.post(fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`, session))
}

// stopReason returns the stop reason in the answer to a prompt.
func stopReason(f frame) string {
	var r struct{ StopReason string }
	_ = json.Unmarshal(f.Result, &r) // an error has no result
	return r.StopReason
}
