package app

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/commands"
)

// gatesOff switches every gate off that can be.
const gatesOff = `
[tools.trust]
enabled = false
[tools.information_flow]
enabled = false
[tools.anomaly]
enabled = false
[tools.hooks]
enabled = false
`

// gatesOn switches every gate on, with rules that allow all calls.
const gatesOn = `
[tools.policy]
enabled = true
default_effect = "allow"
[[tools.policy.rules]]
effect = "allow"
tool = "*"
[tools.authorization]
enabled = true
[[tools.authorization.rules]]
effect = "allow"
tool = "*"
[tools.adversarial_policy]
enabled = true
policies = ["Allow everything."]
fail_open = true
[tools.trust.levels]
"tool:bash" = "trusted"
[tools.information_flow]
untrusted = ["*.eml"]
[tools.utility]
enabled = true
`

// TestGatesOnlyTighten judges the hostile and the daily commands with every gate off and
// with every gate on. No gate makes a decision weaker.
func TestGatesOnlyTighten(t *testing.T) {
	const data = "../../../executors/policy/testdata"
	list, err := commands.Hostile(data)
	if err != nil {
		t.Fatal(err)
	}
	daily, err := commands.Daily(data)
	if err != nil {
		t.Fatal(err)
	}
	rank := map[executors.Decision]int{executors.Allow: 1, executors.Ask: 2, executors.Deny: 3}
	for mode, rules := range map[string]string{
		"code": "", "ask": "",
		"auto": "[[tools.permissions.bash]]\npattern = \"*\"\naction = \"allow\"\n",
	} {
		work := t.TempDir()
		off, on := checkerOf(t, work, mode, rules+gatesOff), checkerOf(t, work, mode, rules+gatesOn)
		counts := map[executors.Decision]int{}
		for i, s := range append(list, daily...) {
			if i%5 != 0 {
				continue
			}
			input, err := json.Marshal(map[string]string{"command": s.Text})
			if err != nil {
				t.Fatal(err)
			}
			before, after := decisionOf(t, off, input), decisionOf(t, on, input)
			counts[before]++
			if rank[after] < rank[before] {
				t.Errorf("mode %s: %q: %s with the gates off, %s with them on", mode, s.Text, before, after)
			}
		}
		t.Logf("mode %s: %v", mode, counts)
	}
}

func checkerOf(t *testing.T, dir, mode, text string) *Checker {
	t.Helper()
	home := t.TempDir()
	file := filepath.Join(home, "config.toml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := config.Load(config.Options{File: file, Environ: []string{"HOME=" + home, "ZEPH_HOME=" + home, "PATH=" + os.Getenv("PATH")}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(l, slog.New(slog.DiscardHandler)).Checker(dir, mode)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func decisionOf(t *testing.T, c *Checker, input json.RawMessage) executors.Decision {
	t.Helper()
	out, err := c.Check(t.Context(), "bash", input)
	if err != nil {
		t.Fatal(err)
	}
	return out.Decision
}
