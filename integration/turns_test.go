package integration

import (
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/zeph-acp/zeph-acp/integration/fakeide"
	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
	"github.com/zeph-acp/zeph-acp/session/agent/prompt"
)

// TestTurn is the product in one turn: the model reads a file, edits it and runs a
// command in the editor's terminal. The editor has unsaved changes in the file, so
// the text on the disk must neither be shown nor change.
func TestTurn(t *testing.T) {
	const onDisk = "package old // DISK-ONLY\n"
	p := fakemodel.NewAnthropic(t,
		fakemodel.Answer(
			fakemodel.Think("I should look first. ☂", "c2lnbmVk"),
			fakemodel.Say("Let me look – zuerst lesen…"),
			fakemodel.Call("toolu_1", "read", map[string]any{"path": "main.go"}),
		),
		fakemodel.Answer(fakemodel.Call("toolu_2", "edit", map[string]any{"path": "main.go", "old_string": "unsaved", "new_string": "edited <&>"})),
		fakemodel.Answer(fakemodel.Say("Now the tests."), fakemodel.Call("toolu_3", "bash", map[string]any{"command": "./check.sh"})),
		fakemodel.Answer(fakemodel.Say("All done: 🎉 größer.")),
	)
	e := (&ide{caps: fakeide.CanAll()}).begin(t, start{env: p.Env()})
	file := e.file("main.go", onDisk)
	e.SetBuffer(file, "package unsaved // BUFFER-ONLY\n")
	e.script("check.sh", "echo 'ok  example 0.01s'")
	s := e.session()
	e.prompt(s, "fix it")

	if got := e.Buffer(file); got != "package edited <&> // BUFFER-ONLY\n" {
		t.Errorf("the buffer holds %q", got)
	}
	if got := e.content("main.go"); got != onDisk {
		t.Errorf("the disk holds %q", got)
	}
	for i, body := range p.Requests() {
		if strings.Contains(body, "DISK-ONLY") {
			t.Errorf("request %d to the model shows the text on the disk", i)
		}
		if i > 0 && !strings.Contains(body, "BUFFER-ONLY") {
			t.Errorf("request %d to the model does not show the buffer", i)
		}
		if i > 0 && !strings.Contains(body, "c2lnbmVk") {
			t.Errorf("request %d lacks the signed thought", i)
		}
	}
	for _, f := range e.agentFrames() {
		if strings.Contains(f.line, "DISK-ONLY") {
			t.Errorf("a frame shows the text on the disk: %s", f.line)
		}
	}
	if got := e.Text(s); got != "Let me look – zuerst lesen…Now the tests.All done: 🎉 größer." {
		t.Errorf("the agent said %q", got)
	}
	if last := p.Requests()[3]; !strings.Contains(last, "ok  example 0.01s") {
		t.Errorf("the model does not see the command's output:\n%s", last)
	}
	e.checkCalls(s)
	want := []string{
		"fs/read_text_file",                                                                          // read
		"fs/read_text_file",                                                                          // Prepare of the edit
		"session/request_permission", "fs/read_text_file", "fs/write_text_file", "fs/read_text_file", // the edit, and a check of the buffer
		"session/request_permission", "terminal/create", "terminal/wait_for_exit", "terminal/output", "terminal/release",
	}
	if got := e.methods(); !slices.Equal(got, want) {
		t.Errorf("the agent called\n%q, want\n%q", got, want)
	}
	e.checkTerminalOrder()
}

// checkCalls compares the updates of a session with the life cycle of a tool call.
func (e *ide) checkCalls(s sdk.SessionId) {
	e.t.Helper()
	states := map[sdk.ToolCallId][]string{}
	diffs, terminals := 0, 0
	var order []sdk.ToolCallId
	for _, u := range e.Seen(s) {
		if c := u.ToolCall; c != nil {
			if states[c.ToolCallId] != nil {
				e.t.Errorf("tool call %s is announced twice", c.ToolCallId)
			}
			states[c.ToolCallId] = append(states[c.ToolCallId], string(c.Status))
			order = append(order, c.ToolCallId)
		}
		c := u.ToolCallUpdate
		if c == nil {
			continue
		}
		if states[c.ToolCallId] == nil {
			e.t.Errorf("tool call %s is updated before it is announced", c.ToolCallId)
		}
		if c.Status != nil {
			states[c.ToolCallId] = append(states[c.ToolCallId], string(*c.Status))
		}
		if c.Status == nil || *c.Status != sdk.ToolCallStatusCompleted {
			continue
		}
		for _, content := range c.Content {
			if d := content.Diff; d != nil {
				diffs++
				if !filepath.IsAbs(d.Path) || d.OldText == nil || !strings.Contains(d.NewText, "edited <&>") {
					e.t.Errorf("diff %+v", d)
				}
			}
			if content.Terminal != nil {
				terminals++
			}
		}
		for _, l := range c.Locations {
			if !filepath.IsAbs(l.Path) {
				e.t.Errorf("location %q is not absolute", l.Path)
			}
		}
	}
	if len(order) != 3 || diffs != 1 || terminals != 1 {
		e.t.Errorf("got %d tool calls, %d diffs and %d terminals, want 3, 1 and 1", len(order), diffs, terminals)
	}
	for _, id := range order {
		if got := strings.Join(states[id], " "); got != "pending in_progress completed" {
			e.t.Errorf("tool call %s had the states %q", id, got)
		}
	}
}

// checkTerminalOrder checks that each terminal is shown before it is released, and
// released after the last update of its call.
func (e *ide) checkTerminalOrder() {
	e.t.Helper()
	shown := map[string]bool{} // tool calls that have shown a terminal
	ended := map[string]bool{} // tool calls that had their last update
	for _, f := range e.agentFrames() {
		switch f.Method {
		case "session/update":
			u, _ := f.update()
			if strings.Contains(string(u.Content), `"type":"terminal"`) {
				shown[u.ToolCallID] = true
			}
			if u.Status == "completed" || u.Status == "failed" {
				ended[u.ToolCallID] = true
			}
		case "terminal/wait_for_exit", "terminal/release":
			if len(shown) == 0 {
				e.t.Errorf("%s of a terminal that no tool call has shown", f.Method)
			}
			for id := range shown {
				if f.Method == "terminal/release" && !ended[id] {
					e.t.Errorf("the terminal of %s is released before the last update", id)
				}
			}
		}
	}
}

// TestParallelSessions runs two turns at once. The model answers neither
// before both have asked it.
//
// Statement 91.
func TestParallelSessions(t *testing.T) {
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
	a, b := e.startPrompt(one, "one"), e.startPrompt(two, "two")
	for _, done := range []<-chan outcome{a, b} {
		if got := within(t, patience, "the turn's end", done); got.err != nil || got.reason != sdk.StopReasonEndTurn {
			t.Fatalf("%q, %v", got.reason, got.err)
		}
	}
	if e.Text(one) != "You said one." || e.Text(two) != "You said two." {
		t.Errorf("the sessions got %q and %q", e.Text(one), e.Text(two))
	}
}

// TestQueue sends prompts during a turn: first in, first out, and each
// one sees the earlier ones.
//
// Statement 90.
func TestQueue(t *testing.T) {
	goOn := make(chan struct{})
	p := fakemodel.NewAnthropic(t)
	p.Choose = func(r fakemodel.Request) fakemodel.Reply {
		<-goOn
		return fakemodel.Answer(fakemodel.Say("<" + r.Last() + ">"))
	}
	a := connect(t, start{env: p.Env()})
	s := a.open()
	for _, id := range []string{"1", "2", "3"} {
		a.request(id, "session/prompt", promptParams(s, "prompt "+id))
	}
	a.alive()
	close(goOn)
	a.answer("3")
	var order []string
	for _, f := range a.agentFrames() {
		if f.Result != nil && len(f.ID) == 1 {
			order = append(order, string(f.ID))
		}
	}
	if !slices.Equal(order, []string{"1", "2", "3"}) {
		t.Errorf("answered in the order %q", order)
	}
	if n := len(p.Requests()); n != 3 {
		t.Fatalf("the model got %d requests", n)
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
			t.Errorf("request %d has the prompts %q, want %q", n, said, want)
		}
	}
}

// TestNothingFollows ends the connection after a turn that began as
// soon as the session was open. Neither a frame of the turn nor the session's first
// frames come after the response.
//
// Statement 79.
func TestNothingFollows(t *testing.T) {
	p := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Think("Hm.", "x"), fakemodel.Say("Hello.")))
	a := connect(t, start{env: p.Env()})
	s := a.open()
	a.request("1", "session/prompt", promptParams(s, "hi"))
	a.answer("1")
	if err := a.in.Close(); err != nil {
		t.Fatal(err)
	}
	a.waitExit(patience)
	frames := a.agentFrames()
	if last := frames[len(frames)-1]; string(last.ID) != "1" {
		t.Errorf("after the response: %s", last.line)
	}
}

// TestStopReasons checks the stop reason for each end of an answer.
//
// Statement 88.
func TestStopReasons(t *testing.T) {
	stopped := func(reason string) fakemodel.Reply {
		return func(w http.ResponseWriter, _ *http.Request) {
			fakemodel.Stream(w, fakemodel.Events([]fakemodel.Block{fakemodel.Say("so far")})+fakemodel.Event("message_delta",
				`{"delta":{"stop_reason":%q},"usage":{"output_tokens":7}}`, reason)+fakemodel.Event("message_stop", `{}`))
		}
	}
	for reason, want := range map[string]string{"max_tokens": "max_tokens", "refusal": "refusal", "end_turn": "end_turn", "stop_sequence": "end_turn"} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			p := fakemodel.NewAnthropic(t, stopped(reason))
			e := (&ide{}).begin(t, start{env: p.Env()})
			if got := within(t, patience, "answer", e.startPrompt(e.session(), "hi")); string(got.reason) != want || got.err != nil {
				t.Errorf("%q, %v", got.reason, got.err)
			}
		})
	}
}

// TestDuplicateCallIDs has two calls with one id in one answer, and the
// id again in the next. The client sees three calls, the model a result for each.
//
// Statement 95.
func TestDuplicateCallIDs(t *testing.T) {
	read := func(path string) fakemodel.Block { return fakemodel.Call("same", "read", map[string]any{"path": path}) }
	p := fakemodel.NewAnthropic(t, fakemodel.Answer(read("a.txt"), read("b.txt")), fakemodel.Answer(read("a.txt")), fakemodel.Answer(fakemodel.Say("Done.")))
	e := (&ide{}).begin(t, start{env: p.Env()})
	e.file("a.txt", "A\n")
	e.file("b.txt", "B\n")
	s := e.session()
	e.prompt(s, "read")
	ids := map[sdk.ToolCallId]bool{}
	for _, r := range e.Results(s) {
		ids[r.ToolCallId] = *r.Status == sdk.ToolCallStatusCompleted
	}
	if len(ids) != 3 {
		t.Errorf("%d tool calls: %v", len(ids), ids)
	}
	// The API rejects duplicate ids of calls or results.
	for n := range 3 {
		for _, m := range p.Request(n).Messages {
			seen := map[string]bool{}
			for _, b := range m.Content {
				if b.Type == "tool_result" && seen[b.Tool_Use_ID] {
					t.Errorf("request %d has two results for %q", n, b.Tool_Use_ID)
				}
				seen[b.Tool_Use_ID] = true
			}
		}
	}
}
