package provider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
	"github.com/zeph-acp/zeph-acp/session/llm/openai"
	"github.com/zeph-acp/zeph-acp/session/llm/textcalls"
)

// A request from kept messages equals one that is encoded from scratch: while
// the conversation grows, when its beginning or its tools change, and after it
// becomes shorter.
func TestKeptMessages(t *testing.T) {
	call := func(id, tool string) llm.Block {
		return llm.Block{Call: &llm.ToolCall{ID: id, Name: tool, Input: json.RawMessage(`{"path": "<a>"}`)}}
	}
	result := func(id string) llm.Block { return llm.Block{Result: &llm.ToolResult{ID: id, Text: "R & D"}} }
	long := strings.Repeat("x", 70)
	history := []llm.Message{
		llmtest.UserText("hello"),
		{Role: llm.Assistant, Blocks: []llm.Block{{Thought: "Hm."}, {Text: "I look."}, call("a", "read"), call("b", long+"y")}},
		{Role: llm.User, Blocks: []llm.Block{result("a"), result("b")}},
		{Role: llm.Assistant, Blocks: []llm.Block{call("a", long+"z")}},
		{Role: llm.User, Blocks: []llm.Block{result("a"), {Text: "Look at this."}, llmtest.Picture(3)}},
		{Role: llm.Assistant, Blocks: []llm.Block{{Text: " "}}},
		llmtest.UserText("still there?"),
		{Role: llm.Assistant, Blocks: []llm.Block{{Text: "Yes."}}},
		llmtest.UserText("again"),
	}
	tools := llmtest.Tools()
	renamed := []llm.Tool{{Name: long + "z", Schema: json.RawMessage(`{}`)}, {Name: long + "y", Schema: json.RawMessage(`{}`)}}
	var reqs []llm.Request
	for n := 1; n <= len(history); n += 2 {
		reqs = append(reqs, llm.Request{System: "Be brief.", Messages: history[:n], Tools: tools})
	}
	summed := slices.Concat([]llm.Message{llmtest.UserText("A summary.")}, history[3:])
	reqs = append(reqs,
		llm.Request{System: "Be brief.", Messages: history, Tools: renamed},
		llm.Request{System: "Be brief.", Messages: history, Tools: slices.Concat(renamed, tools)},
		llm.Request{System: "Be brief.", Messages: summed, Tools: tools},
		llm.Request{Messages: history[:3], Tools: tools},
		llm.Request{System: "Be long.", Messages: history[:5]},
	)
	for name, d := range dialects {
		t.Run(name, func(t *testing.T) {
			s := newWireServer(t, name, d, "text")
			m, cache := bareModel(t, s), new(llm.Cache)
			for i, req := range reqs {
				for _, req.Cache = range []*llm.Cache{cache, nil} {
					if _, err := llmtest.Collect(m, t.Context(), req); err != nil {
						t.Fatal(err)
					}
				}
				if diff := cmp.Diff(s.bodies[2*i+1], s.bodies[2*i]); diff != "" {
					t.Errorf("request %d (-anew +kept)\n%s", i, diff)
				}
			}
		})
	}
}

// Everything that differs between projects comes after the tools, in each protocol's order: requests in two projects
// share the system prompt and the tools, which are the beginning of the provider's cache.
func TestProjectComesAfterTools(t *testing.T) {
	for name, d := range dialects {
		t.Run(name, func(t *testing.T) {
			s := newWireServer(t, name, d, "text")
			m := bareModel(t, s)
			var bodies []string
			for _, project := range []string{"In /a.", "In /b."} {
				for _, m := range []llm.Model{m, textcalls.Wrap(m)} {
					req := llm.Request{System: "Be brief.", Project: project, Tools: llmtest.Tools(), Messages: []llm.Message{llmtest.UserText("hello"),
						{Role: llm.Assistant, Blocks: []llm.Block{{Text: "Yes?"}}}, llmtest.UserText("again")}}
					if _, err := llmtest.Collect(m, t.Context(), req); err != nil {
						t.Fatal(err)
					}
					body := s.bodies[len(s.bodies)-1]
					before, after, found := strings.Cut(body, project)
					if !found || strings.Contains(after, project) || !strings.Contains(after, "hello") || strings.Contains(before, "hello") {
						t.Errorf("the project is not before the first prompt:\n%s", body)
					}
					var r map[string]any
					if err := json.Unmarshal([]byte(body), &r); err != nil {
						t.Fatal(err)
					}
					system := fmt.Sprint(r["system"], r["systemInstruction"], r["instructions"], withRole("system", r["messages"]))
					if !strings.Contains(system, "Be brief.") ||
						strings.Contains(system, project) && !strings.HasSuffix(before, `"text":"`) {
						t.Errorf("the system prompt is not apart from the project: %s", system)
					}
					bodies = append(bodies, strings.Replace(body, project, "", 1))
				}
			}
			if bodies[0] != bodies[2] || bodies[1] != bodies[3] {
				t.Errorf("requests in two projects differ elsewhere:\n%s", strings.Join(bodies, "\n"))
			}
		})
	}
}

// withRole returns the messages of a role.
func withRole(role string, messages any) (out []any) {
	list, _ := messages.([]any)
	for _, m := range list {
		if m, ok := m.(map[string]any); ok && m["role"] == role {
			out = append(out, m)
		}
	}
	return out
}

// A feature that a server refuses is also removed from kept messages.
func TestKeptMessagesRefused(t *testing.T) {
	var bodies []string
	s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		bodies = append(bodies, bodyOf(r))
		if len(bodies) == 2 {
			llmtest.Status(400, `{"error":{"message":"Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9."}}`)(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		w.Write([]byte(fixtureBody(t, fixture(t, "local", "text"))))
	})
	m := openai.New(openai.Config{Type: openai.ServerCompatible, Model: "m", BaseURL: s.URL})
	history, cache := llmtest.Conversation(7), new(llm.Cache)
	for _, n := range []int{5, 7} {
		if _, err := llmtest.Collect(m, t.Context(), llm.Request{Messages: history[:n], Cache: cache}); err != nil {
			t.Fatal(err)
		}
	}
	if len(bodies) != 3 || !strings.Contains(bodies[1], `"call_1"`) || strings.Contains(bodies[2], `"call_1"`) || strings.Count(bodies[2], `"tool_call_id"`) != 3 {
		t.Errorf("%d requests:\n%s", len(bodies), strings.Join(bodies, "\n"))
	}
}
