package integration

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// TestToolSearch checks that a server with 300 tools costs a request less than 2 KiB,
// that a tool is offered once a search has found it, after the others, and that a call
// before that runs nothing.
func TestToolSearch(t *testing.T) {
	t.Parallel()
	m := fakemodel.NewAnthropic(t,
		fakemodel.Answer(fakemodel.Call("c1", "big__assign_ticket_v2", `{"name":"a guess"}`)),
		fakemodel.Answer(fakemodel.Call("c2", "tool_search", `{"query":"merge a branch"}`)),
		fakemodel.Answer(fakemodel.Call("c3", "big__merge_branch_v1", `{"id":"main"}`)),
		fakemodel.Answer(fakemodel.Say("merged")),
		fakemodel.Answer(fakemodel.Say("still here")),
		fakemodel.Answer(fakemodel.Say("without servers")),
	)
	a := connect(t, start{env: m.Env(),
		config: allowMCP + fmt.Sprintf("[tools.memory]\nenabled = false\n[[llm.providers]]\ntype = \"claude\"\nmodel = \"m\"\nbase_url = %q\ncontext_window "+
			"= 200000\n", m.URL)})
	s := a.openWith(stdioServer(t, "big", "catalogue"))
	a.turnOf(s, "merge the branch")
	a.turnOf(s, "what else is there?")
	a.turnOf(a.open(), "hi")

	messages := func(n int) string {
		_, text, _ := strings.Cut(m.Requests()[n], `"messages":`)
		return text
	}
	a.checkContains(messages(1), "big__assign_ticket_v2 was called before it was offered", "tool_search")
	a.checkContains(messages(2), "These tools are offered from now on:", "big__merge_branch_v1: (MCP server big) This tool can merge one branch")
	a.checkContains(messages(3), "done by merge_branch_v1")
	own := m.ToolBytes(5)
	first := m.ToolBytes(0)
	cost := len(strings.Join(first, ",")) - len(strings.Join(own, ","))
	if t.Logf("300 tools cost %d bytes", cost); cost >= 2<<10 || len(first) != len(own) {
		t.Errorf("the server costs %d bytes and %d tools", cost, len(first)-len(own))
	}
	for i := 1; i < 5; i++ {
		before, now := m.ToolBytes(i-1), m.ToolBytes(i)
		if len(now) < len(before) || !slices.Equal(now[:len(before)], before) {
			t.Errorf("request %d does not begin with the tools of the one before:\n%s", i, strings.Join(now, "\n"))
		}
	}
	a.checkContains(strings.Join(m.ToolBytes(2), "\n"), `"big__assign_ticket_v2"`)
	a.checkContains(strings.Join(m.ToolBytes(3), "\n"), `"big__merge_branch_v1"`)
	a.checkContains(a.turnOf(s, "/status"), "300 tools of MCP servers")
}

// TestToolSearchOff checks that all tools are sent without the filter.
func TestToolSearchOff(t *testing.T) {
	t.Parallel()
	m := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Say("hi")))
	a := connect(t, start{env: m.Env(), config: allowMCP + "[agent.tool_filter]\nenabled = false\n"})
	a.turnOf(a.openWith(stdioServer(t, "big", "catalogue")), "hi")
	if tools := m.ToolBytes(0); len(tools) < 300 || strings.Contains(strings.Join(tools, ""), "tool_search") {
		t.Errorf("%d tools", len(tools))
	}
}
