package integration

import (
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// The next prompt reports to the model that a background command has ended, and only
// once. A wait for the command takes one round, and ends early when the user adds a text.
func TestBackgroundReports(t *testing.T) {
	p := fakemodel.NewAnthropic(t,
		fakemodel.Answer(fakemodel.Call("toolu_1", "bash", map[string]any{"command": "./serve.sh", "background": true})),
		fakemodel.Answer(fakemodel.Say("It runs.")),
		fakemodel.Answer(fakemodel.Call("toolu_2", "bash_output", map[string]any{"id": "bg1", "wait": 600})),
		fakemodel.Answer(fakemodel.Say("I see.")),
		fakemodel.Answer(fakemodel.Say("It has ended.")),
		fakemodel.Answer(fakemodel.Say("I know.")),
	)
	a := launch(t, start{env: p.Env(), config: "[tools.permissions]\nbash = [{ pattern = \"*\", action = \"allow\" }]\n"})
	a.script("serve.sh", "while [ ! -e stop ]; do sleep 0.02; done; echo bye")
	a.initialize()
	s := a.open()
	a.runTurn(s, "start it")
	a.request("2", "session/prompt", promptParams(s, "wait for it"))
	a.await("the wait", func(f frame) bool {
		return strings.Contains(f.line, "output of bg1") && strings.Contains(f.line, `"tool_call"`)
	})
	a.request("3", "_session/steering", promptParams(s, "never mind"))
	if got := a.answer("3"); string(got.Result) != `{"outcome":"injected"}` {
		t.Error(got.line)
	}
	a.answer("2")
	if all := p.Requests(); !strings.Contains(all[3], "the wait ended early, since the user added a message") || !strings.Contains(all[3], "never mind") {
		t.Errorf("the model got %s", all[3])
	}
	a.file("stop", "")
	eventually(t, patience, "end of the command", func() bool {
		a.runTurn(s, "/jobs")
		return strings.Contains(a.lines(), "exit 0; bash_output shows its output")
	})
	for i := range 2 {
		a.runTurn(s, "and now?")
		const told = "[background] bg1 ended in the background (exit 0): `./serve.sh`. bash_output bg1 returns its output."
		if got := strings.Count(p.Requests()[4+i], told); got != 1 {
			t.Errorf("request %d tells it %d times: %s", 4+i, got, p.Requests()[4+i])
		}
	}
}
