package integration

import (
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// TestMCPSchemaRefused asks a provider that refuses the schema of a server's tool: the
// tool is left out, the turn succeeds, and /mcp has the reason.
func TestMCPSchemaRefused(t *testing.T) {
	t.Parallel()
	m := fakemodel.NewAnthropic(t,
		fakemodel.Refuse(400, "invalid_request_error", "Invalid schema for function 'io__wait': no items"),
		fakemodel.Answer(fakemodel.Say("one")), fakemodel.Answer(fakemodel.Say("two")),
	)
	a := connect(t, start{env: m.Env(), config: allowMCP})
	s := a.openWith(stdioServer(t, "io", "serve"))
	a.checkContains(a.turnOf(s, "first"), "one")
	a.checkContains(a.turnOf(s, "/mcp"), "ready, 2 tools", "`io__wait` is left out: claude refuses its schema: Invalid schema for function 'io__wait': no items")
	a.checkContains(a.turnOf(s, "second"), "two")
	sent := m.Requests()
	if len(sent) != 3 {
		t.Fatalf("%d requests", len(sent))
	}
	for i, want := range []bool{true, false, false} {
		if strings.Contains(sent[i], `"name":"io__wait"`) != want || !strings.Contains(sent[i], `"name":"io__echo"`) {
			t.Errorf("request %d: io__wait is offered: %v, want %v", i, !want, want)
		}
	}
}
