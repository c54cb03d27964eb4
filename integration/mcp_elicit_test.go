package integration

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakemcp"
)

// question waits for the question of that number, from 1.
func (a *agent) question(number int) frame {
	a.t.Helper()
	seen := 0
	return a.await("question", func(f frame) bool {
		if f.Method == "elicitation/create" {
			seen++
		}
		return seen == number
	})
}

// TestMCPElicitation answers the questions of servers, for a revision that asks within
// a call and one that asks for a second call.
func TestMCPElicitation(t *testing.T) {
	for _, revision := range []string{"2025-11-25", "2026-07-28"} {
		for name, tt := range map[string]struct {
			caps, call string
			answers    []string
			want       []string // in the updates
		}{
			"accepted": {
				`{"form":{}}`,
				"form",
				[]string{`{"action":"accept","content":{"name":"Zoe"}}`},
				[]string{`\"action\":\"accept\"`, `\"name\":\"Zoe\"`, `\"color\":\"blue\"`},
			},
			"declined": {
				`{"form":{}}`,
				"form",
				[]string{`{"action":"decline"}`},
				[]string{`\"action\":\"decline\"`, "The user declined a question of the MCP server io"},
			},
			"no answer": {
				`{"form":{}}`,
				"form",
				[]string{`{"action":"cancel"}`},
				[]string{`\"action\":\"cancel\"`, "The user did not answer a question of the MCP server io"},
			},
			"two questions": {
				`{"form":{}}`,
				"two",
				[]string{`{"action":"accept","content":{"name":"A"}}`, `{"action":"accept","content":{"name":"B"}}`},
				[]string{`\"name\":\"A\"`, `\"name\":\"B\"`},
			},
			"a page":       {`{"url":{}}`, "page", []string{`{"action":"accept"}`}, []string{`\"action\":\"accept\"`}},
			"no questions": {`null`, "form", nil, []string{"client does not support elicitation", `"status":"failed"`}},
		} {
			t.Run(revision+" "+name, func(t *testing.T) {
				t.Parallel()
				a := launch(t, start{config: allowMCP})
				a.initialize(`{"elicitation":` + tt.caps + `}`)
				s := a.openWith(stdioServer(t, "io", "asks: "+revision))
				a.request("1", "session/prompt", promptParams(s, "/io__"+tt.call+" {}"))
				for i, answer := range tt.answers {
					q := a.question(i + 1)
					a.checkContains(q.line, "The MCP server io asks", `"toolCallId":`)
					if strings.ContainsAny(q.line, "\u202e\u200b\x1b") || strings.Contains(q.line, `\u001b`) {
						t.Errorf("invisible characters in %q", q.line)
					}
					if strings.Contains(tt.call, "page") {
						a.checkContains(q.line, `"url":"`+fakemcp.Page+`"`, "login.example")
					} else if !strings.Contains(q.line, `"properties":{"name":`) {
						t.Errorf("the required field is not the first in %s", q.line)
					}
					a.alive()
					if n := strings.Count(a.lines(), "elicitation/create"); n != i+1 {
						t.Errorf("%d questions before answer %d", n, i+1)
					}
					a.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`+"\n", q.ID, answer))
				}
				a.answer("1")
				a.checkContains(a.lines(), tt.want...)
			})
		}
	}
}

// TestMCPElicitationDeclined calls tools whose questions the client cannot show. A server
// of the newer revision is not aware of that, so its question is declined.
func TestMCPElicitationDeclined(t *testing.T) {
	t.Parallel()
	for revision, want := range map[string]string{
		"2025-11-25": `client does not support \"url\" elicitation`,
		"2026-07-28": "The MCP server io asked the user a question, which was declined: the client opens no pages",
	} {
		a := launch(t, start{config: allowMCP})
		a.initialize(`{"elicitation":{"form":{}}}`)
		a.checkContains(a.turnOf(a.openWith(stdioServer(t, "io", "asks: "+revision)), "/io__page {}"), want)
	}
}

// TestMCPElicitationEnds cancels a turn while the user is asked.
func TestMCPElicitationEnds(t *testing.T) {
	t.Parallel()
	a := launch(t, start{config: allowMCP})
	a.initialize(`{"elicitation":{"form":{}}}`)
	s := a.openWith(stdioServer(t, "io", "asks: 2025-11-25"))
	a.request("1", "session/prompt", promptParams(s, "/io__form {}"))
	q := a.question(1)
	a.notify("session/cancel", `{"sessionId":`+quote(s)+`}`)
	a.cancelled("1")
	a.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"name":"late"}}}`+"\n", q.ID))
	a.request("2", "session/prompt", promptParams(s, "/io__form {}"))
	q = a.question(2)
	a.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"name":"now"}}}`+"\n", q.ID))
	a.answer("2")
	a.checkContains(a.lines(), `\"name\":\"now\"`)
	if text := a.lines() + a.stderr.String(); strings.Contains(text, "late") {
		t.Errorf("the answer after the end of the turn is used: %s", text)
	}
}

// TestMCPPagesVisited opens a page that a call needs, and runs the call once the server
// reports the end of the visit.
func TestMCPPagesVisited(t *testing.T) {
	t.Parallel()
	a := launch(t, start{config: allowMCP})
	a.initialize(`{"elicitation":{"url":{}}}`)
	s := a.openWith(stdioServer(t, "io", "asks: 2025-11-25"))
	a.request("1", "session/prompt", promptParams(s, "/io__required {}"))
	q := a.question(1)
	var asked struct{ URL, ElicitationID string }
	if err := json.Unmarshal(q.Params, &asked); err != nil {
		t.Fatal(err)
	}
	a.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept"}}`+"\n", q.ID))
	res, err := http.Get(asked.URL)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	a.answer("1")
	a.checkContains(a.lines(), "visited", `"elicitation/complete","params":{"elicitationId":"`+asked.ElicitationID+`"}`)
}
