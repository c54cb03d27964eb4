package integration

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// nameless are answers with two calls in each protocol. The first call has no name.
var nameless = map[string]struct{ settings, base, path, calls, done string }{
	"claude": {
		`type = "claude"`, "/v1", "/messages",
		fakemodel.Events([]fakemodel.Block{fakemodel.Call("c1", "", `{"path":"a.txt"}`), fakemodel.Call("c2", "read", `{"path":"a.txt"}`)}) +
			fakemodel.Event("message_delta", `{"delta":{"stop_reason":"tool_use"}}`) + fakemodel.Event("message_stop", `{}`),
		fakemodel.Events([]fakemodel.Block{fakemodel.Say("All done.")}) +
			fakemodel.Event("message_delta", `{"delta":{"stop_reason":"end_turn"}}`) + fakemodel.Event("message_stop", `{}`),
	},
	"chat": {
		`type = "compatible"`, "/v1", "/chat/completions",
		`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","type":"function","function":{"name":"","arguments":"{\"path\":\"a.txt\"}"}}]}}]}` + "\n\n" +
			`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"c2","type":"function","function":{"name":"read","arguments":"{\"path\":\"a.txt\"}"}}]},"finish_reason":"tool_calls"}]}` + "\n\n" +
			"data: [DONE]\n\n",
		`data: {"choices":[{"index":0,"delta":{"content":"All done."},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n",
	},
	"chat without IDs": {
		`type = "compatible"`, "/v1", "/chat/completions",
		`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"function":{"name":"","arguments":"{\"path\":\"a.txt\"}"}},{"function":{"name":"read","arguments":"{\"path\":\"a.txt\"}"}}]},"finish_reason":"stop"}]}` + "\n\n" +
			"data: [DONE]\n\n",
		`data: {"choices":[{"index":0,"delta":{"content":"All done."},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n",
	},
	"responses": {
		`type = "openai"`, "/v1", "/responses",
		`data: {"type":"response.completed","response":{"status":"completed","output":[{"type":"function_call","call_id":"c1","name":"","arguments":"{\"path\":\"a.txt\"}"},{"type":"function_call","call_id":"c2","name":"read","arguments":"{\"path\":\"a.txt\"}"}]}}` + "\n\n",
		`data: {"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"All done."}]}]}}` + "\n\n",
	},
	"ollama": {
		`type = "ollama"`, "", "/api/chat",
		`{"message":{"tool_calls":[{"function":{"name":"","arguments":{"path":"a.txt"}}},{"function":{"name":"read","arguments":{"path":"a.txt"}}}]},"done":true,"done_reason":"stop"}` + "\n",
		`{"message":{"content":"All done."},"done":true,"done_reason":"stop"}` + "\n",
	},
	"text": {
		`type = "ollama"` + "\n" + `tool_use = "text"`, "", "/api/chat",
		`{"message":{"content":"` +
			"```tool_call\\n{\\\"tool_id\\\":\\\"\\\",\\\"params\\\":{}}\\n```\\n```tool_call\\n{\\\"tool_id\\\":\\\"read\\\",\\\"params\\\":{\\\"path\\\":\\\"a.txt\\\"}}\\n```" + `"},"done":true,"done_reason":"stop"}` + "\n",
		`{"message":{"content":"All done."},"done":true,"done_reason":"stop"}` + "\n",
	},
}

// TestCallWithoutName has models that call a tool without its name, and another one after
// it. The first call fails for the model, the second one runs, and the turn goes on.
func TestCallWithoutName(t *testing.T) {
	for name, tt := range nameless {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind := "text/event-stream"
			if strings.HasPrefix(tt.calls, "{") {
				kind = "application/x-ndjson"
			}
			script := []fakemodel.Reply{sends(kind, tt.calls), sends(kind, tt.done)}
			bodies := make(chan string, len(script))
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != tt.base+tt.path { // facts about models
					http.NotFound(w, r)
					return
				}
				body, _ := io.ReadAll(r.Body) // without its end it has no results
				bodies <- string(body)
				script[len(bodies)-1](w, r)
			}))
			defer server.Close()
			a := launch(t, start{env: append([]string{"ANTHROPIC_API_KEY=k", "OPENAI_API_KEY=k"}, fakemodel.Alone...),
				config: fmt.Sprintf("[[llm.providers]]\nname = \"lab\"\nmodel = \"m\"\nbase_url = %q\n%s\n", server.URL+tt.base, tt.settings)})
			a.file(filepath.Join(a.dir, "a.txt"), "alpha\n")
			a.initialize()
			a.request("1", "session/prompt", promptParams(a.open(), "what is in a?"))
			if f := a.answer("1"); !strings.Contains(string(f.Result), "end_turn") || !strings.Contains(a.said(), "All done.") {
				t.Errorf("%s: %s", f.line, a.said())
			}
			if len(bodies) != len(script) {
				t.Fatalf("%d requests", len(bodies))
			}
			<-bodies
			if second := <-bodies; !strings.Contains(second, "alpha") || !strings.Contains(strings.ToLower(second), "no tool") {
				t.Errorf("the results: %s", second)
			}
		})
	}
}
