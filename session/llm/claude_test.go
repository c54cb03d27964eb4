package llm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const testKey = "sk-ant-secret"

// anthropicServer answers each request with the next of its answers.
type anthropicServer struct {
	*httptest.Server
	mu      sync.Mutex
	bodies  []map[string]any
	headers []http.Header
}

func serveClaude(t testing.TB, answers ...http.HandlerFunc) *anthropicServer {
	t.Helper()
	s := &anthropicServer{}
	s.Server = serve(t, func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		raw, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(raw, &body)
		}
		if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1/messages" {
			t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
		}
		s.mu.Lock()
		s.bodies, s.headers = append(s.bodies, body), append(s.headers, r.Header)
		n := len(s.bodies)
		s.mu.Unlock()
		answers[min(n, len(answers))-1](w, r)
	})
	return s
}

func claudeAt(address string) *Claude {
	return NewClaude(ClaudeConfig{BaseURL: address + "/v1/", APIKey: func() string { return testKey + "\n" }})
}

func sse(t testing.TB, file string) http.HandlerFunc {
	data, err := os.ReadFile(filepath.FromSlash(file))
	if err != nil {
		t.Fatal(err)
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		w.Write(data)
	}
}

func status(code int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

// collect reads a whole answer, with neighbouring text and thoughts joined.
func collect(m Model, ctx context.Context, req Request) (events []Event, err error) {
	for e, err := range m.Stream(ctx, req) {
		if err != nil {
			return events, err
		}
		if n := len(events); n > 0 && e.Text != "" && events[n-1].Text != "" {
			events[n-1].Text += e.Text
		} else if n > 0 && e.Thought != "" && events[n-1].Thought != "" {
			events[n-1].Thought += e.Thought
		} else {
			events = append(events, e)
		}
	}
	return events, nil
}

func hello() Request { return Request{Messages: []Message{said("hello")}} }

func said(text string) Message { return Message{Role: User, Blocks: []Block{{Text: text}}} }

func TestClaudeAnswer(t *testing.T) {
	first := Event{Usage: &Usage{Input: 1225, Output: 1, CacheRead: 1000, CacheWrite: 200}}
	usage := func(out int) Event {
		return Event{Usage: &Usage{Input: 1225, Output: out, CacheRead: 1000, CacheWrite: 200}}
	}
	opaque := func(data string) Event {
		return Event{Opaque: &Opaque{Provider: "claude:" + DefaultClaude, Data: json.RawMessage(data)}}
	}
	call := func(id, name, input string) Event {
		return Event{Call: &ToolCall{ID: id, Name: name, Input: json.RawMessage(input)}}
	}
	for file, want := range map[string][]Event{
		"text.sse": {first, {Text: "Hello!"}, usage(12), {Stop: StopEnd}},
		"parallel.sse": {first, {Thought: "The user wants two files; read both."},
			opaque(`{"type":"thinking","thinking":"The user wants two files; read both.","signature":"EqQBCgIYAhIM1gbcDa9GJwZA2b3h"}`),
			opaque(`{"type":"redacted_thinking","data":"EmwKAhgB"}`),
			{Text: "Ich öffne beide — 日本語 🙂."},
			call("toolu_01T1x1fJ34qAmk2tNTrN7Up6", "read", `{"path": "aä.go"}`),
			usage(89), call("toolu_01B", "list", `{}`), {Stop: StopTools}},
		"cut_call.sse": {first, {Text: "Now I write"}, call("toolu_01A", "read", `{"path": "a"}`), usage(89), {Stop: StopMaxTokens}},
		"bad_call.sse": {first, call("toolu_01A", "write", `"{\"path\": oops}"`), usage(89), call("toolu_01B", "read", `{}`), {Stop: StopTools}},
		"refusal.sse":  {first, {Text: "I can"}, usage(89), {Stop: StopRefusal}},
		"window.sse":   {first, {Text: "I can"}, usage(89), {Stop: StopMaxTokens}},
		"future.sse":   {first, {Text: "done"}, usage(89), {Stop: StopEnd}},
	} {
		t.Run(file, func(t *testing.T) {
			got, err := collect(claudeAt(serveClaude(t, sse(t, "testdata/"+file)).URL), t.Context(), hello())
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("Stream: %v (-want +got)\n%s", err, diff)
			}
		})
	}
}

func TestClaudeFailure(t *testing.T) {
	apiError := func(kind, message string) string {
		return fmt.Sprintf(`{"type":"error","error":{"type":%q,"message":%q},"request_id":"req_1"}`, kind, message)
	}
	for name, tt := range map[string]struct {
		answer   http.HandlerFunc
		want     Error
		requests int
	}{
		"401": {status(401, apiError("authentication_error", "invalid x-api-key "+testKey)),
			Error{Status: 401, Message: "invalid x-api-key [key]", Hint: "check the key in ANTHROPIC_API_KEY, or that of zeph-acp login", Auth: true}, 1},
		"403": {status(403, apiError("permission_error", "not\n yours")),
			Error{Status: 403, Message: "not yours", Hint: "check the key in ANTHROPIC_API_KEY, or that of zeph-acp login", Auth: true}, 1},
		"404": {status(404, apiError("not_found_error", "model: x")),
			Error{Status: 404, Message: "model: x", Hint: `check model "claude-sonnet-5-5" and base_url`}, 1},
		"400": {status(400, apiError("invalid_request_error", "prompt is too long")),
			Error{Status: 400, Message: "prompt is too long", TooLong: true, Hint: "the conversation is too large: type /compact, or begin a new session"}, 1},
		"429": {status(429, apiError("rate_limit_error", "too many")),
			Error{Status: 429, Message: "too many", Hint: "wait a minute, then try again", Again: true}, 1},
		"429 for long": {status(429, apiError("rate_limit_error", "too many"), "Retry-After", "3600"),
			Error{Status: 429, Message: "too many", Hint: "wait 60 min, then try again", Again: true, RetryAfter: time.Hour}, 1},
		"529": {status(529, apiError("overloaded_error", "Overloaded")),
			Error{Status: 529, Message: "Overloaded", Hint: "try again later", Again: true}, 1},
		"a long text": {status(502, "Bad\nGateway"+strings.Repeat("ä", 1000)),
			Error{Status: 502, Message: "Bad Gateway" + strings.Repeat("ä", 194) + "…", Hint: "try again later", Again: true}, 1},
		"a page of HTML": {status(502, "<html>\n<title>502 Bad\nGateway &amp; more</title><h1>Oh</h1>"),
			Error{Status: 502, Message: "Bad Gateway & more", Hint: "try again later", Again: true}, 1},
		"a page without a title": {status(502, "<html><h1>502 Oh</h1>"),
			Error{Status: 502, Message: "Oh", Hint: "try again later", Again: true}, 1},
		"a page that says nothing": {status(502, "<html>"),
			Error{Status: 502, Message: "Bad Gateway", Hint: "try again later", Again: true}, 1},
		"a proxy": {status(407, "<html>"),
			Error{Status: 407, Message: "Proxy Authentication Required", Hint: "check the proxy that HTTPS_PROXY or HTTP_PROXY names"}, 1},
		"no body":            {status(500, ""), Error{Status: 500, Message: "Internal Server Error", Hint: "try again later", Again: true}, 1},
		"error in stream":    {sse(t, "testdata/overloaded.sse"), Error{Status: 529, Message: "Overloaded", Hint: "try again later", Again: true}, 1},
		"stream breaks off":  {sse(t, "testdata/broken.sse"), Error{Message: "the answer broke off before its end", Hint: "try again", Again: true}, 1},
		"connection is lost": {lost, Error{Message: "unexpected EOF", Hint: "try again", Again: true}, 1},
		"not a stream": {status(200, `{"content":[]}`),
			Error{Status: 200, Message: `it sent "application/json" instead of a stream of events`, Hint: "check base_url"}, 1},
		"redirect": {status(307, "", "Location", "https://elsewhere.example/"),
			Error{Status: 307, Message: "it redirects to another address", Hint: "check base_url"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := serveClaude(t, tt.answer)
			_, err := collect(claudeAt(s.URL), t.Context(), hello())
			tt.want.Provider = "claude"
			got, ok := errors.AsType[*Error](err)
			if !ok {
				t.Fatalf("Stream: %v", err)
			}
			if diff := cmp.Diff(&tt.want, got); diff != "" || len(s.bodies) != tt.requests {
				t.Errorf("Stream: %d requests (-want +got)\n%s", len(s.bodies), diff)
			}
		})
	}
}

// lost ends the connection in the middle of an answer.
func lost(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	io.WriteString(w, "event: message_start\ndata: {\"type\":\"message_start\"}\n\n")
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

func TestClaudeNetwork(t *testing.T) {
	s := serveClaude(t, lost)
	m := claudeAt(s.URL)
	s.Close()
	_, err := collect(m, t.Context(), hello())
	got, ok := errors.AsType[*Error](err)
	if !ok || got.Status != 0 || got.Hint != "check the network and base_url" || !got.Again || !strings.HasPrefix(got.Message, "dial tcp") {
		t.Errorf("Stream: %v", err)
	}
}

// stalled sends the beginning of an answer and then nothing.
func stalled(began chan<- struct{}) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"text\":\"a\"}}\n\n")
		w.(http.Flusher).Flush()
		if began != nil {
			close(began)
		}
		<-r.Context().Done()
	}
}

func TestClaudeCancel(t *testing.T) {
	cause := errors.New("the user pressed stop")
	began := make(chan struct{})
	s := serveClaude(t, stalled(began))
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	go func() { <-began; cancel(cause) }()
	if _, err := collect(claudeAt(s.URL), ctx, hello()); err != cause {
		t.Errorf("cancelled in the stream: %v", err)
	}
	if _, err := collect(claudeAt(s.URL), ctx, hello()); err != cause {
		t.Errorf("cancelled before: %v", err)
	}
}

// However much of a request's address base_url has, that is where it goes.
func TestClaudeBase(t *testing.T) {
	for _, path := range []string{"", "/", "/v1", "/v1/messages", "/v1/messages/"} {
		s := serveClaude(t, status(529, `{"error":{"message":"busy"}}`))
		m := NewClaude(ClaudeConfig{BaseURL: s.URL + path, APIKey: func() string { return testKey }})
		_, err := collect(m, t.Context(), hello())
		if e, ok := errors.AsType[*Error](err); !ok || e.Status != 529 {
			t.Errorf("%q: %v", path, err)
		}
	}
}

func TestClaudeSilence(t *testing.T) {
	m := claudeAt(serveClaude(t, stalled(nil)).URL)
	m.endpoint.silence = time.Millisecond
	_, err := collect(m, t.Context(), hello())
	if e, ok := errors.AsType[*Error](err); !ok || e.Message != "sent nothing for 1ms" || !e.Again {
		t.Errorf("Stream: %v", err)
	}
}

func TestClaudeStopsWhenNobodyListens(t *testing.T) {
	gone := make(chan struct{})
	s := serveClaude(t, func(w http.ResponseWriter, r *http.Request) {
		stalled(nil)(w, r)
		close(gone)
	})
	m := claudeAt(s.URL)
	for range m.Stream(t.Context(), hello()) {
		break
	}
	<-gone
}

func TestClaudeWithoutKey(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "of the SDK")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "of the SDK")
	s := serveClaude(t, sse(t, "testdata/text.sse"))
	key := ""
	m := NewClaude(ClaudeConfig{Name: "work", BaseURL: s.URL, KeyEnv: "WORK_KEY", APIKey: func() string { return key }})
	want := &Error{Provider: "work", Message: "there is no API key", Hint: "run zeph-acp login, or set WORK_KEY in the environment that starts the agent", Auth: true}
	_, err := collect(m, t.Context(), hello())
	for _, err := range []error{err, Ready(m)} {
		if diff := cmp.Diff(error(want), err); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	key = "late"
	if _, err := collect(m, t.Context(), hello()); err != nil || Ready(m) != nil {
		t.Errorf("with a key: %v", err)
	}
	h := s.headers[0]
	if len(s.headers) != 1 || h.Get("X-Api-Key") != "late" || h.Get("Authorization") != "" {
		t.Errorf("headers %v", s.headers)
	}
}

func TestClaudeRequest(t *testing.T) {
	var history []Message
	if err := json.Unmarshal(golden(t, "history.json"), &history); err != nil {
		t.Fatal(err)
	}
	s := serveClaude(t, sse(t, "testdata/text.sse"))
	_, err := collect(claudeAt(s.URL), t.Context(), Request{System: "Be brief.", Messages: history, Tools: []Tool{
		{Name: "read", Description: "Reads a <file>.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
		{Name: "list", Schema: json.RawMessage(`{"properties":{}}`)},
		{Name: "odd", Schema: json.RawMessage(`true`)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := json.Unmarshal(golden(t, "request.json"), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, s.bodies[0]); diff != "" {
		t.Errorf("request (-want +got)\n%s", diff)
	}
}

// A signed thought that the provider refuses is left out, so that the
// conversation goes on.
func TestClaudeRefusedThought(t *testing.T) {
	s := serveClaude(t,
		status(400, `{"error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid `+"`signature` in `thinking`"+` block."}}`),
		sse(t, "testdata/text.sse"))
	m := claudeAt(s.URL)
	_, err := collect(m, t.Context(), Request{Messages: []Message{
		said("a"),
		{Role: Assistant, Blocks: []Block{{Opaque: &Opaque{m.Name(), json.RawMessage(`{"type":"thinking","signature":"x"}`)}}, {Text: "b"}}},
		said("c"),
	}})
	if err != nil || len(s.bodies) != 2 {
		t.Fatalf("Stream: %v, %d requests", err, len(s.bodies))
	}
	for i, want := range []int{2, 1} {
		content := s.bodies[i]["messages"].([]any)[1].(map[string]any)["content"].([]any)
		if len(content) != want {
			t.Errorf("request %d: %v", i, content)
		}
	}
}

// A call without a thought, which the server refuses, gets one from then on.
func TestClaudeMissingThought(t *testing.T) {
	for _, message := range []string{
		"The `content[].thinking` in the thinking mode must be passed back to the API.", // DeepSeek
		"thinking is enabled but reasoning_content is missing in assistant tool call message at index 1",
	} {
		s := serveClaude(t, status(400, `{"error":{"type":"invalid_request_error","message":`+strconv.Quote(message)+`}}`), sse(t, "testdata/text.sse"))
		m := claudeAt(s.URL)
		for range 2 {
			if _, err := collect(m, t.Context(), Request{Messages: []Message{
				said("a"), {Role: Assistant, Blocks: []Block{{Text: "b"}, {Call: &ToolCall{ID: "c", Name: "list", Input: json.RawMessage(`{}`)}}}},
			}}); err != nil {
				t.Fatal(err)
			}
		}
		for i, want := range []string{"text", "thinking", "thinking"} {
			content := s.bodies[i]["messages"].([]any)[1].(map[string]any)["content"].([]any)
			if first := content[0].(map[string]any); first["type"] != want {
				t.Errorf("request %d: %v", i, content)
			}
		}
	}
}

func golden(t *testing.T, name string) []byte {
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestClaudeWindow(t *testing.T) {
	for model, want := range map[string]int{
		"":                           1_000_000,
		"claude-haiku-4-5-20251001":  200_000,
		"claude-sonnet-4-5":          200_000,
		"claude-opus-4-8":            1_000_000,
		"claude-sonnet-4-6-20990101": 1_000_000,
		"something-else":             200_000,
	} {
		if got := NewClaude(ClaudeConfig{Model: model}).Window(); got != want {
			t.Errorf("%q: %d, want %d", model, got, want)
		}
	}
	if got := NewClaude(ClaudeConfig{Window: 7}).Window(); got != 7 {
		t.Errorf("configured: %d", got)
	}
}

func FuzzClaudeAnswer(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.sse")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(data))
	}
	f.Fuzz(func(t *testing.T, stream string) {
		var a claudeAnswer
		stopped := false
		for line := range strings.Lines(stream) {
			data, ok := strings.CutPrefix(line, "data: ")
			if !ok {
				continue
			}
			done, err := a.take([]byte(data), func(e Event) bool {
				if stopped {
					t.Errorf("%+v after the stop", e)
				}
				stopped = e.Stop != ""
				if e.Call != nil && !json.Valid(e.Call.Input) {
					t.Errorf("input %s", e.Call.Input)
				}
				if e == (Event{}) {
					t.Error("empty event")
				}
				return true
			})
			if done || err != nil {
				return
			}
		}
	})
}

// BenchmarkClaudeChunk is what one chunk of text costs on its way through.
func BenchmarkClaudeChunk(b *testing.B) {
	chunk := []byte(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello, this is a chunk of text."}}`)
	var a claudeAnswer
	b.ReportAllocs()
	for b.Loop() {
		if done, err := a.take(chunk, func(Event) bool { return true }); done || err != nil {
			b.Fatal(done, err)
		}
	}
}

// BenchmarkClaudeStream is a whole answer of 1,000 chunks over loopback.
func BenchmarkClaudeStream(b *testing.B) {
	var s strings.Builder
	s.WriteString("event: message_start\ndata: {\"type\":\"message_start\"}\n\n")
	for range 1000 {
		s.WriteString("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hello.\"}}\n\n")
	}
	s.WriteString("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
	server := serveClaude(b, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, s.String())
	})
	m := claudeAt(server.URL)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := collect(m, b.Context(), hello()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*1000/b.Elapsed().Seconds(), "chunks/s")
}
