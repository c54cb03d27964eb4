package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Verdicts of models are in the audit log, both in the mode auto-judge and from the
// gate adversarial_policy, which judges first.
func TestJudges(t *testing.T) {
	const calls = `{"tool": "bash", "input": {"command": "touch one"}}

{"tool": "bash", "input": {"command": "touch two"}}

{"text": "done"}
`
	tests := []struct {
		name, judge, policy string // scripts of the models; empty means that the feature is off
		want                []string
	}{
		{name: "off", want: []string{"deny permission=deny", "deny permission=deny"}},
		{
			name:  "auto-judge",
			judge: `{"text": "ALLOW"}` + "\n\n" + `{"text": "DENY: no"}`,
			want:  []string{"allow permission=ask auto_judge=allow", "deny permission=ask auto_judge=deny"},
		},
		{
			name: "both", judge: `{"text": "ALLOW"}`, policy: `{"text": "ALLOW"}` + "\n\n" + `{"text": "DENY: no"}`,
			want: []string{"allow allow adversarial_policy=allow permission=ask auto_judge=allow", "deny deny:no adversarial_policy=deny"},
		},
		{name: "no answer of the gate", judge: `{"text": "ALLOW"}`, policy: `{"error": "overloaded", "status": 400}`, want: []string{
			"deny error adversarial_policy=deny", "deny error adversarial_policy=deny",
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := home(t)
			config := "[agent]\nmode = \"ask\"\n"
			if tt.judge != "" {
				config = "[agent]\nmode = \"auto-judge\"\n[tools.judge]\nprovider = \"judge\"\n"
			}
			if tt.policy != "" {
				config += "[tools.adversarial_policy]\nenabled = true\npolicies = [\"no two\"]\npolicy_provider = \"policy\"\n"
			}
			for _, model := range []struct{ name, script string }{{"main", calls}, {"judge", tt.judge}, {"policy", tt.policy}} {
				file := filepath.Join(dir, model.name+".jsonl")
				if err := os.WriteFile(file, []byte(model.script), 0o600); err != nil {
					t.Fatal(err)
				}
				config += fmt.Sprintf("[[llm.providers]]\nname = %q\ntype = \"script\"\nmodel = %q\ndefault = %t\n", model.name, file, model.name == "main")
			}
			a := connect(t, start{config: config})
			s := a.open()
			a.runTurn(s, "touch them")
			if diff := cmp.Diff(tt.want, judged(t, auditLog(t, a.home))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// judged returns for each line of an audit log its decision, the decision of the
// gate adversarial_policy, and the verdicts.
func judged(t *testing.T, log string) []string {
	t.Helper()
	var out []string
	for line := range strings.Lines(log) {
		var e struct {
			Decision    string
			Adversarial string `json:"adversarial_policy_decision"`
			Gates       []struct{ Gate, Decision string }
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatal(err)
		}
		text := e.Decision + " "
		if strings.HasPrefix(e.Adversarial, "error:") {
			e.Adversarial = "error"
		}
		text += e.Adversarial
		for _, g := range e.Gates {
			text = strings.TrimSpace(text) + " " + g.Gate + "=" + g.Decision
		}
		out = append(out, text)
	}
	return out
}
