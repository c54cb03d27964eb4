package gemini

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

const key = "key-of-the-tests"

// server answers each request with the next of its streams, and repeats the last one.
type server struct {
	at     Config
	paths  []string
	bodies []string
}

func serve(t *testing.T, answers ...http.HandlerFunc) *server {
	s := &server{}
	srv := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.Header.Get("X-Goog-Api-Key") != key || strings.Contains(r.URL.String(), key) {
			t.Errorf("%s with %v: %v", r.URL, r.Header, err)
		}
		s.paths, s.bodies = append(s.paths, r.Method+" "+r.URL.String()), append(s.bodies, string(body))
		answers[min(len(s.paths), len(answers))-1](w, r)
	})
	s.at = Config{BaseURL: srv.URL, APIKey: func() string { return key }}
	return s
}

// says answers with a stream of chunks.
func says(chunks ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, c := range chunks {
			fmt.Fprintf(w, "data: %s\r\n\r\n", c)
		}
	}
}

// parts returns a chunk with these parts.
func parts(list string) string {
	return `{"candidates":[{"content":{"role":"model","parts":[` + list + `]},"index":0}]}`
}

// ends returns the last chunk.
func ends(reason string) string { return `{"candidates":[{"finishReason":"` + reason + `"}]}` }

var hello = says(parts(`{"text":"Hi"}`), ends("STOP"))

func TestAnswers(t *testing.T) {
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		want   string // transcript
	}{
		"text and calls": {says(parts(`{"text":"a"},{"functionCall":{"name":"list"}}`), parts(`{"functionCall":{"name":"read","args":{"path":"x"}}}`), ends("STOP")),
			`a|list {}|read {"path":"x"}|tools`},
		"calls at the limit": {says(parts(`{"functionCall":{"name":"list","args":null}}`), ends("MAX_TOKENS")), `list {}|max_tokens`},
		"null everywhere": {says(`{"candidates":null,"usageMetadata":null,"promptFeedback":null,"error":null}`, `{"candidates":[{"content":null,`+
			`"finishReason":null}]}`, parts(`{"text":"a"}`), ends("STOP")), "a|end"},
		"other types": {says(`{"candidates":[{"index":"0","content":{"parts":{"text":"a"}},"finishReason":7}],"usageMetadata":[]}`,
			parts(`{"text":"b"}`), ends("STOP")), "b|end"},
		"another candidate": {says(`{"candidates":[{"index":1,"content":{"parts":[{"text":"x"}]},"finishReason":"SAFETY"},` +
			`{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}`), "a|end"},
		"a whole answer":   {llmtest.Status(200, `{"candidates":[{"content":{"parts":[{"text":"a"}]},"finishReason":"STOP"}]}`), "a|end"},
		"a list of chunks": {llmtest.Status(200, "["+parts(`{"text":"a"}`)+",\n"+parts(`{"text":"b"}`)+","+ends("STOP")+"]"), "ab|end"},
		"thoughts":         {says(parts(`{"text":"hm","thought":true}`), parts(`{"text":"a"}`), ends("STOP")), "thought:hm|a|end"},
		"code and its output": {says(parts(`{"executableCode":{"language":"PYTHON","code":"1"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK"}},`+
			`{"text":"a"}`), ends("STOP")), "a|end"},
		"refused for safety": {says(parts(`{"text":"a"}`), ends("SAFETY")), "a|refusal"},
		"recited":            {says(parts(`{"text":"a"}`), ends("RECITATION")), "a|refusal"},
		"prompt blocked":     {says(`{"promptFeedback":{"blockReason":"JAILBREAK"}}`), "refusal"},
		"prompt blocked, for a reason that is new": {says(`{"promptFeedback":{"blockReason":"MOOD"}}`),
			"error:gemini:gemini-3.8-flash: the answer ended with MOOD (try again later)"},
		"a continuation": {says(parts(`{"text":"a"}`), ends("CONTINUATION")), "a|max_tokens"},
		"a new reason":   {says(parts(`{"text":"a"}`), ends("TIRED")), "a|end"},
		"no reason":      {says(parts(`{"text":"a"}`)), "a|error:gemini:gemini-3.8-flash: the answer broke off before its end (try again)"},
		"a mystery": {says(parts(`{"text":"a"}`), ends("OTHER")),
			"a|error:gemini:gemini-3.8-flash: the answer ended for a reason that Google does not name (try again later)"},
		"tools in a row": {says(ends("TOO_MANY_TOOL_CALLS")),
			"error:gemini:gemini-3.8-flash answered 400: the model called too many tools in a row, so Google stopped it"},
		"a bad message": {says(`{"candidates":[{"finishReason":"NEW","finishMessage":"why"}]}`),
			"error:gemini:gemini-3.8-flash: the answer ended with NEW: why (try again later)"},
		"no JSON": {says(`{"candidates":`, "x"), "error:gemini:gemini-3.8-flash: reading its stream: unexpected end of JSON input (try again)"},
		"an error": {says(parts(`{"text":"a"}`), `{"error":{"message":"bad","status":"INVALID_ARGUMENT"}}`),
			"a|error:gemini:gemini-3.8-flash answered 400: bad"},
		"no service there": {llmtest.Status(400, `{"error":{"code":400,"message":"User location is not supported for the API use.","status":"FAILED_PRECONDITION"}}`),
			"error:gemini:gemini-3.8-flash answered 400: User location is not supported for the API use " +
				"(the Gemini API is not offered where you are; type vertex has the same models in many regions)"},
		"arguments in a string": {says(parts(`{"functionCall":{"name":"read","args":"{\"path\":\"x\"}"}}`), ends("STOP")), `read {"path":"x"}|tools`},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, tt.answer)
			got, err := llmtest.Collect(New(s.at), t.Context(), llmtest.Hello())
			if diff := cmp.Diff(tt.want, llmtest.Transcript(got, err)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if len(s.paths) != 1 || s.paths[0] != "POST /v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse" {
				t.Errorf("asked %q", s.paths)
			}
		})
	}
}

// history returns a prompt, the answer as the agent stores it, and results of its calls.
func history(t *testing.T, m llm.Model) []llm.Message {
	t.Helper()
	events, err := llmtest.Collect(m, t.Context(), llmtest.Hello())
	if err != nil {
		t.Fatal(err)
	}
	answer, next := llm.Message{Role: llm.Assistant}, llm.Message{Role: llm.User}
	for _, ev := range events {
		switch {
		case ev.Text != "":
			answer.Blocks = append(answer.Blocks, llm.Block{Text: ev.Text})
		case ev.Thought != "":
			answer.Blocks = append(answer.Blocks, llm.Block{Thought: ev.Thought})
		case ev.Opaque != nil:
			answer.Blocks = append(answer.Blocks, llm.Block{Opaque: ev.Opaque})
		case ev.Call != nil:
			answer.Blocks = append(answer.Blocks, llm.Block{Call: ev.Call})
			next.Blocks = append(next.Blocks, llm.Block{Result: &llm.ToolResult{ID: ev.Call.ID, Text: "ok"}})
		}
	}
	next.Blocks = append(next.Blocks, llm.Block{Text: "and?"})
	return append(llmtest.Hello().Messages, answer, next)
}

// Signatures go back on the parts that had them, to the model that made them. Another model of the third generation gets a mark on
// the first call, and one of the second generation none.
func TestSignatures(t *testing.T) {
	const mark = `"thoughtSignature":"skip_thought_signature_validator"`
	call := func(id, more string) string {
		return `{"functionCall":{"id":"` + id + `","name":"list","args":{}}` + more + `}`
	}
	for name, tt := range map[string]struct {
		chunks      []string
		same, other string // the parts of the answer as the same and another model get them
	}{
		"on the first call": {[]string{parts(call("a", `,"thoughtSignature":"c2ln"`)), parts(call("b", ""))},
			call("a", `,"thoughtSignature":"c2ln"`) + "," + call("b", ""), call("a", ","+mark) + "," + call("b", "")},
		"on each call": {[]string{parts(call("a", `,"thoughtSignature":"c2ln"`) + "," + call("b", `,"thoughtSignature":"b3Ro"`))},
			call("a", `,"thoughtSignature":"c2ln"`) + "," + call("b", `,"thoughtSignature":"b3Ro"`), call("a", ","+mark) + "," + call("b", "")},
		"missing": {[]string{parts(call("a", ""))}, call("a", ","+mark), call("a", ","+mark)},
		"after the text": {[]string{parts(`{"text":"a"}`), parts(`{"text":"b"}`), parts(`{"text":"","thoughtSignature":"c2ln"}`)},
			`{"text":"ab"},{"text":"","thoughtSignature":"c2ln"}`, `{"text":"ab"}`},
		"on the end of the text": {[]string{parts(`{"text":"aé"}`), parts(`{"text":"éb","thoughtSignature":"c2ln"}`)},
			`{"text":"aé"},{"text":"éb","thoughtSignature":"c2ln"}`, `{"text":"aééb"}`},
		"on the whole text": {[]string{parts(`{"text":"ab","thoughtSignature":"c2ln"}`)}, `{"text":"ab","thoughtSignature":"c2ln"}`, `{"text":"ab"}`},
		"in the middle of the text": {[]string{parts(`{"text":"a","thoughtSignature":"c2ln"}`), parts(`{"text":"b"}`)},
			`{"text":"a","thoughtSignature":"c2ln"},{"text":"b"}`, `{"text":"a"},{"text":"b"}`},
		"on two texts": {[]string{parts(`{"text":"a","thoughtSignature":"c2ln"}`), parts(`{"text":"b","thoughtSignature":"b3Ro"}`)},
			`{"text":"a","thoughtSignature":"c2ln"},{"text":"b","thoughtSignature":"b3Ro"}`, `{"text":"a"},{"text":"b"}`},
		"on a thought": {[]string{parts(`{"text":"hm","thought":true,"thoughtSignature":"c2ln"}`), parts(`{"text":"a"}`)},
			`{"thought":true,"text":"hm","thoughtSignature":"c2ln"},{"text":"a"}`, `{"text":"a"}`},
		"on text before a call": {[]string{parts(`{"text":"a","thoughtSignature":"b3Ro"}`), parts(call("a", `,"thoughtSignature":"c2ln"`))},
			`{"text":"a","thoughtSignature":"b3Ro"},` + call("a", `,"thoughtSignature":"c2ln"`), `{"text":"a"},` + call("a", ","+mark)},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, says(append(tt.chunks, ends("STOP"))...), hello)
			messages := history(t, New(s.at))
			raw, err := json.Marshal(messages) // the form in the store
			if err != nil || json.Unmarshal(raw, &messages) != nil {
				t.Fatal(err)
			}
			for model, want := range map[string]string{"": tt.same, "gemini-3-pro": tt.other, "gemini-2.5-pro": strings.ReplaceAll(tt.other, ","+mark, "")} {
				at := s.at
				at.Model = model
				if _, err := llmtest.Collect(New(at), t.Context(), llm.Request{Messages: messages}); err != nil {
					t.Fatal(err)
				}
				if got := s.bodies[len(s.bodies)-1]; !strings.Contains(got, `{"role":"model","parts":[`+want+`]}`) {
					t.Errorf("model %q: no %s in\n%s", model, want, got)
				}
			}
		})
	}
}

// A text that was changed since it was signed is never cut within a character.
func TestSignedTextChanged(t *testing.T) {
	for text, want := range map[string]string{
		"aéé": `{"text":"aé"},{"text":"é","thoughtSignature":"c2ln"}`, "aéx": `{"text":"aéx","thoughtSignature":"c2ln"}`,
		"x": `{"text":"x"},{"text":"","thoughtSignature":"c2ln"}`,
	} {
		s := serve(t, hello)
		m := New(s.at)
		answer := llm.Message{Role: llm.Assistant, Blocks: []llm.Block{{Text: text},
			{Opaque: &llm.Opaque{Provider: m.Name(), Data: json.RawMessage(`{"bytes":2,"signature":"c2ln"}`)}}}}
		_, err := llmtest.Collect(m, t.Context(), llm.Request{Messages: append(llmtest.Hello().Messages, answer, llmtest.UserText("and?"))})
		if err != nil || !strings.Contains(s.bodies[0], `"parts":[`+want+`]`) {
			t.Errorf("%q: %v, no %s in %s", text, err, want, s.bodies[0])
		}
	}
}

// A part that a model refuses is left out of the request and of later ones; old signatures of this request only.
func TestRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		word, message string // a word in refused requests, and the refusal
		model         string
		requests      int // for two answers
	}{
		"system":     {`"systemInstruction"`, "Developer instruction is not enabled for models/gemma-3-27b-it", "gemma-3-27b-it", 3},
		"thinking":   {`"thinkingConfig"`, "Thinking is not enabled for this model", "gemini-9", 3},
		"level":      {`"thinkingConfig"`, "Unable to submit request because Thinking level is not supported for this model.", "gemini-9", 3},
		"budget":     {`"thinkingConfig"`, "Budget 0 is invalid. This model only works in thinking mode: thinking_budget is invalid", "gemini-9", 3},
		"signatures": {`"c2ln"`, "Corrupted thought signature.", "", 4},
	} {
		t.Run(name, func(t *testing.T) {
			var s *server
			s = serve(t, func(w http.ResponseWriter, r *http.Request) {
				body := s.bodies[len(s.bodies)-1]
				if strings.Contains(body, tt.word) {
					llmtest.Status(400, `{"error":{"code":400,"message":"`+tt.message+`","status":"INVALID_ARGUMENT"}}`)(w, r)
					return
				}
				if !strings.Contains(body, "Be brief.") {
					t.Errorf("the system prompt is lost: %s", body)
				}
				hello(w, r)
			})
			s.at.Model = tt.model
			m := New(s.at)
			req := llm.Request{System: "Be brief.", Thought: "low", Cache: new(llm.Cache), Messages: append(llmtest.Hello().Messages,
				llm.Message{Role: llm.Assistant, Blocks: []llm.Block{
					{Opaque: &llm.Opaque{Provider: m.Name(), Data: json.RawMessage(`{"call":"a","signature":"c2ln"}`)}},
					{Call: &llm.ToolCall{ID: "a", Name: "list", Input: json.RawMessage(`{}`)}}}})}
			for range 2 {
				if got, err := llmtest.Collect(m, t.Context(), req); llmtest.Transcript(got, err) != "Hi|end" {
					t.Fatal(llmtest.Transcript(got, err))
				}
			}
			if len(s.bodies) != tt.requests {
				t.Errorf("%d requests, want %d:\n%s", len(s.bodies), tt.requests, strings.Join(s.bodies, "\n"))
			}
		})
	}
	s := serve(t, llmtest.Status(400, `{"error":{"message":"thought_signature is missing; Thinking is not enabled"}}`))
	if _, err := llmtest.Collect(New(s.at), t.Context(), llmtest.Hello()); err == nil || len(s.bodies) != 2 {
		t.Errorf("%v after %d requests, want an error after one repetition", err, len(s.bodies))
	}
}

// The levels of thinking by model.
func TestThinking(t *testing.T) {
	for _, tt := range []struct{ model, level, want string }{
		{"gemini-3.8-flash", "low", `"generationConfig":{"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"LOW"}}`},
		{"gemini-3.8-flash", "minimal", `"generationConfig":{"thinkingConfig":{"includeThoughts":true}}`},
		{"models/gemini-4-argon", "high", `"thinkingLevel":"HIGH"`},
		{"gemini-2.5-flash", "none", `"generationConfig":{"thinkingConfig":{"thinkingBudget":0}}`},
		{"gemini-2.5-pro", "medium", `{"includeThoughts":true,"thinkingBudget":8192}`},
		{"gemini-77", "low", `"generationConfig":{"thinkingConfig":{"includeThoughts":true}}`},
		{"gemini-2.0-flash", "low", `{"contents":[`},
		{"gemma-3-27b-it", "", `{"contents":[`},
		{"tuned", "", `{"contents":[`},
	} {
		s := serve(t, hello)
		s.at.Model = tt.model
		req := llmtest.Hello()
		req.Thought = tt.level
		if _, err := llmtest.Collect(New(s.at), t.Context(), req); err != nil || !strings.Contains(s.bodies[0], tt.want) {
			t.Errorf("%s at %q: %v, no %s in %s", tt.model, tt.level, err, tt.want, s.bodies[0])
		}
	}
}

func TestAddresses(t *testing.T) {
	for address, want := range map[string]string{
		"": DefaultAddress, "https://g.example.com": "https://g.example.com/v1beta/", "https://g.example.com/": "https://g.example.com/v1beta/",
		"https://g.example.com/v1alpha": "https://g.example.com/v1alpha/", "https://g.example.com/x/v1beta/?k=v#f": "https://g.example.com/x/v1beta/",
		"https://g.example.com/v1beta/models/gemini-3.8-flash:streamGenerateContent?alt=sse": "https://g.example.com/v1beta/",
		"https://g.example.com/v1beta/models":                                                "https://g.example.com/v1beta/",
		"https://g.example.com/models":                                                       "https://g.example.com/v1beta/",
	} {
		if got := baseOf(address); got != want {
			t.Errorf("baseOf(%q) = %s, want %s", address, got, want)
		}
	}
	for model, want := range map[string]string{
		"gemini-x": "models/gemini-x", "models/gemini-x": "models/gemini-x", "a/b?c": "models/a%2Fb%3Fc", "tunedModels/mine-1": "tunedModels/mine-1",
	} {
		if got := New(Config{Model: model}).path(); got != want {
			t.Errorf("path of %q = %s, want %s", model, got, want)
		}
	}
}

func TestList(t *testing.T) {
	s := serve(t, llmtest.Status(200, `{"models":[{"name":"models/gemini-a","displayName":"Gemini A","inputTokenLimit":1000,`+
		`"supportedGenerationMethods":["generateContent","countTokens"]},
		{"name":"models/gemini-embedding-001","supportedGenerationMethods":["embedContent"]},
		{"name":"models/gemini-3-pro-image","supportedGenerationMethods":["generateContent"]},
		{"name":""}],"nextPageToken":"p2"}`),
		llmtest.Status(200, `{"models":[{"name":"models/gemini-b","supportedGenerationMethods":["generateContent"]}],"nextPageToken":"p2"}`))
	got, err := New(s.at).List(t.Context())
	want := []llm.Choice{{Name: "gemini:gemini-a", Title: "Gemini A", Description: "Model of provider gemini", Open: true},
		{Name: "gemini:gemini-b", Title: "gemini-b", Description: "Model of provider gemini", Open: true}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if diff := cmp.Diff([]string{"GET /v1beta/models?pageSize=1000", "GET /v1beta/models?pageSize=1000&pageToken=p2"}, s.paths); diff != "" {
		t.Errorf("requests (-want +got)\n%s", diff)
	}
	s = serve(t, llmtest.Status(403, `{"error":{"code":403,"message":"Method doesn't allow unregistered callers.","status":"PERMISSION_DENIED"}}`))
	if _, err := New(s.at).List(t.Context()); err == nil || !strings.Contains(err.Error(), "check the key in GEMINI_API_KEY") {
		t.Errorf("got %v, want advice on the key", err)
	}
}

// The window of an unknown model is asked for once, for all sessions.
func TestLearn(t *testing.T) {
	s := serve(t, llmtest.Status(500, `{}`), llmtest.Status(200, `{"name":"models/gemini-x","inputTokenLimit":32768}`))
	s.at.Memory, s.at.Model = new(wire.Memory), "gemini-x"
	for i, want := range []bool{false, true, false} {
		m := New(s.at)
		if got := m.Learn(t.Context()); got != want || (m.Window() == 32768) != (i > 0) {
			t.Errorf("Learn %d: got %t with the window %d, want %t", i, got, m.Window(), want)
		}
	}
	if len(s.paths) != 2 || s.paths[1] != "GET /v1beta/models/gemini-x" {
		t.Errorf("asked %q, want the model twice", s.paths)
	}
	if m := New(Config{BaseURL: s.at.BaseURL}); m.Learn(t.Context()) || m.Window() != 1_048_576 || len(s.paths) != 2 {
		t.Errorf("a known model was asked for: %q", s.paths)
	}
}

func TestEmbed(t *testing.T) {
	s := serve(t, llmtest.Status(200, `{"embeddings":[{"values":[0.5,1]},{"values":[-1,0]}]}`), llmtest.Status(200, `{"embeddings":[{"values":[1]}]}`),
		llmtest.Status(404, `{"error":{"message":"models/e is not found"}}`))
	s.at.Embedding = "gemini-embedding-001"
	e := New(s.at).Embedder()
	got, err := e.Embed(t.Context(), []string{"a <b>", ""})
	if diff := cmp.Diff([][]float32{{0.5, 1}, {-1, 0}}, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	const one = `{"model":"models/gemini-embedding-001","content":{"parts":[{"text":`
	if want := `{"requests":[` + one + `"a <b>"}]}},` + one + `" "}]}}]}`; s.bodies[0] != want ||
		s.paths[0] != "POST /v1beta/models/gemini-embedding-001:batchEmbedContents" {
		t.Errorf("%s with\n%s\nwant\n%s", s.paths[0], s.bodies[0], want)
	}
	for _, want := range []string{"it sent 1 vector for 2 texts", `check embedding_model "gemini-embedding-001" and base_url`} {
		if _, err := e.Embed(t.Context(), []string{"a", "b"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if New(Config{}).Embedder() != nil {
		t.Error("it embeds without a model for embeddings")
	}
	keyless := New(Config{Embedding: "e"})
	if f, ok := errors.AsType[*llm.Error](func() error { _, err := keyless.Embedder().Embed(t.Context(), []string{"a"}); return err }()); !ok || !f.Auth {
		t.Errorf("without a key: %v", f)
	}
}
