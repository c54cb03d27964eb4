package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/zeph-acp/zeph-acp/session/agent/prompt"

	"github.com/zeph-acp/zeph-acp/integration/fakeide"
	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// codeOf returns the JSON-RPC error that answered a request of the SDK.
func codeOf(err error) *sdk.RequestError {
	if e, ok := errors.AsType[*sdk.RequestError](err); ok {
		return e
	}
	return &sdk.RequestError{Message: fmt.Sprint(err)}
}

// TestStatement091ParallelSessions runs two turns at once: the model answers neither before
// it was asked by both.
func TestStatement091ParallelSessions(t *testing.T) {
	p := fakemodel.NewAnthropic(t)
	both := make(chan struct{}, 2)
	met := make(chan struct{})
	p.Choose = func(r fakemodel.Request) fakemodel.Reply {
		both <- struct{}{}
		if len(both) == 2 {
			close(met)
		}
		within(t, patience, "request of the other session", met)
		return fakemodel.Answer(fakemodel.Say("You said " + r.Last() + "."))
	}
	e := (&ide{caps: fakeide.CanAll()}).begin(t, start{env: p.Env()})
	one, two := e.session(), e.session()
	a, b := e.begun(one, "one"), e.begun(two, "two")
	for _, done := range []<-chan outcome{a, b} {
		if got := within(t, patience, "the turn's end", done); got.err != nil || got.reason != sdk.StopReasonEndTurn {
			t.Fatalf("%q, %v", got.reason, got.err)
		}
	}
	if e.Text(one) != "You said one." || e.Text(two) != "You said two." {
		t.Errorf("the sessions got %q and %q", e.Text(one), e.Text(two))
	}
}

// TestStatement117CancelOne cancels one of two turns.
func TestStatement117CancelOne(t *testing.T) {
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
	a, b := e.begun(one, "silent"), e.begun(two, "go on")
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

// TestStatement090Queue sends prompts while one runs: first in, first out, and each one sees
// the ones before.
func TestStatement090Queue(t *testing.T) {
	goOn := make(chan struct{})
	p := fakemodel.NewAnthropic(t)
	p.Choose = func(r fakemodel.Request) fakemodel.Reply {
		<-goOn
		return fakemodel.Answer(fakemodel.Say("<" + r.Last() + ">"))
	}
	a := launch(t, start{env: p.Env()})
	a.initialize()
	s := a.open()
	for _, id := range []string{"1", "2", "3"} {
		a.request(id, "session/prompt", promptParams(s, "prompt "+id))
	}
	a.alive()
	close(goOn)
	a.answer("3")
	var order []string
	for _, f := range a.sent() {
		if f.Result != nil && len(f.ID) == 1 {
			order = append(order, string(f.ID))
		}
	}
	if !slices.Equal(order, []string{"1", "2", "3"}) {
		t.Errorf("answered in the order %q", order)
	}
	if n := len(p.Requests()); n != 3 {
		t.Fatalf("the model was asked %d times", n)
	}
	for n := range 3 {
		var said []string
		for _, m := range p.Request(n).Messages {
			for _, b := range m.Content {
				said = append(said, b.Text)
			}
		}
		want := []string{prompt.Mode("code"), "prompt 1", "<prompt 1>", "prompt 2", "<prompt 2>", "prompt 3"}[:2*n+2]
		if !slices.Equal(said, want) {
			t.Errorf("request %d tells of %q, want %q", n, said, want)
		}
	}
}

// TestStatement125Modes writes a file in each mode.
func TestStatement125Modes(t *testing.T) {
	write := func(n int) []fakemodel.Reply {
		return []fakemodel.Reply{
			fakemodel.Answer(fakemodel.Call(fmt.Sprintf("c%d", n), "write", map[string]any{"path": fmt.Sprintf("f%d", n), "content": "x\n"})),
			fakemodel.Answer(fakemodel.Say("Done.")),
		}
	}
	for mode, want := range map[sdk.SessionModeId]struct {
		written bool
		asked   int
	}{
		"ask":       {false, 0},
		"architect": {false, 0},
		"code":      {true, 1},
		"auto":      {true, 0},
	} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			p := fakemodel.NewAnthropic(t, write(1)...)
			e := (&ide{}).begin(t, start{env: p.Env()})
			s := e.session()
			if _, err := e.conn.SetSessionMode(t.Context(), sdk.SetSessionModeRequest{SessionId: s, ModeId: mode}); err != nil {
				t.Fatal(err)
			}
			e.prompt(s, "write")
			matches, _ := filepath.Glob(filepath.Join(e.dir, "f1"))
			if (len(matches) == 1) != want.written || len(e.Questions()) != want.asked {
				t.Errorf("written %q, asked %d times", matches, len(e.Questions()))
			}
		})
	}
	e := (&ide{}).begin(t, start{})
	_, err := e.conn.SetSessionMode(t.Context(), sdk.SetSessionModeRequest{SessionId: e.session(), ModeId: "yolo"})
	if f := codeOf(err); f.Code != -32602 || !strings.Contains(f.Message, "yolo") {
		t.Errorf("unknown mode: %v", err)
	}
}

// TestStatement101_102Permission returns every answer that a client can give.
func TestStatement101_102Permission(t *testing.T) {
	edit := func(n int) fakemodel.Reply {
		return fakemodel.Answer(fakemodel.Call(fmt.Sprintf("c%d", n), "write", map[string]any{"path": "f", "content": fmt.Sprintf("%d\n", n)}))
	}
	for kind, want := range map[sdk.PermissionOptionKind]struct {
		asked int
		disk  string
	}{
		sdk.PermissionOptionKindAllowOnce:    {2, "2\n"},
		sdk.PermissionOptionKindAllowAlways:  {1, "2\n"},
		sdk.PermissionOptionKindRejectOnce:   {2, "0\n"},
		sdk.PermissionOptionKindRejectAlways: {1, "0\n"},
		"":                                   {2, "0\n"}, // outcome cancelled, with the turn going on
		"fail":                               {2, "0\n"}, // an error
	} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			p := fakemodel.NewAnthropic(t, edit(1), edit(2), fakemodel.Answer(fakemodel.Say("Done.")))
			e := &ide{IDE: fakeide.IDE{Permit: func(sdk.RequestPermissionRequest) sdk.PermissionOptionKind { return kind }}}
			e.Before = func(_ context.Context, method string) error {
				if kind == "fail" {
					return &sdk.RequestError{Code: -32603, Message: "no dialog"}
				}
				return nil
			}
			e.begin(t, start{env: p.Env()})
			e.file("f", "0\n")
			s := e.session()
			e.prompt(s, "write")
			if got := e.content("f"); got != want.disk || len(e.Questions()) != want.asked {
				t.Errorf("the disk holds %q, asked %d times", got, len(e.Questions()))
			}
			for _, r := range e.Results(s) {
				if (*r.Status == sdk.ToolCallStatusCompleted) != (want.disk == "2\n") {
					t.Errorf("tool call ended %s", *r.Status)
				}
			}
			q := e.Questions()[0].ToolCall
			if q.Title == nil || q.RawInput == nil || len(q.Content) == 0 || q.Status == nil || *q.Status != sdk.ToolCallStatusPending {
				t.Errorf("the question does not tell what is asked: %+v", q)
			}
		})
	}
}

// TestStatement075Close closes a session in the middle of a turn: the prompt is answered
// first, and then there is no such session.
func TestStatement075Close(t *testing.T) {
	p := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Call("c1", "bash", map[string]any{"command": stubborn})))
	a := (&ide{}).begin(t, start{env: p.Env()})
	s := a.session()
	done := a.begun(s, "run")
	pids := a.stubbornPIDs()
	if _, err := a.conn.CloseSession(t.Context(), sdk.CloseSessionRequest{SessionId: s}); err != nil {
		t.Fatalf("session/close: %v", err)
	}
	if got := within(t, promptly, "answer to the prompt", done); got.reason != sdk.StopReasonCancelled {
		t.Errorf("%q, %v", got.reason, got.err)
	}
	var order []string
	for _, f := range a.sent() {
		if f.Result != nil {
			order = append(order, strings.TrimSpace(string(f.Result)))
		}
	}
	if got := order[len(order)-2:]; !strings.Contains(got[0], "cancelled") || got[1] != "{}" {
		t.Errorf("answers in the order %q", got)
	}
	a.gone(pids)
	got := within(t, patience, "answer", a.begun(s, "again"))
	if f := codeOf(got.err); f.Code != -32002 || !strings.Contains(f.Message, string(s)) {
		t.Errorf("prompt in a closed session: %v", got.err)
	}
}

// TestStatement051_055_056FirstFrames opens 1000 sessions, all asked for at once.
// They have 1000 ids, nothing of a session is sent before the answer that names
// it, and each one's commands follow.
func TestStatement051_055_056FirstFrames(t *testing.T) {
	const n = 1000
	a := launch(t, start{})
	a.initialize()
	for id := range n {
		a.request(fmt.Sprint(id), "session/new", `{"cwd":`+quote(a.dir)+`,"mcpServers":[]}`)
	}
	commands := 0
	a.await("commands of every session", func(f frame) bool {
		if u, ok := f.update(); ok && u.Kind == "available_commands_update" {
			commands++
		}
		return commands == n
	})
	named := map[string]bool{}
	for _, f := range a.sent() {
		var r, p struct{ SessionID string }
		if json.Unmarshal(f.Result, &r) == nil && r.SessionID != "" {
			named[r.SessionID] = true
		}
		if f.Method == "session/update" && json.Unmarshal(f.Params, &p) == nil && !named[p.SessionID] {
			t.Errorf("an update before the session is named: %s", f.line)
		}
	}
	if len(named) != n {
		t.Errorf("%d sessions have %d ids", n, len(named))
	}
}
