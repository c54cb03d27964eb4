package integration

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// TestPlanApproval plays the question of docs/goals.md. The answer changes the mode in the
// same turn, and the audit log has it.
func TestPlanApproval(t *testing.T) {
	shown := regexp.MustCompile("(?s)```json\n(.*?)\n```").FindStringSubmatch(section(t, "docs/goals.md", "Plan first, then do"))
	if shown == nil {
		t.Fatal("the page has no frame")
	}
	for kind, want := range map[string]string{"allow_once": "code", "allow_always": "auto", "reject_once": "architect"} {
		t.Run(kind, func(t *testing.T) {
			p := fakemodel.NewAnthropic(t,
				fakemodel.Answer(fakemodel.Call("toolu_1", "exit_plan", map[string]any{"plan": "1. Move the parser."})),
				fakemodel.Answer(fakemodel.Say("Ready.")),
				fakemodel.Answer(fakemodel.Say("In this mode.")),
			)
			a := connect(t, start{env: p.Env(), config: "[agent]\nmode = \"architect\"\n"})
			s := a.open()
			a.request("1", "session/prompt", promptParams(s, "plan it"))
			asked := a.permissionRequest()
			if n := strings.Count(a.lines(), "Move the parser"); n != 1 {
				t.Errorf("the plan is shown %d times:\n%s", n, a.lines())
			}
			var q struct {
				Params struct{ ToolCall struct{ ToolCallID string } }
			}
			if err := json.Unmarshal([]byte(asked.line), &q); err != nil {
				t.Fatal(err)
			}
			if frame := strings.NewReplacer("8f3a12c4", s, "5b1e07aa", q.Params.ToolCall.ToolCallID).Replace(shown[1]); frame != strings.TrimSpace(asked.line) {
				t.Errorf("the page has %s\ngot          %s", frame, asked.line)
			}
			a.send(`{"jsonrpc":"2.0","id":1,"result":{"outcome":{"outcome":"selected","optionId":"` + kind + `"}}}` + "\n")
			a.answer("1")
			updated := strings.Contains(a.lines(), `"sessionUpdate":"current_mode_update","currentModeId":"`+want+`"`)
			if updated != (want != "architect") {
				t.Errorf("current_mode_update: %v", updated)
			}
			a.runTurn(s, "and now?")
			if last := p.Requests()[2]; !strings.Contains(last, "[mode: "+want+"]") {
				t.Errorf("the model got %s", last)
			}
			if all := auditLog(t, a.home); !strings.Contains(all, `"answer":"`+kind+`"`) {
				t.Errorf("audit log: %s", all)
			}
		})
	}
}
