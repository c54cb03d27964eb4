package integration

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/zeph-acp/zeph-acp/integration/fakeide"
	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// TestTurn is the product in one turn: the model reads a file, edits it and runs
// a command. The editor has unsaved changes in the file, so what the disk holds
// must be seen by nobody and stay as it is; the command runs in the editor's
// terminal.
func TestTurn(t *testing.T) {
	const onDisk = "package old // DISK-ONLY\n"
	p := fakemodel.NewAnthropic(t,
		fakemodel.Answer(fakemodel.Think("I should look first. ☂", "c2lnbmVk"), fakemodel.Say("Let me look – zuerst lesen…"), fakemodel.Call("toolu_1", "read", map[string]any{"path": "main.go"})),
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
			t.Errorf("request %d to the model shows what the disk holds", i)
		}
		if i > 0 && !strings.Contains(body, "BUFFER-ONLY") {
			t.Errorf("request %d to the model does not show the buffer", i)
		}
		if i > 0 && !strings.Contains(body, "c2lnbmVk") {
			t.Errorf("request %d does not give the signed thought back", i)
		}
	}
	for _, f := range e.sent() {
		if strings.Contains(f.line, "DISK-ONLY") {
			t.Errorf("a frame shows what the disk holds: %s", f.line)
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
		"fs/read_text_file",                                                                          // what would the edit do?
		"session/request_permission", "fs/read_text_file", "fs/write_text_file", "fs/read_text_file", // edit, and what the editor made of it
		"session/request_permission", "terminal/create", "terminal/wait_for_exit", "terminal/output", "terminal/release",
	}
	if got := e.methods(); !slices.Equal(got, want) {
		t.Errorf("the agent called\n%q, want\n%q", got, want)
	}
	e.checkTerminalOrder()
}

// checkCalls holds the updates of a session against the life of a tool call.
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
		e.t.Errorf("%d tool calls, %d diffs, %d terminals", len(order), diffs, terminals)
	}
	for _, id := range order {
		if got := strings.Join(states[id], " "); got != "pending in_progress completed" {
			e.t.Errorf("tool call %s went through %q", id, got)
		}
	}
}

// checkTerminalOrder proves that each terminal is shown before it is released,
// and released after the last update of its call.
func (e *ide) checkTerminalOrder() {
	e.t.Helper()
	embedded := map[string]string{} // tool call by the terminal it shows
	ended := map[string]bool{}      // tool calls that had their last update
	for _, f := range e.sent() {
		if u, ok := f.update(); ok {
			if strings.Contains(string(u.Content), `"type":"terminal"`) {
				embedded[u.ToolCallID] = u.ToolCallID
			}
			if u.Status == "completed" || u.Status == "failed" {
				ended[u.ToolCallID] = true
			}
		}
		if f.Method == "terminal/wait_for_exit" && len(embedded) == 0 {
			e.t.Error("the terminal is not shown while the command runs")
		}
		if f.Method == "terminal/release" {
			for id := range embedded {
				if !ended[id] {
					e.t.Errorf("the terminal of %s is released before the last update", id)
				}
			}
			if len(embedded) == 0 {
				e.t.Error("a terminal is released that was never shown")
			}
		}
	}
}
