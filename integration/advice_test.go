package integration

import (
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// TestDeniedToolsAreNotRecommended checks that no text of a request recommends a tool that the rules
// deny, and that the system prompt asks for structured calls.
func TestDeniedToolsAreNotRecommended(t *testing.T) {
	m := fakemodel.NewAnthropic(t,
		fakemodel.Answer(fakemodel.Call("toolu_1", "list_directory", map[string]any{"path": "a.txt"})),
		fakemodel.Answer(fakemodel.Say("Done.")))
	a := connect(t, start{env: m.Env(), config: `
[[tools.permissions.grep]]
pattern = "*"
action = "deny"
[[tools.permissions.edit]]
pattern = "*"
action = "deny"
[[tools.permissions.read]]
pattern = "*"
action = "deny"
`})
	a.file("a.txt", "a\n")
	a.turnOf(a.open(), "look")
	first := m.Requests()[0]
	for _, wrong := range []string{"Use read", "grep", "Use edit", "Prefer read", "Prefer edit", `"name":"edit"`} {
		if strings.Contains(first, wrong) {
			t.Errorf("the request contains %q", wrong)
		}
	}
	for _, want := range []string{"Use find_path and list_directory rather than", "Use write for new ones.", "Prefer find_path, write.", "structured calls"} {
		if !strings.Contains(first, want) {
			t.Errorf("the request does not contain %q:\n%s", want, first)
		}
	}
	if second := m.Requests()[1]; strings.Contains(second, "Use read for files") || !strings.Contains(second, "a.txt is a") && !strings.Contains(second,
		"[tool_error]") {
		t.Errorf("the hint recommends a denied tool:\n%s", second)
	}
}
