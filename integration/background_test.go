package integration

import (
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/zeph-acp/zeph-acp/integration/fakeide"
	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// A command that takes longer than its call goes on in the background, on this machine and in the
// editor's terminals, and the model gets the rest. The user's own command runs to its end.
func TestCommandGoesOn(t *testing.T) {
	for where, caps := range map[string]sdk.ClientCapabilities{"here": {}, "terminal": fakeide.CanAll()} {
		t.Run(where, func(t *testing.T) {
			var e *ide
			p := fakemodel.NewAnthropic(t)
			p.Choose = func(fakemodel.Request) fakemodel.Reply {
				all := p.Requests()
				switch last := all[len(all)-1]; {
				case strings.Contains(last, `built\n[exit 0]`):
					return fakemodel.Answer(fakemodel.Say("It is built."))
				case strings.Contains(last, "goes on in the background as bg1"):
					e.file("go", "")
					return fakemodel.Answer(fakemodel.Call("toolu_2", "bash_output", map[string]any{"id": "bg1", "wait": 600}))
				}
				return fakemodel.Answer(fakemodel.Call("toolu_1", "bash", map[string]any{"command": "./build.sh"}))
			}
			config := "[tools.permissions]\nbash = [{ pattern = \"*\", action = \"allow\" }]\n[tools.shell]\ntimeout = 1\n[acp]\nterminal_timeout_secs = 1\n"
			e = (&ide{caps: caps}).begin(t, start{env: p.Env(), config: config})
			e.script("build.sh", "echo begun; while [ ! -e go ]; do sleep 0.02; done; echo built")
			s := e.session()
			e.prompt(s, "build it")
			if got := e.Text(s); !strings.HasSuffix(got, "It is built.") || len(p.Requests()) != 3 || !strings.Contains(p.Requests()[1], "begun") {
				t.Errorf("%q after %d requests\n%s", got, len(p.Requests()), e.tail())
			}
			e.prompt(s, "/bash sleep 1.5; echo whole") // more than the limit
			results := e.Results(s)
			if got := fakeide.ShownText(results[len(results)-1].Content); where == "here" && !strings.Contains(got, "whole") {
				t.Errorf("the user's own command: %q", got)
			}
		})
	}
}

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
