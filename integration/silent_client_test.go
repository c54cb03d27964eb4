package integration

import (
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// TestSilentClient has a client that never answers a request of
// the agent. It can still cancel the turn, close the session or hang up, and a
// request that needs no answer delays nothing.
//
// Statements 103, 75, 129.
func TestSilentClient(t *testing.T) {
	const caps = `{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true}`
	read := fakemodel.Answer(fakemodel.Call("c1", "read", map[string]any{"path": "a.txt"}))
	write := fakemodel.Answer(fakemodel.Call("c1", "write", map[string]any{"path": "a.txt", "content": "new\n"}))
	run := func(command string) fakemodel.Reply {
		return fakemodel.Answer(fakemodel.Call("c1", "bash", map[string]any{"command": command}))
	}
	for method, tt := range map[string]struct {
		model  fakemodel.Reply
		silent []string // in addition to the method
		passes bool     // the turn ends by itself
	}{
		"session/request_permission": {model: write},
		"fs/read_text_file":          {model: read},
		"fs/write_text_file":         {model: write},
		"terminal/create":            {model: run("echo hi")},
		"terminal/wait_for_exit":     {model: run("echo hi")},
		"terminal/output":            {model: run("echo hi")},
		"terminal/release":           {model: run("echo hi"), passes: true},
	} {
		for leave, end := range map[string]func(t *testing.T, e *editor, session string){
			"cancel": func(t *testing.T, e *editor, s string) {
				e.notify("session/cancel", `{"sessionId":`+quote(s)+`}`)
				e.cancelledWithin(t, `1`)
				e.alive()
				e.checkCancelled(t, method)
			},
			"$-cancel_request": func(t *testing.T, e *editor, s string) {
				e.notify("$/cancel_request", `{"requestId":1}`)
				e.cancelledWithin(t, `1`)
				e.alive()
				e.checkCancelled(t, method)
			},
			"close": func(t *testing.T, e *editor, s string) {
				e.request(`2`, "session/close", `{"sessionId":`+quote(s)+`}`)
				e.cancelledWithin(t, `1`)
				if f := e.answer(`2`); string(f.Result) != "{}" {
					t.Errorf("session/close: %s", f.line)
				}
			},
			"hang up": func(t *testing.T, e *editor, s string) {
				e.in.Close()
				e.exits(0)
			},
		} {
			t.Run(strings.ReplaceAll(method, "/", "_")+" "+leave, func(t *testing.T) {
				t.Parallel()
				p := fakemodel.NewAnthropic(t, tt.model)
				if tt.passes {
					p.Then(fakemodel.Answer(fakemodel.Say("Done.")))
				}
				e := (&editor{silent: []string{method}}).start(t, start{env: p.Env()})
				e.file("a.txt", "old\n")
				e.initialize(caps)
				s := e.open()
				e.request(`1`, "session/prompt", promptParams(s, "go"))
				e.await(method, func(f frame) bool { return f.Method == method })
				if tt.passes {
					e.ends(`1`)
					return
				}
				end(t, e, s)
				if got := e.content("a.txt"); got != "old\n" || e.Buffer("a.txt") != "" {
					t.Errorf("the file holds %q", got)
				}
			})
		}
	}
}

// cancelledWithin waits for the prompt answer of a cancelled turn, which must come
// at once.
func (a *agent) cancelledWithin(t *testing.T, id string) {
	t.Helper()
	f := a.awaitWithin(promptly, "answer to the cancelled prompt", func(f frame) bool { return f.Method == "" && string(f.ID) == id })
	if !strings.Contains(string(f.Result), `"cancelled"`) {
		t.Errorf("the answer to the prompt is %s", f.line)
	}
}

// checkCancelled checks that a late answer to an abandoned request has no effect.
func (e *editor) checkCancelled(t *testing.T, method string) {
	t.Helper()
	open := e.await(method, func(f frame) bool { return f.Method == method })
	e.mute("terminal/release") // for the late terminal
	before := len(e.agentFrames())
	e.send(`{"jsonrpc":"2.0","id":` + string(open.ID) +
		`,"result":{"outcome":{"outcome":"selected","optionId":"x"},"content":"late","terminalId":"late","output":"","truncated":false}}` + "\n")
	e.alive()
	if method == "terminal/create" {
		e.await("terminal/release", func(f frame) bool { return f.Method == "terminal/release" && strings.Contains(f.line, `"late"`) })
	}
	for i, f := range e.agentFrames() {
		if f.Method == "$/cancel_request" {
			t.Errorf("a client that did not declare it got %s", f.line)
		}
		if i < before {
			continue
		}
		if _, ok := f.update(); ok {
			t.Errorf("a late answer had an effect: %s", f.line)
		}
	}
}
