package llm

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Streams and answers that differ from what a dialect usually does.
func TestOddAnswers(t *testing.T) {
	const key = "check the key in GEMINI_API_KEY, or that of zeph-acp login"
	for name, tt := range map[string]struct {
		want  []Event
		fails *Error
	}{
		"responses/failed":      {fails: &Error{Status: 429, Message: "Rate limit reached for gpt-6.1-sol.", Hint: "wait a minute, then try again", Again: true}},
		"responses/error":       {fails: &Error{Status: 500, Message: "The server had an error.", Hint: "try again later", Again: true}},
		"responses/whole":       {want: []Event{{Text: "Hello!"}, wireCall("list", `{}`), {Stop: StopTools}}},
		"chat/filtered":         {want: []Event{{Text: "I can"}, {Stop: StopRefusal}}},
		"chat/error":            {fails: &Error{Status: 500, Message: "The server had an error.", Hint: "try again later", Again: true}},
		"gemini/malformed_call": {want: []Event{{Text: "I look."}}, fails: &Error{Message: "the model wrote a tool call that cannot be read", Hint: "try again later", Again: true}},
		"gemini/badkey":         {fails: &Error{Status: 400, Message: "API key not valid. Please pass a valid API key.", Hint: key, Auth: true}},
		"local/whole":           {want: []Event{{Thought: "Hm."}, {Text: "Hello!"}, wireCall("list", `{}`), {Stop: StopTools}}},
		"local/error":           {want: []Event{{Text: "Hel"}}, fails: &Error{Status: 502, Message: "Provider disconnected", Hint: "try again later", Again: true}},
	} {
		t.Run(name, func(t *testing.T) {
			dialect, file, _ := strings.Cut(name, "/")
			s := newWireServer(t, dialect, dialects[dialect], file)
			got, err := collect(bare(t, s), t.Context(), hello())
			if diff := cmp.Diff(tt.want, plain(t, got)); diff != "" {
				t.Errorf("events (-want +got)\n%s", diff)
			}
			if tt.fails == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			tt.fails.Provider = dialects[dialect].provider.name()
			if diff := cmp.Diff(error(tt.fails), err); diff != "" {
				t.Errorf("error (-want +got)\n%s", diff)
			}
		})
	}
}

// bare is the model of the server without what asks it again.
func bare(t *testing.T, s *wireServer) Model {
	p := s.dialect.provider
	p.BaseURL = s.URL
	m, err := p.open(func(string) string { return wireKey }, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A conversation that Claude began goes on with each other model: what Claude alone
// can read stays behind, and everything else is what the API takes.
func TestHistoryOfClaude(t *testing.T) {
	var history []Message
	if err := json.Unmarshal(golden(t, "../../anthropic/testdata/history.json"), &history); err != nil {
		t.Fatal(err)
	}
	tools := []Tool{
		{Name: "read", Description: "Reads a <file>.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
		{Name: "mcp." + strings.Repeat("x", 70), Schema: json.RawMessage(`true`)},
	}
	for _, name := range []string{"responses", "chat", "gemini", "local"} {
		s := newWireServer(t, name, dialects[name], "text")
		if _, err := collect(bare(t, s), t.Context(), Request{System: "Be brief.", Messages: history, Tools: tools}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var got, want any
		if err := json.Unmarshal([]byte(s.bodies[0]), &got); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(golden(t, "wire/"+name+"/history.json"), &want); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s\n%s", name, diff, s.bodies[0])
		}
	}
}

// What a server wants back of calls and of the thoughts before them goes back as it
// came, through the store, and to no other model.
func TestCallsGoBackWithWhatBelongsToThem(t *testing.T) {
	thoughts := func(delta string) string {
		return `data: {"choices":[{"index":0,"delta":` + delta + "}]}\n\n" +
			`data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"list","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}` + "\n\ndata: [DONE]\n\n"
	}
	for name, tt := range map[string]struct {
		dialect, stream, back string
	}{
		"gemini's signature": {"gemini", fixtureBody(t, fixture(t, "gemini", "parallel")),
			`"extra_content":{"google":{"thought_signature":"EjQKMgEMOdbHJChLX75QUCJjyYlm"}}`},
		"deepseek": {"local", thoughts(`{"reasoning_content":"I <list>."}`), `"reasoning_content":"I <list>."`},
		"vllm":     {"local", thoughts(`{"reasoning":"I list."}`), `"reasoning":"I list."`},
		"openrouter": {"local", thoughts(`{"reasoning":"I list.","reasoning_details":[{"type":"reasoning.text","text":"I ","index":0},{"type":"reasoning.text","text":"list.","signature":"s","index":0}]}`),
			`"reasoning_details":[{"type":"reasoning.text","index":0,"text":"I list.","signature":"s"}]`},
		"openrouter, encrypted": {"local", thoughts(`{"reasoning_details":[{"type":"reasoning.encrypted","id":"a","data":"x","index":0},{"type":"reasoning.encrypted","id":"b","data":"y","index":0}]}`),
			`"reasoning_details":[{"type":"reasoning.encrypted","id":"a","index":0,"data":"x"},{"type":"reasoning.encrypted","id":"b","index":0,"data":"y"}]`},
		"plain thoughts of Responses": {"compatible responses", eventsOf(itemDone(0, `{"type":"reasoning","id":"r","content":[{"type":"reasoning_text","text":"I list."}],"summary":[]}`) + "\n" +
			itemDone(1, `{"type":"function_call","call_id":"c1","name":"list","arguments":"{}"}`) + "\n" + completed(``)),
			`{"type":"reasoning","content":[{"type":"reasoning_text","text":"I list."}],"id":"r","summary":[]}`},
		"unsigned thoughts of others than Anthropic": {"claude", eventsOf(`{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}` + "\n" +
			`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"I list."}}` + "\n" + `{"type":"content_block_stop","index":0}` + "\n" + claudeCallOf(1, "list") + "\n" + `{"type":"message_stop"}`),
			`{"signature":"","thinking":"I list.","type":"thinking"}`},
	} {
		t.Run(name, func(t *testing.T) {
			var bodies []string
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
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
			got, err := collect(m, t.Context(), hello())
			if err != nil {
				t.Fatal(err)
			}
			history := []Message{said("hello"), {Role: Assistant, Blocks: blocksOf(got)}}
			raw, err := json.Marshal(history)
			if err != nil || json.Unmarshal(raw, &history) != nil {
				t.Fatal(err)
			}
			if _, err := collect(m, t.Context(), Request{Messages: history}); err != nil || strings.Count(bodies[1], tt.back) != 1 {
				t.Errorf("%v, no %s in\n%s", err, tt.back, bodies[1])
			}
			p.Model = "gemini-3-pro"
			other, _ := p.open(func(string) string { return wireKey }, nil)
			if _, err := collect(other, t.Context(), Request{Messages: history}); err != nil || strings.Contains(bodies[2], tt.back) {
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

// IDs go back as they came: Kimi's tell which tool they are of, and LiteLLM's hold
// Gemini's signature. OpenAI takes few characters alone.
func TestCallIDsGoBack(t *testing.T) {
	long := "call_7__thought__" + strings.Repeat("AbC/+=", 30)
	for _, tt := range []struct{ dialect, id, want string }{
		{"local", "functions.list:0", "functions.list:0"}, {"local", long, long}, {"gemini", "a.b", "a.b"},
		{"chat", "functions.list:0", "functions_list_0"}, {"chat", long, wireName(long)[:40]},
	} {
		s := newWireServer(t, tt.dialect, dialects[tt.dialect], "text")
		history := []Message{said("a"), {Role: Assistant, Blocks: []Block{{Call: &ToolCall{ID: tt.id, Name: "list", Input: json.RawMessage(`{}`)}}}}}
		if _, err := collect(bare(t, s), t.Context(), Request{Messages: history}); err != nil || strings.Count(s.bodies[0], inJSON(tt.want)) != 2 {
			t.Errorf("%s: %v, not %s in\n%s", tt.dialect, err, tt.want, s.bodies[0])
		}
	}
}

// What a server refuses is left out, and not sent again.
func TestOpenAIGivesWay(t *testing.T) {
	for name, tt := range map[string]struct {
		dialect, word, message string // of a request that is refused, and why; ! before what one must have
	}{
		"usage":      {"local", `"stream_options"`, "Extra inputs are not permitted: stream_options"},
		"summaries":  {"responses", `"summary":"auto"`, "Your organization must be verified to generate reasoning summaries."},
		"encrypted":  {"responses", `"include"`, "Encrypted content is not supported with this model."},
		"cache key":  {"chat", `"prompt_cache_key"`, "Unrecognized request argument supplied: prompt_cache_key"},
		"max tokens": {"local", `"max_tokens"`, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."},
		"thoughts":   {"responses", `"encrypted_content":"mine"`, "The encrypted content could not be verified."},

		"thoughts of Groq": {"local", `"reasoning_content"`, "'messages.1' : for 'role:assistant' the following must be satisfied[('messages.1' : property 'reasoning_content' is unsupported)]"},
		"images":           {"local", `"image_url"`, "No endpoints found that support image input"},
		"images, DeepSeek": {"local", `"image_url"`, "Failed to deserialize the JSON body into the target type: messages[3]: unknown variant `image_url`, expected `text`"},
		"IDs":              {"local", `"toolu_01A"`, "Tool call id was toolu_01A but must be a-z, A-Z, 0-9, with a length of 9."},
		"IDs, Anthropic":   {"local", `"toolu_01A"`, "messages.1.content.1.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"},
		"a user next":      {"local", `"tool_call_id":"toolu_01A"},{"role":"user"`, "Unexpected role 'user' after role 'tool'"},
		"null":             {"local", `"content":null`, "Invalid 'content': 'content' field must be a string or an array of objects."},
		"null, Ollama":     {"local", `"content":null`, "invalid message content type: <nil>"},
		"system":           {"local", `"role":"system"`, "Developer instruction is not enabled for models/gemma-3-27b-it"},
		"gaps":             {"local", `!{"role":"assistant","content":null,"tool_calls":[{"id":"toolu_01B","type":"function","function":{"name":"list","arguments":"{}"}}],"reasoning_content":" "}`, "thinking is enabled but reasoning_content is missing in assistant tool call message at index 4"},
	} {
		t.Run(name, func(t *testing.T) {
			var bodies []string
			word, must := strings.CutPrefix(tt.word, "!")
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				body := bodyOf(r)
				bodies = append(bodies, body)
				if strings.Contains(body, word) != must {
					status(400, `{"error":{"message":`+inJSON(tt.message)+`}}`)(w, r)
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
			req := Request{System: "s", Messages: []Message{
				said("a"),
				{Role: Assistant, Blocks: []Block{
					{Opaque: &Opaque{m.Name(), json.RawMessage(`{"id":"rs_1","summary":[],"encrypted_content":"mine","reasoning_content":"mine"}`)}},
					{Text: "b"}, {Call: &ToolCall{ID: "toolu_01A", Name: "list", Input: json.RawMessage(`{}`)}}}},
				{Role: User, Blocks: []Block{{Result: &ToolResult{ID: "toolu_01A", Text: "c"}}, {Text: "d"}, {Image: &Image{"image/png", []byte("hi")}}}},
				{Role: Assistant, Blocks: []Block{{Call: &ToolCall{ID: "toolu_01B", Name: "list", Input: json.RawMessage(`{}`)}}}},
				{Role: User, Blocks: []Block{{Result: &ToolResult{ID: "toolu_01B", Text: "e"}}}},
			}}
			for range 2 {
				if _, err := collect(m, t.Context(), req); err != nil {
					t.Fatal(err)
				}
			}
			want := 3
			if name == "thoughts" { // those of the next answer may be of use again
				want = 4
			}
			if len(bodies) != want {
				t.Errorf("%d requests, want %d:\n%s", len(bodies), want, strings.Join(bodies, ""))
			}
		})
	}
}

func TestChatCalls(t *testing.T) {
	for name, tt := range map[string]struct {
		pieces []string
		want   []string
	}{
		"pieces": {[]string{`{"index":0,"id":"a","function":{"name":"x","arguments":""}}`, `{"index":0,"function":{"arguments":"{\"k\":"}}`, `{"index":0,"function":{"arguments":"1}"}}`},
			[]string{`a x {"k":1}`}},
		"interleaved": {[]string{`{"index":0,"id":"a","function":{"name":"x","arguments":"{\"k\""}}`, `{"index":1,"id":"b","function":{"name":"y","arguments":"{"}}`, `{"index":0,"function":{"arguments":":1}"}}`, `{"index":1,"function":{"arguments":"}"}}`},
			[]string{`a x {"k":1}`, `b y {}`}},
		"index 0, IDs": {[]string{`{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}`, `{"index":0,"id":"b","function":{"name":"x","arguments":"{}"}}`},
			[]string{`a x {}`, `b x {}`}},
		"index 0, no IDs": {[]string{`{"index":0,"function":{"name":"x","arguments":"{}"}}`, `{"index":0,"function":{"name":"x","arguments":"{\"k\":1}"}}`},
			[]string{`call_1 x {}`, `call_2 x {"k":1}`}},
		"nothing but names": {[]string{`{"function":{"name":"x","arguments":"{}"}}`, `{"function":{"name":"y","arguments":{"k":1}}}`},
			[]string{`call_1 x {}`, `call_2 y {"k":1}`}},
		"pieces without index": {[]string{`{"id":"a","function":{"name":"x","arguments":"{\"k\":"}}`, `{"function":{"arguments":"1}"}}`, `{"id":"b","function":{"name":"x","arguments":"{}"}}`},
			[]string{`a x {"k":1}`, `b x {}`}},
		"name and ID in each piece": {[]string{`{"index":0,"id":"a","function":{"name":"x","arguments":"{\"k\":"}}`, `{"index":0,"id":"a","function":{"name":"x","arguments":"1}"}}`, `{"index":0,"id":"a","function":{"name":"x","arguments":""}}`},
			[]string{`a x {"k":1}`}},
		"another ID with each piece": {[]string{`{"index":0,"id":"a","function":{"name":"x","arguments":"{\"k\":"}}`, `{"index":0,"id":"b","function":{"arguments":"1}"}}`},
			[]string{`a x {"k":1}`}},
		"one ID for all":         {[]string{`{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}`, `{"index":1,"id":"a","function":{"name":"x","arguments":"{}"}}`}, []string{`a x {}`, `a_2 x {}`}},
		"no arguments":           {[]string{`{"index":0,"id":"a","function":{"name":"x"}}`}, []string{`a x {}`}},
		"encoded twice":          {[]string{`{"index":0,"id":"a","function":{"name":"x","arguments":"\"{\\\"k\\\":1}\""}}`}, []string{`a x {"k":1}`}},
		"no JSON":                {[]string{`{"index":0,"id":"a","function":{"name":"x","arguments":"{k}"}}`}, []string{`a x "{k}"`}},
		"a name in pieces":       {[]string{`{"index":0,"id":"a","function":{"name":"wri"}}`, `{"index":0,"function":{"name":"te"}}`, `{"index":0,"function":{"name":"write","arguments":"{}"}}`}, []string{`a write {}`}},
		"two without arguments":  {[]string{`{"function":{"name":"x"}}`, `{"function":{"name":"y"}}`}, []string{`call_1 x {}`, `call_2 y {}`}},
		"all new but arguments":  {[]string{`{"index":0,"id":"a","function":{"name":"x","arguments":"{\"k\":"}}`, `{"index":0,"id":"b","function":{"name":"x","arguments":"1}"}}`}, []string{`a x {"k":1}`}},
		"an empty object before": {[]string{`{"index":0,"id":"a","function":{"name":"x","arguments":"{}"}}`, `{"index":0,"function":{"arguments":"{\"k\":1}"}}`}, []string{`a x {"k":1}`}},
		"the whole once more":    {[]string{`{"index":0,"id":"a","function":{"name":"x","arguments":"{\"k\":1}"}}`, `{"index":0,"function":{"arguments":"{\"k\":1}"}}`}, []string{`a x {"k":1}`}},
		"a list":                 {[]string{`{"index":0,"id":"a","function":{"name":"x","arguments":"[1]"}}`}, []string{`a x "[1]"`}},
		"a signature alone":      {[]string{`{"id":"a","function":{"name":"x","arguments":"{}"}}`, `{"extra_content":{"google":{}}}`}, []string{`a x {} {"google":{}}`}},
		"nothing of anything":    {[]string{`{}`}, nil},
	} {
		var calls chatCalls
		for _, piece := range tt.pieces {
			var d chatCallDelta
			if err := json.Unmarshal([]byte(piece), &d); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			calls.add(&d, wireNames([]Tool{{Name: "x"}, {Name: "y"}}))
		}
		var got []string
		for _, c := range calls.end(wireNames(nil), false) {
			got = append(got, strings.TrimSpace(c.call.ID+" "+c.call.Name+" "+string(c.call.Input)+" "+string(c.extra)))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

func TestTagged(t *testing.T) {
	for text, want := range map[string][2]string{
		"<think>a</think>b":           {"a", "b"},
		"\n <think>a\nb</think>\n\nc": {"a\nb", "c"},
		"<thought>a</thought>b":       {"a", "b"},
		"<think>never ended </thi":    {"never ended </thi", ""},
		"a <think>b</think>":          {"", "a <think>b</think>"},
		"<thin air":                   {"", "<thin air"},
		"<th":                         {"", "<th"},
		"  ":                          {"", "  "},
	} {
		for cut := range len(text) {
			var g tagged
			thought, rest := "", ""
			take := func(a, b string) { thought, rest = thought+a, rest+b }
			take(g.take(text[:cut]))
			take(g.take(text[cut:]))
			take(g.end())
			if diff := cmp.Diff(want, [2]string{thought, rest}); diff != "" {
				t.Errorf("%q cut at %d (-want +got)\n%s", text, cut, diff)
			}
		}
	}
}

func TestWireNames(t *testing.T) {
	long := strings.Repeat("x", 70)
	n := wireNames([]Tool{{Name: "read"}, {Name: long + "1"}, {Name: long + "2"}, {Name: "a.b"}, {Name: "a_b"}})
	seen := map[string]bool{}
	for _, name := range []string{"read", long + "1", long + "2", "a.b", "a_b"} {
		wire := n.to(name)
		if seen[wire] || len(wire) > 64 || wireName(wire) != wire || n.from(wire) != name {
			t.Errorf("%s became %s, and %s again", name, wire, n.from(wire))
		}
		seen[wire] = true
	}
	if got := n.to("gone." + long); len(got) != 64 {
		t.Errorf("a tool that is not offered: %s", got)
	}
}

func TestLevels(t *testing.T) {
	for _, tt := range []struct {
		cfg     OpenAIConfig
		window  int
		levels  string
		thought string
		body    string // what is in the request at that level
	}{
		{OpenAIConfig{Type: ServerOpenAI}, 1_050_000, "low medium high xhigh max", "max", `"reasoning":{"effort":"max","summary":"auto"}`},
		{OpenAIConfig{Type: ServerOpenAI}, 1_050_000, "low medium high xhigh max", "none", `"reasoning":{"summary":"auto"}`},
		{OpenAIConfig{Type: ServerOpenAI, Model: "gpt-5-mini-2025-08-07"}, 400_000, "minimal low medium high", "minimal", `"effort":"minimal"`},
		{OpenAIConfig{Type: ServerOpenAI, Model: "gpt-5.1", API: APIChat}, 400_000, "none low medium high", "none", `"reasoning_effort":"none"`},
		{OpenAIConfig{Type: ServerOpenAI, Model: "o3"}, 200_000, "low medium high", "high", `"effort":"high"`},
		{OpenAIConfig{Type: ServerOpenAI, Model: "gpt-4.1-mini", API: APIChat}, 1_047_576, "", "high", `"stream":true`},
		{OpenAIConfig{Type: ServerOpenAI, Model: "gpt-9"}, 0, "", "high", `"include":["reasoning.encrypted_content"]`},
		{OpenAIConfig{Type: ServerGemini}, 1_048_576, "low medium high", "low", `"extra_body":{"google":{"thinking_config":{"include_thoughts":true,"thinking_level":"low"}}}`},
		{OpenAIConfig{Type: ServerGemini}, 1_048_576, "low medium high", "", `"thinking_config":{"include_thoughts":true}`},
		{OpenAIConfig{Type: ServerGemini, Model: "gemini-2.5-flash"}, 1_048_576, "none low medium high", "none", `"thinking_config":{"include_thoughts":false,"thinking_budget":0}`},
		{OpenAIConfig{Type: ServerGemini, Model: "models/gemini-2.5-pro"}, 1_048_576, "low medium high", "high", `"thinking_budget":24576`},
		{OpenAIConfig{Type: ServerGemini, Model: "gemma-4"}, 0, "", "high", `"stream":true`},
		{OpenAIConfig{Type: ServerCompatible, Model: "openai/gpt-5", UsualWindow: 400_000}, 400_000, "", "high", `"stream":true`},
		{OpenAIConfig{Type: ServerCompatible, Model: "qwen3-8b", MaxTokens: 7}, 0, "", "high", `"max_tokens":7`},
		{OpenAIConfig{Type: ServerOpenAI, Model: "gpt-4.1", API: APIChat, MaxTokens: 7}, 1_047_576, "", "", `"max_completion_tokens":7`},
	} {
		o := NewOpenAI(tt.cfg)
		if got := strings.Join(o.Levels(), " "); got != tt.levels || o.Window() != tt.window {
			t.Errorf("%s: levels %s, window %d", o.Name(), got, o.Window())
		}
		body := any(o.chat(Request{Thought: tt.thought}, nil, wireNames(nil)))
		if o.cfg.API == APIResponses {
			body = o.responses(Request{Thought: tt.thought}, nil, wireNames(nil))
		}
		if raw, err := wireJSON(body); err != nil || !strings.Contains(string(raw), tt.body) {
			t.Errorf("%s at %q: %v, no %s in\n%s", o.Name(), tt.thought, err, tt.body, raw)
		}
	}
}

func TestOpenAIBase(t *testing.T) {
	for _, tt := range []struct{ kind, url, want string }{
		{ServerOpenAI, "", "https://api.openai.com/v1/"},
		{ServerOpenAI, "https://proxy.example/", "https://proxy.example/v1/"},
		{ServerGemini, "", "https://generativelanguage.googleapis.com/v1beta/openai/"},
		{ServerCompatible, "http://127.0.0.1:1234", "http://127.0.0.1:1234/v1/"},
		{ServerCompatible, "https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/"},
		{ServerCompatible, "https://api.deepseek.com/beta/", "https://api.deepseek.com/beta/"},
		{ServerCompatible, "https://api.deepseek.com/chat/completions", "https://api.deepseek.com/"},
		{ServerCompatible, "https://x.example/d/chat/completions?api-version=1", "https://x.example/d/"},
		{ServerOpenAI, "https://proxy.example/v1/responses/", "https://proxy.example/v1/"},
		{ServerGemini, "https://proxy.example/v1beta/openai/chat/completions", "https://proxy.example/v1beta/openai/"},
	} {
		if got := NewOpenAI(OpenAIConfig{Type: tt.kind, BaseURL: tt.url}).base(); got != tt.want {
			t.Errorf("%s at %q: %s, want %s", tt.kind, tt.url, got, tt.want)
		}
	}
}

func TestOpenAIList(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/models" && r.URL.Path != "/v1beta/openai/models" || r.Header.Get("Authorization") != "Bearer k" {
			status(401, `{"error":{"message":"who are you"}}`)(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(`{"object":"list","data":[{"id":"gpt-6-luna"},{"id":"text-embedding-3-small"},{"id":"gpt-image-2"},{"id":"models/gemini-3.8-flash"},{"id":"models/gemini-embedding-001"},{"id":""}]}`))
	})
	for kind, want := range map[string][]string{
		ServerOpenAI:     {"openai:gpt-6-luna", "openai:models/gemini-3.8-flash"},
		ServerGemini:     {"gemini:gpt-6-luna", "gemini:gemini-3.8-flash"},
		ServerCompatible: {"compatible:gpt-6-luna", "compatible:text-embedding-3-small", "compatible:gpt-image-2", "compatible:models/gemini-3.8-flash", "compatible:models/gemini-embedding-001"},
	} {
		o := NewOpenAI(OpenAIConfig{Type: kind, BaseURL: s.URL, APIKey: func() string { return "k" }})
		list, err := o.List(t.Context())
		var got []string
		for _, c := range list {
			got = append(got, c.Name)
		}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", kind, got, err)
		}
	}
	refused := NewOpenAI(OpenAIConfig{BaseURL: s.URL, KeyEnv: "K", APIKey: func() string { return "wrong" }})
	if _, err := refused.List(t.Context()); !errors.As(err, new(*Error)) {
		t.Errorf("a wrong key: %v", err)
	}
	keyless := NewOpenAI(OpenAIConfig{BaseURL: s.URL, KeyEnv: "K"})
	if e, ok := errors.AsType[*Error](func() error { _, err := keyless.List(t.Context()); return err }()); !ok || !e.Auth {
		t.Errorf("no key: %v", e)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := refused.List(ctx); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}

// The window of a model that nobody knows is what its server says.
func TestOpenAILearns(t *testing.T) {
	for name, tt := range map[string]struct {
		list string
		want int
	}{
		"vllm":       {`{"object":"list","data":[{"id":"other","max_model_len":7},{"id":"m","object":"model","max_model_len":32768}]}`, 32768},
		"llama.cpp":  {`{"models":[{"name":"m","details":{"family":""}}],"object":"list","data":[{"id":"m","meta":{"n_ctx":8192,"n_ctx_train":40960}}]}`, 8192},
		"openrouter": {`{"data":[{"id":"m","name":"M","context_length":163840,"pricing":{"prompt":"0.1"}}]}`, 163840},
		"together":   {`[{"id":"m","type":"chat","context_length":131072}]`, 131072},
		"groq":       {`{"data":[{"id":"m","active":true,"context_window":131072}]}`, 131072},
		"lm studio":  {`{"data":[{"id":"m","object":"model","owned_by":"organization_owner"}]}`, 0},
		"nothing":    {`{"object":"list","data":null}`, 0},
		"odd":        {`{"data":[{"id":"m","context_length":"long","meta":[]}]}`, 0},
		"a page":     {`<html>`, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte(tt.list)) })
			m := NewOpenAI(OpenAIConfig{Type: ServerCompatible, Model: "m", BaseURL: s.URL})
			learned := Learn(t.Context(), m)
			if learned != (tt.want > 0) || m.Window() != tt.want || learned && Learn(t.Context(), m) {
				t.Errorf("learned %v, window %d, want %d", learned, m.Window(), tt.want)
			}
			if known := NewOpenAI(OpenAIConfig{Type: ServerCompatible, Model: "m", BaseURL: s.URL, Window: 7}); Learn(t.Context(), known) || known.Window() != 7 {
				t.Error("the configured window does not count")
			}
		})
	}
}

// What one chunk of text costs on its way through.
func BenchmarkOpenAIChunk(b *testing.B) {
	for name, tt := range map[string]struct {
		answer answer
		chunk  string
	}{
		"responses": {NewResponsesAnswer(""), `{"type":"response.output_text.delta","sequence_number":7,"item_id":"msg_68af40337e588193a3a9a4b2c4f1a1c0","output_index":0,"content_index":0,"delta":"Hello, this is a chunk of text.","logprobs":[],"obfuscation":"aB3dE5"}`},
		"chat":      {NewChatAnswer(""), `{"id":"chatcmpl-CdR8sXQ0bWc7LrT3","object":"chat.completion.chunk","created":1795329072,"model":"gpt-4.1-2025-04-14","service_tier":"default","system_fingerprint":"fp_433e8c8649","choices":[{"index":0,"delta":{"content":"Hello, this is a chunk of text."},"logprobs":null,"finish_reason":null}],"usage":null}`},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if done, err := tt.answer.take([]byte(tt.chunk), func(Event) bool { return true }); done || err != nil {
					b.Fatal(done, err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "chunks/s")
		})
	}
}
