package diagnostics

import "testing"

// The title is the command, or a sentence for people if there is none.
func TestTitle(t *testing.T) {
	for want, p := range map[string]runPlan{
		"`go vet`":                                        {steps: []programStep{{name: "go vet"}}, missing: []string{"tsc"}},
		"Nothing to check: go is not installed":           {missing: []string{"go"}},
		"Nothing to check: go and tsc are not installed":  {missing: []string{"go", "tsc"}},
		"Nothing to check: neither of both is installed.": {warnings: warnings{"neither of both is installed."}},
	} {
		if got := p.title("go vet"); got != want {
			t.Errorf("%v: %q, want %q", p, got, want)
		}
	}
}
