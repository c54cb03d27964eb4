package provider

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
)

// answered are answers that the adapters accept.
var answered = map[string]string{
	"claude":    claudeText("Hi") + "\n" + `{"type":"message_stop"}`,
	"gemini":    `{"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}`,
	"responses": `{"type":"response.completed","response":{"status":"completed","output":[]}}`,
	"chat":      saysText("Hi") + "\n" + chatEnd, "gemini-chat": saysText("Hi") + "\n" + chatEnd, "local": saysText("Hi") + "\n" + chatEnd,
}

// picky is a server that refuses requests in which a tool's schema has the keyword
// x-bad, with a message.
type picky struct {
	message  func(tools []string, bad int) string // of the tools in the request
	answer   string
	status   int
	requests int
	tools    []string // of the last request
}

var sentName = regexp.MustCompile(`"name":"(\w+)"`)

func (p *picky) serve(w http.ResponseWriter, r *http.Request) {
	p.requests++
	body := bodyOf(r)
	p.tools = nil
	bad := -1
	_, list, _ := strings.Cut(body, `"tools":[`)
	for i, m := range sentName.FindAllStringSubmatch(list, -1) {
		p.tools = append(p.tools, m[1])
		if strings.HasPrefix(m[1], "io__bad") && bad < 0 {
			bad = i
		}
	}
	if bad >= 0 || p.answer == "" {
		llmtest.Status(p.status, `{"error":{"message":`+inJSON(p.message(p.tools, bad))+`}}`)(w, r)
		return
	}
	io.WriteString(w, eventsOf(p.answer))
}

// offered returns our own tool and tools of an MCP server.
func offered(names ...string) []llm.Tool {
	tools := []llm.Tool{{Name: "read", Schema: json.RawMessage(`{"type":"object","properties":{}}`)}}
	for _, n := range names {
		tools = append(tools, llm.Tool{Name: "io__" + n, Schema: json.RawMessage(`{"type":"object","properties":{}}`), Foreign: true})
	}
	return tools
}

// TestRefusedSchema asks servers that refuse the schema of a tool, in their words. The
// tool is left out, also of later requests, and the answer arrives.
func TestRefusedSchema(t *testing.T) {
	words := func(format string) func([]string, int) string {
		return func(tools []string, bad int) string {
			return strings.NewReplacer("NAME", tools[max(bad, 0)], "INDEX", fmt.Sprint(bad)).Replace(format)
		}
	}
	for name, tt := range map[string]struct {
		dialect, message string
		status, requests int
	}{
		"OpenAI":            {"chat", "Invalid schema for function 'NAME': In context=('properties', 'a'), array schema missing items.", 400, 2},
		"OpenAI, Responses": {"responses", "Invalid schema for function 'NAME': schema must have type 'object'", 400, 2},
		"Anthropic":         {"claude", "tools.INDEX.custom.input_schema: JSON schema is invalid. It must match JSON Schema draft 2020-12.", 400, 2},
		"Gemini": {"gemini",
			"* GenerateContentRequest.tools[0].function_declarations[INDEX].parameters.properties[a].items: missing field.", 400, 2},
		"Gemini, Chat Completions": {"gemini-chat", "tools[0].function_declarations[INDEX].parameters.properties[a].items: missing field.", 400, 2},
		"Gemini, unknown": {"gemini",
			`Invalid JSON payload received. Unknown name "const" at 'tools[0].function_declarations[INDEX].parameters': Cannot find field.`, 400, 2},
		"Mistral":             {"local", "body.tools.INDEX.function.parameters: Input should be a valid dictionary", 422, 2},
		"Moonshot":            {"local", "Invalid request: tools.function.parameters is not a valid moonshot flavored json schema, details: <…>", 400, 4},
		"llama.cpp":           {"local", "JSON schema conversion failed: Unrecognized schema", 500, 4},
		"a server without it": {"local", "Failed to parse grammar", 400, 4},
	} {
		t.Run(name, func(t *testing.T) {
			p := &picky{message: words(tt.message), answer: answered[tt.dialect], status: tt.status}
			s := llmtest.Serve(t, p.serve)
			config := dialects[tt.dialect].provider
			config.BaseURL = s.URL
			m, err := config.open(func(string) string { return wireKey }, nil)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				req := llm.Request{Messages: []llm.Message{llmtest.UserText("a")}, Tools: offered("a", "bad", "c", "d")}
				if _, err := llmtest.Collect(m, t.Context(), req); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff([]string{"read", "io__a", "io__c", "io__d"}, p.tools); diff != "" || p.requests > tt.requests+2 {
				t.Errorf("after %d requests (-want +got)\n%s", p.requests, diff)
			}
			if why := llm.RefusedTools(m); len(why) != 1 || !strings.Contains(why["io__bad"], "refuses its schema: ") {
				t.Errorf("left out: %v", why)
			}
		})
	}
}

// TestRefusedSchemaOfMany searches two tools among three hundred, with a server that
// names none.
func TestRefusedSchemaOfMany(t *testing.T) {
	p := &picky{message: func([]string, int) string { return "invalid tool schema" }, answer: answered["local"], status: 400}
	s := llmtest.Serve(t, p.serve)
	config := dialects["local"].provider
	config.BaseURL = s.URL
	m, err := config.open(func(string) string { return "" }, nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range 300 {
		name := fmt.Sprint("tool", i)
		if i == 40 || i == 222 {
			name = "bad" + name
		}
		names = append(names, name)
	}
	for range 12 {
		if _, err := llmtest.Collect(m, t.Context(), llm.Request{Messages: []llm.Message{llmtest.UserText("a")}, Tools: offered(names...)}); err != nil {
			t.Fatal(err)
		}
	}
	if why := llm.RefusedTools(m); len(why) != 2 || why["io__badtool40"] == "" || why["io__badtool222"] == "" || len(p.tools) != 299 || p.requests > 80 {
		t.Errorf("%d tools after %d requests, left out %v", len(p.tools), p.requests, why)
	}
}

// TestRefusedForAnotherReason asks servers that refuse every request. No tool is left
// out, and the first refusal is the error.
func TestRefusedForAnotherReason(t *testing.T) {
	for message, requests := range map[string]int{
		"messages.1: tool_use io__a without a result": 2,
		"Failed to parse grammar":                     5,
		"the model is on holiday":                     1,
		"tools.0.input_schema: our own tool":          5,
		"tools.99.input_schema: no such tool":         5,
	} {
		p := &picky{message: func([]string, int) string { return message }, status: 400}
		s := llmtest.Serve(t, p.serve)
		config := dialects["local"].provider
		config.BaseURL = s.URL
		m, err := config.open(func(string) string { return "" }, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = llmtest.Collect(m, t.Context(), llm.Request{Messages: []llm.Message{llmtest.UserText("a")}, Tools: offered("a", "b", "c")})
		if err == nil || !strings.Contains(err.Error(), message) || p.requests > requests+2 || len(llm.RefusedTools(m)) > 0 {
			t.Errorf("%s: %v after %d requests, left out %v", message, err, p.requests, llm.RefusedTools(m))
		}
	}
}
