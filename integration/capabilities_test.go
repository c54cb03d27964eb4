package integration

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/zeph-acp/zeph-acp/integration/fakeide"
	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// localTurn is the turn of TestTurn without an editor.
func localTurn() []fakemodel.Reply {
	return []fakemodel.Reply{
		fakemodel.Answer(fakemodel.Call("c1", "read", map[string]any{"path": "a.txt"})),
		fakemodel.Answer(fakemodel.Call("c2", "edit", map[string]any{"path": "a.txt", "old_string": "one\ntwo", "new_string": "1\n2"})),
		fakemodel.Answer(fakemodel.Call("c3", "bash", map[string]any{"command": "./check.sh; exit 3"})),
		fakemodel.Answer(fakemodel.Say("Done.")),
	}
}

// TestNoCapabilities runs a turn for a client without capabilities.
// The same work happens on the disk of this machine, and no unsupported method is
// called. Line endings and the byte order mark stay.
//
// Statements 105, 108.
func TestNoCapabilities(t *testing.T) {
	p := fakemodel.NewAnthropic(t, localTurn()...)
	e := (&ide{}).begin(t, start{env: p.Env()})
	e.file("a.txt", "\ufeffone\r\ntwo\r\nthree")
	e.script("check.sh", "echo out; echo err >&2")
	s := e.session()
	e.prompt(s, "work")
	if got := e.content("a.txt"); got != "\ufeff1\r\n2\r\nthree" {
		t.Errorf("the disk holds %q", got)
	}
	if got := e.methods(); !slices.Equal(got, []string{"session/request_permission", "session/request_permission"}) {
		t.Errorf("the agent called %q", got)
	}
	results := e.Results(s)
	if len(results) != 3 || *results[2].Status != sdk.ToolCallStatusFailed {
		t.Fatalf("tool calls ended %+v", results)
	}
	if text := fakeide.ShownText(results[2].Content); !strings.Contains(text, "out") || !strings.Contains(text, "err") || !strings.Contains(text, "[exit 3]") {
		t.Errorf("the command's card shows %q", text)
	}
	raw, _ := json.Marshal(results[2].RawOutput)
	if string(raw) != `{"exit_code":3,"stderr":"err\n","stdout":"out\n","truncated":false}` {
		t.Errorf("rawOutput is %s", raw)
	}
	if got := p.Request(3); len(got.Messages) == 0 || got.Messages[len(got.Messages)-1].Content[0].Type != "tool_result" {
		t.Errorf("the model got %+v", got.Messages)
	}
	for _, f := range e.agentFrames() {
		if strings.Contains(f.line, "terminal_output") || strings.Contains(f.line, `"type":"terminal"`) {
			t.Errorf("a client without terminals is shown one: %s", f.line)
		}
	}
}

// TestHalfCapable runs calls for clients with some of the
// capabilities.
//
// Statements 106, 110.
func TestHalfCapable(t *testing.T) {
	read := sdk.FileSystemCapabilities{ReadTextFile: true}
	write := sdk.FileSystemCapabilities{WriteTextFile: true}
	edit := func() []fakemodel.Reply {
		return []fakemodel.Reply{fakemodel.Answer(fakemodel.Call("c1", "edit", map[string]any{"path": "a.txt", "old_string": "old", "new_string": "new"})),
			fakemodel.Answer(fakemodel.Say("Done."))}
	}
	t.Run("reads only, saved", func(t *testing.T) {
		p := fakemodel.NewAnthropic(t, edit()...)
		e := (&ide{caps: sdk.ClientCapabilities{Fs: read}}).begin(t, start{env: p.Env()})
		e.file("a.txt", "old\n")
		e.prompt(e.session(), "edit")
		if got := e.content("a.txt"); got != "new\n" {
			t.Errorf("the disk holds %q", got)
		}
	})
	t.Run("reads only, unsaved", func(t *testing.T) {
		p := fakemodel.NewAnthropic(t, edit()...)
		e := (&ide{caps: sdk.ClientCapabilities{Fs: read}}).begin(t, start{env: p.Env()})
		file := e.file("a.txt", "old\n")
		e.SetBuffer(file, "typed old\n")
		s := e.session()
		e.prompt(s, "edit")
		if got := e.content("a.txt"); got != "old\n" {
			t.Errorf("the disk holds %q", got)
		}
		if r := e.Results(s)[0]; *r.Status != sdk.ToolCallStatusFailed || !strings.Contains(fakeide.ShownText(r.Content), "unsaved") {
			t.Errorf("the edit ended %s: %s", *r.Status, fakeide.ShownText(r.Content))
		}
	})
	t.Run("writes only", func(t *testing.T) {
		p := fakemodel.NewAnthropic(t, edit()...)
		e := (&ide{caps: sdk.ClientCapabilities{Fs: write}}).begin(t, start{env: p.Env()})
		file := e.file("a.txt", "old\n")
		e.prompt(e.session(), "edit")
		if got := e.Buffer(file); got != "new\n" {
			t.Errorf("the buffer holds %q", got)
		}
		if slices.Contains(e.methods(), "fs/read_text_file") {
			t.Error("the client is asked to read")
		}
	})
	t.Run("a terminal that does not start", func(t *testing.T) {
		p := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Call("c1", "bash", map[string]any{"command": "echo hi > made"})),
			fakemodel.Answer(fakemodel.Say("Done.")))
		e := &ide{caps: fakeide.CanAll()}
		e.Before = fakeide.Refusing("terminal/create", -32603, "no room")
		e.begin(t, start{env: p.Env()})
		s := e.session()
		e.prompt(s, "run")
		if r := e.Results(s)[0]; *r.Status != sdk.ToolCallStatusFailed || !strings.Contains(fakeide.ShownText(r.Content), "no room") {
			t.Errorf("the command ended %s: %s", *r.Status, fakeide.ShownText(r.Content))
		}
		if _, err := os.Stat(e.dir + "/made"); err == nil {
			t.Error("the command ran on this machine after the editor refused it")
		}
	})
	t.Run("terminals only in words", func(t *testing.T) {
		p := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Call("c1", "bash", map[string]any{"command": "echo hi > made"})),
			fakemodel.Answer(fakemodel.Say("Done.")))
		e := &ide{caps: fakeide.CanAll()}
		e.Before = fakeide.Refusing("terminal/create", -32601, "Method not found")
		e.begin(t, start{env: p.Env()})
		e.prompt(e.session(), "run")
		if got := e.content("made"); got != "hi\n" {
			t.Errorf("made holds %q", got)
		}
	})
}
