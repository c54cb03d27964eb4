package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/zeph-acp/zeph-acp/integration/fakeide"
	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// stubborn is a command that ignores SIGTERM, forks, leaves the pids of both
// processes in the file pids, and runs until it is killed.
const stubborn = `trap "" TERM; sleep 300 & echo $$ $! > pids.new; mv pids.new pids; wait; wait; sleep 300`

// stubbornPIDs waits for the command to run and returns its processes.
func (a *agent) stubbornPIDs() []int {
	a.t.Helper()
	var text string
	eventually(a.t, patience, "the command to start", func() bool {
		b, err := os.ReadFile(filepath.Join(a.dir, "pids"))
		text = string(b)
		return err == nil
	})
	var pids []int
	for _, field := range strings.Fields(text) {
		pid, err := strconv.Atoi(field)
		if err != nil {
			a.t.Fatalf("pids: %q", text)
		}
		pids = append(pids, pid)
	}
	return pids
}

// waitGone waits until all of the processes have ended.
func (a *agent) waitGone(pids []int) {
	a.t.Helper()
	for _, pid := range pids {
		eventually(a.t, promptly, fmt.Sprintf("the end of child %d", pid), func() bool { return !alive(pid) })
	}
}

// TestCancel cancels a turn wherever it can wait. The answer
// comes at once and is a result, no child is left, and no update follows. The next
// prompt works, and the model remembers the one before.
//
// Statements 113, 116, 118.
func TestCancel(t *testing.T) {
	readIt := fakemodel.Answer(fakemodel.Call("c1", "read", map[string]any{"path": "a.txt"}))
	writeIt := fakemodel.Answer(fakemodel.Call("c1", "write", map[string]any{"path": "a.txt", "content": "new\n"}))
	runIt := fakemodel.Answer(fakemodel.Call("c1", "bash", map[string]any{"command": stubborn}))
	for name, tt := range map[string]struct {
		first fakemodel.Reply // nil: the model sends a little and goes silent
		wait  string          // the client's method that never answers
		runs  bool            // a command runs, and must be dead after
		caps  sdk.ClientCapabilities
	}{
		"model":            {caps: fakeide.CanAll()},
		"permission":       {first: writeIt, wait: "session/request_permission", caps: fakeide.CanAll()},
		"fs read":          {first: readIt, wait: "fs/read_text_file", caps: fakeide.CanAll()},
		"fs write":         {first: writeIt, wait: "fs/write_text_file", caps: fakeide.CanAll()},
		"terminal create":  {first: runIt, wait: "terminal/create", caps: fakeide.CanAll()},
		"terminal wait":    {first: runIt, runs: true, caps: fakeide.CanAll()},
		"local command":    {first: runIt, runs: true},
		"local permission": {first: runIt, wait: "session/request_permission"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			waiting := make(chan struct{}, 1)
			silent := make(chan struct{})
			first := tt.first
			if first == nil {
				first = fakemodel.Hang(silent, fakemodel.Say("I begin to"))
			}
			p := fakemodel.NewAnthropic(t, first)
			e := (&ide{caps: tt.caps, IDE: fakeide.IDE{Before: func(ctx context.Context, method string) error {
				if method != tt.wait {
					return nil
				}
				waiting <- struct{}{}
				<-ctx.Done() // $/cancel_request
				return ctx.Err()
			}}}).begin(t, start{env: p.Env()})
			e.file("a.txt", "old\n")
			s := e.session()
			done := e.startPrompt(s, "the first prompt")
			var pids []int
			switch {
			case tt.wait != "":
				within(t, patience, tt.wait, waiting)
			case tt.runs:
				pids = e.stubbornPIDs()
			default:
				within(t, patience, "the model's first words", silent)
				e.await("what the model said so far", func(f frame) bool { return strings.Contains(f.line, `" to"`) })
			}
			e.cancel(s)
			if got := within(t, promptly, "answer to the cancelled prompt", done); got.err != nil || got.reason != sdk.StopReasonCancelled {
				t.Fatalf("%q, %v", got.reason, got.err)
			}
			e.waitGone(pids)
			e.checkFinal(s)
			if tt.wait == "session/request_permission" || tt.wait == "fs/write_text_file" {
				if got := e.content("a.txt"); got != "old\n" {
					t.Errorf("the file holds %q", got)
				}
			}
			before := len(p.Requests())
			p.Then(fakemodel.Answer(fakemodel.Say("I remember.")))
			e.prompt(s, "the second prompt")
			if body := p.Requests()[before]; !strings.Contains(body, "the first prompt") || !strings.Contains(body, "the second prompt") {
				t.Errorf("the model lost the messages before the cancel:\n%s", body)
			}
			if !strings.HasSuffix(e.Text(s), "I remember.") {
				t.Errorf("the agent said %q", e.Text(s))
			}
		})
	}
}

// TestCancelBackOff cancels while the agent waits to retry an
// overloaded provider.
//
// Statement 113.
func TestCancelBackOff(t *testing.T) {
	refused := make(chan struct{})
	p := fakemodel.NewAnthropic(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(529)
		_, _ = w.Write([]byte(`{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`))
		close(refused)
	})
	e := (&ide{}).begin(t, start{env: p.Env()})
	s := e.session()
	done := e.startPrompt(s, "the first prompt")
	within(t, patience, "the provider's refusal", refused)
	e.cancel(s)
	if got := within(t, promptly, "answer to the cancelled prompt", done); got.err != nil || got.reason != sdk.StopReasonCancelled {
		t.Fatalf("%q, %v", got.reason, got.err)
	}
	p.Then(fakemodel.Answer(fakemodel.Say("Back again.")))
	e.prompt(s, "the second prompt")
}

// checkFinal checks that every tool call of a session has its final status.
func (e *ide) checkFinal(s sdk.SessionId) {
	e.t.Helper()
	open := map[sdk.ToolCallId]bool{}
	for _, u := range e.Seen(s) {
		if u.ToolCall != nil {
			open[u.ToolCall.ToolCallId] = true
		}
	}
	for _, r := range e.Results(s) {
		delete(open, r.ToolCallId)
	}
	if len(open) > 0 {
		e.t.Errorf("tool calls without an end: %v", open)
	}
}

// TestCancelQueued cancels while prompts are queued. One cancel answers
// all of them, and the next prompt runs.
//
// Statement 113.
func TestCancelQueued(t *testing.T) {
	silent := make(chan struct{})
	p := fakemodel.NewAnthropic(t, fakemodel.Hang(silent))
	a := connect(t, start{env: p.Env()})
	s := a.open()
	a.request(`1`, "session/prompt", promptParams(s, "running"))
	within(t, patience, "the model", silent)
	a.request(`2`, "session/prompt", promptParams(s, "queued"))
	a.request(`3`, "session/prompt", promptParams(s, "queued too"))
	a.notify("session/cancel", `{"sessionId":`+quote(s)+`}`)
	for _, id := range []string{`1`, `2`, `3`} {
		a.cancelledWithin(t, id)
	}
	if n := len(p.Requests()); n != 1 {
		t.Errorf("the model got %d requests", n)
	}
	p.Then(fakemodel.Answer(fakemodel.Say("Here.")))
	a.runTurn(s, "next")
}

// TestCancelRequest ends a prompt by $/cancel_request.
//
// Statement 120.
func TestCancelRequest(t *testing.T) {
	silent := make(chan struct{})
	p := fakemodel.NewAnthropic(t, fakemodel.Hang(silent))
	a := connect(t, start{env: p.Env()})
	s := a.open()
	a.request(`1`, "session/prompt", promptParams(s, "hi"))
	within(t, patience, "the model", silent)
	a.send(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":"1"}}` + "\n") // a string, not the number
	a.alive()
	a.send(`{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}` + "\n")
	a.cancelled(`1`)
}

// cancelled waits for the answer to a prompt and checks that it was cancelled.
func (a *agent) cancelled(id string) {
	a.t.Helper()
	f := a.answer(id)
	var r struct{ StopReason string }
	if err := json.Unmarshal(f.Result, &r); err != nil || r.StopReason != "cancelled" {
		a.t.Fatalf("prompt %s: %s", id, f.line)
	}
}

// TestCancelInTheNextFrame sends each prompt with its session/cancel in
// the next frame. The prompt never wins, not even with a model that answers at once.
//
// Statement 114.
func TestCancelInTheNextFrame(t *testing.T) {
	const prompts = 200
	pair := func(s string, id int) (prompt, cancel string) {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":%s}`+"\n", id, promptParams(s, "/bash echo hi")),
			fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`+"\n", s)
	}
	t.Run("each pair in one write", func(t *testing.T) {
		t.Parallel()
		a := connect(t, start{})
		s := a.open()
		for id := range prompts {
			prompt, cancel := pair(s, id)
			a.send(prompt + cancel)
			a.cancelled(strconv.Itoa(id))
		}
	})
	t.Run("all in one write", func(t *testing.T) {
		t.Parallel()
		a := connect(t, start{})
		s := a.open()
		var all strings.Builder
		for id := range prompts {
			prompt, cancel := pair(s, id)
			all.WriteString(prompt + cancel)
		}
		a.send(all.String())
		for id := range prompts {
			a.cancelled(strconv.Itoa(id))
		}
	})
	t.Run("separate writes, a slow model", func(t *testing.T) {
		t.Parallel()
		p := fakemodel.NewAnthropic(t)
		p.Choose = func(fakemodel.Request) fakemodel.Reply {
			return fakemodel.Hang(make(chan struct{}), fakemodel.Say("slow"))
		}
		a := connect(t, start{env: p.Env()})
		s := a.open()
		for id := range prompts {
			_, cancel := pair(s, id)
			a.request(strconv.Itoa(id), "session/prompt", promptParams(s, "take your time"))
			a.send(cancel)
			a.cancelled(strconv.Itoa(id))
		}
	})
}

// TestCancelOne cancels one of two turns.
//
// Statement 117.
func TestCancelOne(t *testing.T) {
	silent, goOn := make(chan struct{}), make(chan struct{})
	p := fakemodel.NewAnthropic(t)
	p.Choose = func(r fakemodel.Request) fakemodel.Reply {
		if r.Last() == "silent" {
			return fakemodel.Hang(silent)
		}
		<-goOn
		return fakemodel.Answer(fakemodel.Say("Still here."))
	}
	e := (&ide{}).begin(t, start{env: p.Env()})
	one, two := e.session(), e.session()
	a, b := e.startPrompt(one, "silent"), e.startPrompt(two, "go on")
	within(t, patience, "the model", silent)
	e.cancel(one)
	if got := within(t, promptly, "answer to the cancelled prompt", a); got.reason != sdk.StopReasonCancelled {
		t.Errorf("%q, %v", got.reason, got.err)
	}
	close(goOn)
	if got := within(t, patience, "the other turn's end", b); got.reason != sdk.StopReasonEndTurn {
		t.Errorf("%q, %v", got.reason, got.err)
	}
}
