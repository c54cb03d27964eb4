package provider

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
)

// Streams and answers that deviate from their dialect.
func TestOddAnswers(t *testing.T) {
	const key = "check the key in GEMINI_API_KEY, or run zeph-acp login"
	for name, tt := range map[string]struct {
		want  []llm.Event
		fails *llm.Error
	}{
		"responses/failed": {fails: &llm.Error{Status: 429, Message: "Rate limit reached for gpt-6.1-sol.", Hint: "wait a minute, then try again",
			Retryable: true}},
		"responses/error": {fails: &llm.Error{Status: 500, Message: "The server had an error.", Hint: "try again later", Retryable: true}},
		"responses/whole": {want: []llm.Event{{Text: "Hello!"}, wireCall("list", `{}`), {Stop: llm.StopTools}}},
		"chat/filtered":   {want: []llm.Event{{Text: "I can"}, {Stop: llm.StopRefusal}}},
		"chat/error":      {fails: &llm.Error{Status: 500, Message: "The server had an error.", Hint: "try again later", Retryable: true}},
		"gemini-chat/malformed_call": {want: []llm.Event{{Text: "I look."}},
			fails: &llm.Error{Message: "the model wrote a tool call that cannot be read", Hint: "try again later", Retryable: true}},
		"gemini-chat/badkey": {fails: &llm.Error{Status: 400, Message: "API key not valid. Please pass a valid API key.", Hint: key, Auth: true}},
		"gemini/malformed_call": {want: []llm.Event{{Text: "I look."}},
			fails: &llm.Error{Message: "the model wrote a tool call that cannot be read", Hint: "try again later", Retryable: true}},
		"gemini/badkey":  {fails: &llm.Error{Status: 400, Message: "API key not valid. Please pass a valid API key.", Hint: key, Auth: true}},
		"gemini/blocked": {want: []llm.Event{{Stop: llm.StopRefusal}}},
		"gemini/failed": {want: []llm.Event{{Text: "Hel"}},
			fails: &llm.Error{Status: 503, Message: "The model is overloaded. Please try again later.", Hint: "try again later", Retryable: true}},
		"gemini/daily": {fails: &llm.Error{Status: 429, Message: "You exceeded your current quota, " +
			"please check your plan and billing details. * Quota exceeded for metric: " +
			"generativelanguage.googleapis.com/generate_content_free_tier_requests, limit: 20, model: gemini-3.8-flash Please retry in 34.074824224s.",
			Hint: "the quota of the day is used up: pick another model, or wait until midnight Pacific time"}},
		"local/whole": {want: []llm.Event{{Thought: "Hm."}, {Text: "Hello!"}, wireCall("list", `{}`), {Stop: llm.StopTools}}},
		"local/error": {want: []llm.Event{{Text: "Hel"}},
			fails: &llm.Error{Status: 502, Message: "Provider disconnected", Hint: "try again later", Retryable: true}},
	} {
		t.Run(name, func(t *testing.T) {
			dialect, file, _ := strings.Cut(name, "/")
			s := newWireServer(t, dialect, dialects[dialect], file)
			m := bareModel(t, s)
			got, err := llmtest.Collect(m, t.Context(), llmtest.Hello())
			if diff := cmp.Diff(tt.want, plain(t, got)); diff != "" {
				t.Errorf("events (-want +got)\n%s", diff)
			}
			if tt.fails == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			tt.fails.Provider = m.Name()
			if diff := cmp.Diff(error(tt.fails), err); diff != "" {
				t.Errorf("error (-want +got)\n%s", diff)
			}
		})
	}
}

// bareModel returns the model of the server without the wrappers that handle
// failures.
func bareModel(t *testing.T, s *wireServer) llm.Model {
	p := s.dialect.provider
	p.BaseURL = s.URL
	m, err := p.open(func(string) string { return wireKey }, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Every other model can continue a conversation that Claude began. Data that
// only Claude can read is omitted, and the API accepts the rest.
func TestHistoryOfClaude(t *testing.T) {
	var history []llm.Message
	if err := json.Unmarshal(llmtest.Golden(t, "../../anthropic/testdata/history.json"), &history); err != nil {
		t.Fatal(err)
	}
	tools := []llm.Tool{
		{Name: "read", Description: "Reads a <file>.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
		{Name: "mcp." + strings.Repeat("x", 70), Schema: json.RawMessage(`true`)},
	}
	for _, name := range []string{"responses", "chat", "gemini", "gemini-chat", "local"} {
		s := newWireServer(t, name, dialects[name], "text")
		if _, err := llmtest.Collect(bareModel(t, s), t.Context(), llm.Request{System: "Be brief.", Messages: history, Tools: tools}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got, want any
		if err := json.Unmarshal([]byte(s.bodies[0]), &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(llmtest.Golden(t, "wire/"+name+"/history.json"), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s\n%s", name, diff, s.bodies[0])
		}
	}
}

// Server data on calls, and on the thoughts before them, is returned unchanged
// to the same model, also after the store, and to no other model.
func TestCallsKeepServerData(t *testing.T) {
	thoughts := func(delta string) string {
		return `data: {"choices":[{"index":0,"delta":` + delta + "}]}\n\n" +
			`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"list","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n"
	}
	for name, tt := range map[string]struct {
		dialect, stream, back string
	}{
		"gemini's signature": {"gemini", fixtureBody(t, fixture(t, "gemini", "parallel")),
			`{"functionCall":{"id":"jm4owj31","name":"read","args":{"path":"a.go"}},"thoughtSignature":"EjQKMgEMOdbHJChLX75QUCJjyYlm"}`},
		"gemini's signature in Chat Completions": {"gemini-chat", fixtureBody(t, fixture(t, "gemini-chat", "parallel")),
			`"extra_content":{"google":{"thought_signature":"EjQKMgEMOdbHJChLX75QUCJjyYlm"}}`},
		"deepseek": {"local", thoughts(`{"reasoning_content":"I <list>."}`), `"reasoning_content":"I <list>."`},
		"vllm":     {"local", thoughts(`{"reasoning":"I list."}`), `"reasoning":"I list."`},
		"openrouter": {"local", thoughts(`{"reasoning":"I list.","reasoning_details":[{"type":"reasoning.text","text":"I ","index":0},{"type":"reasoning.text","text":"list.","signature":"s","index":0}]}`),
			`"reasoning_details":[{"type":"reasoning.text","index":0,"text":"I list.","signature":"s"}]`},
		"openrouter, encrypted": {"local",
			thoughts(`{"reasoning_details":[{"type":"reasoning.encrypted","id":"a","data":"x","index":0},{"type":"reasoning.encrypted","id":"b","data":"y","index":0}]}`),
			`"reasoning_details":[{"type":"reasoning.encrypted","id":"a","index":0,"data":"x"},{"type":"reasoning.encrypted","id":"b","index":0,"data":"y"}]`},
		"plain thoughts of Responses": {"compatible responses",
			eventsOf(itemDone(0, `{"type":"reasoning","id":"r","content":[{"type":"reasoning_text","text":"I list."}],"summary":[]}`) + "\n" +
				itemDone(1, `{"type":"function_call","call_id":"c1","name":"list","arguments":"{}"}`) + "\n" + completed(``)),
			`{"type":"reasoning","content":[{"type":"reasoning_text","text":"I list."}],"id":"r","summary":[]}`},
		"unsigned thoughts of others than Anthropic": {"claude",
			eventsOf(`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}` + "\n" +
				`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"I list."}}` + "\n" + `{"type":"content_block_stop","index":0}` +
				"\n" + claudeCallOf(1, "list") + "\n" + `{"type":"message_stop"}`),
			`{"signature":"","thinking":"I list.","type":"thinking"}`},
	} {
		t.Run(name, func(t *testing.T) {
			var bodies []string
			s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
				bodies = append(bodies, bodyOf(r))
				w.Header().Set("Content-Type", "text/event-stream")
				w.Write([]byte(tt.stream))
			})
			kind, api, _ := strings.Cut(tt.dialect, " ")
			p := dialects[kind].provider
			if api != "" {
				p = Provider{Type: kind, API: api, Model: "m"}
			}
			p.BaseURL = s.URL
			m, err := p.open(func(string) string { return wireKey }, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := llmtest.Collect(m, t.Context(), llmtest.Hello())
			if err != nil {
				t.Fatal(err)
			}
			history := []llm.Message{llmtest.UserText("hello"), {Role: llm.Assistant, Blocks: blocksOf(got)}}
			raw, err := json.Marshal(history)
			if err != nil || json.Unmarshal(raw, &history) != nil {
				t.Fatal(err)
			}
			if _, err := llmtest.Collect(m, t.Context(), llm.Request{Messages: history}); err != nil || strings.Count(bodies[1], tt.back) != 1 {
				t.Errorf("%v, no %s in\n%s", err, tt.back, bodies[1])
			}
			p.Model = "gemini-3-pro"
			other, _ := p.open(func(string) string { return wireKey }, nil)
			if _, err := llmtest.Collect(other, t.Context(), llm.Request{Messages: history}); err != nil || strings.Contains(bodies[2], tt.back) {
				t.Errorf("%v, %s of another model in\n%s", err, tt.back, bodies[2])
			}
		})
	}
}

func bodyOf(r *http.Request) string {
	var b strings.Builder
	buf := make([]byte, 4096)
	for {
		n, err := r.Body.Read(buf)
		b.Write(buf[:n])
		if err != nil {
			return b.String()
		}
	}
}

// IDs are returned unchanged: Kimi's name the tool, and LiteLLM's contain
// Gemini's signature. Only OpenAI restricts their characters.
func TestCallIDsUnchanged(t *testing.T) {
	long := "call_7__thought__" + strings.Repeat("AbC/+=", 30)
	for _, tt := range []struct{ dialect, id, want string }{
		{"local", "functions.list:0", "functions.list:0"}, {"local", long, long}, {"gemini", "a.b", "a.b"}, {"gemini-chat", "a.b", "a.b"},
		{"chat", "functions.list:0", "functions_list_0"}, {"chat", long, llm.SafeName(long)[:40]},
	} {
		s := newWireServer(t, tt.dialect, dialects[tt.dialect], "text")
		history := []llm.Message{llmtest.UserText("a"),
			{Role: llm.Assistant, Blocks: []llm.Block{{Call: &llm.ToolCall{ID: tt.id, Name: "list", Input: json.RawMessage(`{}`)}}}}}
		if _, err := llmtest.Collect(bareModel(t, s), t.Context(), llm.Request{Messages: history}); err != nil || strings.Count(s.bodies[0], inJSON(tt.want)) != 2 {
			t.Errorf("%s: %v, not %s in\n%s", tt.dialect, err, tt.want, s.bodies[0])
		}
	}
}

// A refused feature is omitted and not sent again.
func TestOpenAIRefusedFeature(t *testing.T) {
	for name, tt := range map[string]struct {
		dialect, word, message string // the dialect of a refused request, a word in it, and the reason; ! precedes a required word
	}{
		"usage":      {"local", `"stream_options"`, "Extra inputs are not permitted: stream_options"},
		"summaries":  {"responses", `"summary":"auto"`, "Your organization must be verified to generate reasoning summaries."},
		"encrypted":  {"responses", `"include"`, "Encrypted content is not supported with this model."},
		"cache key":  {"chat", `"prompt_cache_key"`, "Unrecognized request argument supplied: prompt_cache_key"},
		"max tokens": {"local", `"max_tokens"`, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."},
		"thoughts":   {"responses", `"encrypted_content":"mine"`, "The encrypted content could not be verified."},

		"thoughts of Groq": {"local", `"reasoning_content"`,
			"'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]"},
		"images": {"local", `"image_url"`, "No endpoints found that support image input"},
		"images, DeepSeek": {"local", `"image_url"`,
			"Failed to deserialize the JSON body into the target type: messages[3]: unknown variant `image_url`, expected `text`"},
		"IDs":            {"local", `"toolu_01A"`, "Tool call id was toolu_01A but must be a-z, A-Z, 0-9, with a length of 9."},
		"IDs, Anthropic": {"local", `"toolu_01A"`, "messages.1.content.1.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"},
		"a user next":    {"local", `"tool_call_id":"toolu_01A"},{"role":"user"`, "Unexpected role 'user' after role 'tool'"},
		"null":           {"local", `"content":null`, "Invalid 'content': 'content' field must be a string or an array of objects."},
		"null, Ollama":   {"local", `"content":null`, "invalid message content type: <nil>"},
		"system":         {"local", `"role":"system"`, "Developer instruction is not enabled for models/gemma-3-27b-it"},
		"gaps": {"local",
			`!{"role":"assistant","content":null,"tool_calls":[{"id":"toolu_01B","type":"function","function":{"name":"list","arguments":"{}"}}],"reasoning_content":" "}`, "thinking is enabled but reasoning_content is missing in assistant tool call message at index 4"},
	} {
		t.Run(name, func(t *testing.T) {
			var bodies []string
			word, must := strings.CutPrefix(tt.word, "!")
			s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
				body := bodyOf(r)
				bodies = append(bodies, body)
				if strings.Contains(body, word) != must {
					llmtest.Status(400, `{"error":{"message":`+inJSON(tt.message)+`}}`)(w, r)
					return
				}
				w.Header().Set("Content-Type", "text/event-stream")
				w.Write([]byte(fixtureBody(t, fixture(t, tt.dialect, "text"))))
			})
			p := dialects[tt.dialect].provider
			p.BaseURL, p.MaxTokens = s.URL, 100
			m, err := p.open(func(string) string { return wireKey }, nil)
			if err != nil {
				t.Fatal(err)
			}
			req := llm.Request{System: "s", Messages: []llm.Message{
				llmtest.UserText("a"),
				{Role: llm.Assistant, Blocks: []llm.Block{
					{Opaque: &llm.Opaque{Provider: m.Name(), Data: json.RawMessage(`{"id":"rs_1","summary":[],"encrypted_content":"mine","reasoning_content":"mine"}`)}},
					{Text: "b"}, {Call: &llm.ToolCall{ID: "toolu_01A", Name: "list", Input: json.RawMessage(`{}`)}}}},
				{Role: llm.User, Blocks: []llm.Block{{Result: &llm.ToolResult{ID: "toolu_01A", Text: "c"}}, {Text: "d"},
					{Image: &llm.Image{MIME: "image/png", Data: []byte("hi")}}}},
				{Role: llm.Assistant, Blocks: []llm.Block{{Call: &llm.ToolCall{ID: "toolu_01B", Name: "list", Input: json.RawMessage(`{}`)}}}},
				{Role: llm.User, Blocks: []llm.Block{{Result: &llm.ToolResult{ID: "toolu_01B", Text: "e"}}}},
			}}
			for range 2 {
				if _, err := llmtest.Collect(m, t.Context(), req); err != nil {
					t.Fatal(err)
				}
			}
			want := 3
			if name == "thoughts" { // the next answer's thoughts may be useful again
				want = 4
			}
			if len(bodies) != want {
				t.Errorf("%d requests, want %d:\n%s", len(bodies), want, strings.Join(bodies, ""))
			}
		})
	}
}
