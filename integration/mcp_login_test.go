package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/zeph-acp/zeph-acp/executors/tools/mcp/oauth/oauthtest"
	"github.com/zeph-acp/zeph-acp/integration/fakemcp"
)

// protected returns a server on the web that needs a login, as a client sends it.
func protected(t *testing.T) string {
	t.Helper()
	a := oauthtest.New(t, mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return fakemcp.Server() }, nil))
	return fmt.Sprintf(`{"type":"http","name":"web","url":"%s/mcp","headers":[]}`, a.Web.URL)
}

// TestMCPLoginPage logs in on a page that the client opens, and calls a tool in the same
// turn. A second session uses the login without a question.
func TestMCPLoginPage(t *testing.T) {
	t.Parallel()
	server := protected(t) // outlives the agent
	a := launch(t, start{config: allowMCP})
	a.initialize(`{"elicitation":{"url":{}}}`)
	s := a.openWith(server)
	a.request("1", "session/prompt", promptParams(s, `/web__echo {"text":"hello"}`))
	q := a.question(1)
	var asked struct{ SessionID, Mode, URL, ElicitationID string }
	if err := json.Unmarshal(q.Params, &asked); err != nil || asked.SessionID != s || asked.Mode != "url" {
		t.Fatalf("asked %s: %v", q.Params, err)
	}
	a.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept"}}`+"\n", q.ID))
	if err := oauthtest.Browse(context.Background(), asked.URL); err != nil {
		t.Fatal(err)
	}
	a.answer("1")
	a.checkContains(a.lines(), "hello", `"elicitation/complete","params":{"elicitationId":"`+asked.ElicitationID+`"}`)
	if lines := a.lines() + a.stderr.String(); strings.Contains(lines, "access-1") {
		t.Errorf("the token is shown: %s", lines)
	}
	a.checkContains(a.turnOf(a.openWith(server), `/web__echo {"text":"again"}`), "again")
	if n := strings.Count(a.lines(), "elicitation/create"); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

// TestMCPLoginDeclined runs turns of a user who does not log in. The user is asked once
// at most, and /mcp names the command.
func TestMCPLoginDeclined(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		caps, action string
		questions    int
	}{
		"declined": {`{"elicitation":{"url":{}}}`, "decline", 1},
		"ignored":  {`{"elicitation":{"url":{}}}`, "cancel", 1},
		"no pages": {`{"elicitation":{"form":{}}}`, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := protected(t)
			a := launch(t, start{config: allowMCP})
			a.initialize(tt.caps)
			s := a.openWith(server)
			a.request("1", "session/prompt", promptParams(s, "hello"))
			if tt.questions > 0 {
				a.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":%q}}`+"\n", a.question(1).ID, tt.action))
			}
			a.answer("1")
			a.turnOf(s, "hello")
			a.checkContains(a.turnOf(s, "/mcp"), "zeph-acp mcp login http://127.0.0.1")
			if n := strings.Count(a.lines(), "elicitation/create"); n != tt.questions {
				t.Errorf("asked %d times", n)
			}
		})
	}
}

// TestMCPLoginUnanswered ends turns, and the agent, while the question is open.
func TestMCPLoginUnanswered(t *testing.T) {
	t.Parallel()
	server := protected(t)
	a := launch(t, start{config: strings.Replace(allowMCP, "= 60", "= 0", 1)})
	a.initialize(`{"elicitation":{"url":{}}}`)
	s := a.openWith(server)
	for !strings.Contains(a.turnOf(s, "/mcp"), "zeph-acp mcp login") {
	}
	a.turnOf(s, "hello")
	a.question(1)
	a.checkContains(a.turnOf(s, "/mcp"), "zeph-acp mcp login http://127.0.0.1")
}
