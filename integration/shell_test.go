package integration

import (
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// TestChildrenDoNotShareThePipes runs a local command that reads its
// stdin and writes to its stdout. Neither is a stream of the protocol.
//
// Statement 136.
func TestChildrenDoNotShareThePipes(t *testing.T) {
	a := connect(t, start{})
	s := a.open()
	a.request("1", "session/prompt", promptParams(s, `/bash cat; echo "not a frame"`))
	a.alive()
	a.ends("1")
}

// TestSecretsStayInside checks that a local command does not get the key.
func TestSecretsStayInside(t *testing.T) {
	p := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Call("c1", "bash", map[string]any{"command": "env"})), fakemodel.Answer(fakemodel.Say("Done.")))
	e := (&ide{}).begin(t, start{env: append(p.Env(), "MY_SECRET_TOKEN=hunter2", "PLAIN=visible")})
	e.prompt(e.session(), "env")
	body := p.Requests()[1]
	if strings.Contains(body, "hunter2") || strings.Contains(body, "ANTHROPIC_API_KEY") || !strings.Contains(body, "PLAIN=visible") {
		t.Errorf("the command sees:\n%s", body)
	}
}

// TestStreamedTerminal runs a command for a client that has no terminals of its own
// but shows streamed ones.
func TestStreamedTerminal(t *testing.T) {
	p := fakemodel.NewAnthropic(t,
		fakemodel.Answer(fakemodel.Call("c1", "bash", map[string]any{"command": "echo first; until test -e go; do sleep 0.01; done; echo second; exit 3"})),
		fakemodel.Answer(fakemodel.Say("Done.")))
	e := (&ide{caps: sdk.ClientCapabilities{Meta: map[string]any{"terminal_output": true}}}).begin(t, start{env: p.Env()})
	s := e.session()
	done := e.startPrompt(s, "run")
	metaOf := func(f frame) update { u, _ := f.update(); return u }
	e.await("the first output while the command runs", func(f frame) bool {
		o := metaOf(f).Meta.Output
		return o != nil && strings.Contains(o.Data, "first")
	})
	e.file("go", "")
	if got := within(t, patience, "the turn's end", done); got.err != nil {
		t.Fatal(got.err)
	}
	var opened, output string
	exits := 0
	for _, f := range e.agentFrames() {
		u := metaOf(f)
		if i := u.Meta.Info; i != nil {
			opened = i.Terminal_ID
			if i.CWD != e.dir || u.Kind != "tool_call" || !strings.Contains(string(u.Content), `"terminalId":`+quote(opened)) {
				t.Errorf("the terminal opens with %s", f.line)
			}
		}
		if o := u.Meta.Output; o != nil {
			output += o.Data
			if o.Terminal_ID != opened || exits > 0 {
				t.Errorf("output out of order: %s", f.line)
			}
		}
		if x := u.Meta.Exit; x != nil {
			exits++
			if x.Terminal_ID != opened || x.Exit_Code == nil || *x.Exit_Code != 3 {
				t.Errorf("the terminal ends with %s", f.line)
			}
		}
		if u.Status == "failed" && !strings.Contains(string(u.Content), `"terminalId":`+quote(opened)) {
			t.Errorf("the last update removes the terminal: %s", f.line)
		}
	}
	if strings.ReplaceAll(output, "\r", "") != "first\nsecond\n" || exits != 1 {
		t.Errorf("the terminal showed %q and ended %d times", output, exits)
	}
}
