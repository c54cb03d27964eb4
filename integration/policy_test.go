package integration

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

const (
	policyRules = `
[tools.policy]
enabled = true
[[tools.policy.rules]]
effect = "allow"
tool = "*"
[[tools.policy.rules]]
effect = "deny"
tool = "*"
paths = ["secrets"]
`
	authorizationRules = `
[tools.authorization]
enabled = true
[[tools.authorization.rules]]
effect = "deny"
tool = "sh"
args_match = "^git push"
[[tools.authorization.rules]]
effect = "allow"
tool = "[!l]*"
`
)

// TestRulesGates checks the gates of rules through the binary: off, each alone, and
// all together. Each verdict is in the audit line, and the model's text does not
// reveal the rule.
func TestRulesGates(t *testing.T) {
	const denied = "denied"
	calls := []string{
		"/read secrets/key",
		"/bash cat sec*/key",
		"/bash git push",
		`/bash /bin/git -C . push`,
		`/write {"path":"a.lock","content":"x"}`,
		"/read notes",
		"/list_directory .",
		`/bash cat "$f"`,
	}
	for name, tt := range map[string]struct {
		config string
		// of each call: the gates with a verdict, and the result
		want []string
	}{
		"off": {"", []string{"", "", "", "", "", "", "", ""}},
		"policy": {
			policyRules,
			[]string{"policy deny", "policy deny", "policy allow", "policy allow", "policy allow", "policy allow", "policy allow", "policy ask"},
		},
		"authorization": {
			authorizationRules,
			[]string{
				"authorization allow",
				"authorization allow",
				"authorization deny",
				"authorization deny",
				"authorization allow",
				"authorization allow",
				"authorization deny",
				"authorization ask",
			},
		},
		"both": {policyRules + authorizationRules, []string{
			"policy deny",
			"policy deny",
			"policy allow, authorization deny",
			"policy allow, authorization deny",
			"policy allow, authorization allow",
			"policy allow, authorization allow",
			"policy allow, authorization deny",
			"policy ask, authorization ask",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := home(t)
			a := launch(t, start{config: tt.config, root: root})
			a.file("secrets/key", "k\n")
			a.file("notes", "n\n")
			a.initialize()
			s := a.open()
			for i, call := range calls {
				_, asked := a.turnAnswering(s, call, "allow_once")
				line := lastGates(t, a.home)
				if got := line.verdicts(); got != tt.want[i] {
					t.Errorf("%s: the gates said %q, want %q", call, got, tt.want[i])
				}
				refused := strings.Contains(tt.want[i], "deny")
				if (line.Result == denied) != refused || (line.PolicyMatch == "") != (tt.want[i] == "") || refused && line.Error != "tool call denied by policy" {
					t.Errorf("%s: %+v", call, line)
				}
				if strings.HasSuffix(tt.want[i], " ask") && len(asked) != 1 {
					t.Errorf("%s: got %d questions, want 1", call, len(asked))
				}
			}
		})
	}
}

// gatesLine is an audit line with the verdicts of the gates.
type gatesLine struct {
	Result      string
	Error       string // as the model gets it
	PolicyMatch string `json:"policy_match"`
	Gates       []struct{ Gate, Decision, Rule string }
}

// verdicts returns the decisions of the gates of rules.
func (l gatesLine) verdicts() string {
	var out []string
	for _, g := range l.Gates {
		if g.Gate == "policy" || g.Gate == "authorization" {
			out = append(out, g.Gate+" "+g.Decision)
		}
	}
	return strings.Join(out, ", ")
}

func lastGates(t *testing.T, home string) (line gatesLine) {
	t.Helper()
	lines := slices.Collect(strings.Lines(auditLog(t, home)))
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &line); err != nil {
		t.Fatal(err)
	}
	return line
}

// TestRulesTrustLevel checks that a rule holds at the level of trust that it names and
// above, as the session's levels change.
func TestRulesTrustLevel(t *testing.T) {
	t.Parallel()
	a := launch(t, start{config: "[tools.policy]\nenabled = true\n[[tools.policy.rules]]\neffect = \"allow\"\ntool = \"read\"\ntrust_level = \"trusted\"\n"})
	a.file("f", "x\n")
	a.initialize()
	s := a.open()
	for _, step := range []struct{ level, want string }{{"trusted", "policy allow"}, {"provisional", "policy deny"}, {"trusted", "policy allow"}} {
		a.turnOf(s, "/trust set tool:read "+step.level)
		a.turnOf(s, "/read f")
		if got := lastGates(t, a.home).verdicts(); got != step.want {
			t.Errorf("at the level %s: %q, want %q", step.level, got, step.want)
		}
	}
}
