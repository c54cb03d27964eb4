package policy

import (
	"slices"
	"testing"
)

// TestRuleKeys checks which keys of [[tools.permissions.KEY]] are about a tool, and in
// which order.
func TestRuleKeys(t *testing.T) {
	rule := func(name string) []Rule { return []Rule{{Pattern: name, Action: Allow}} }
	of := map[string][]Rule{
		"github__*": rule("all of github"), "github__issue_*": rule("issues"), "github__issue_list": rule("one"), "*": rule("all"), "shell": rule("old"),
	}
	for tool, want := range map[string][]string{
		"github__issue_list": {"one", "all", "all of github", "issues"},
		"github__pr":         {"all", "all of github"},
		"gitlab__pr":         {"all"},
		"bash":               {"old", "all"},
	} {
		var got []string
		for _, r := range rules(of, tool) {
			got = append(got, r.Pattern)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", tool, got, want)
		}
	}
}
