package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
)

func modelAt(address string) *Model {
	return New(Config{BaseURL: address + "/v1/", APIKey: func() string { return llmtest.AnthropicKey + "\n" }})
}

func TestClaudeAnswer(t *testing.T) {
	first := llm.Event{Usage: &llm.Usage{Input: 1225, Output: 1, CacheRead: 1000, CacheWrite: 200}}
	usage := func(out int) llm.Event {
		return llm.Event{Usage: &llm.Usage{Input: 1225, Output: out, CacheRead: 1000, CacheWrite: 200}}
	}
	opaque := func(data string) llm.Event {
		return llm.Event{Opaque: &llm.Opaque{Provider: "claude:" + DefaultModel, Data: json.RawMessage(data)}}
	}
	call := func(id, name, input string) llm.Event {
		return llm.Event{Call: &llm.ToolCall{ID: id, Name: name, Input: json.RawMessage(input)}}
	}
	for file, want := range map[string][]llm.Event{
		"text.sse": {first, {Text: "Hello!"}, usage(12), {Stop: llm.StopEnd}},
		"parallel.sse": {first, {Thought: "The user wants two files; read both."},
			opaque(`{"type":"thinking","thinking":"The user wants two files; read both.","signature":"EqQBCgIYAhIM1gbcDa9GJwZA2b3h"}`),
			opaque(`{"type":"redacted_thinking","data":"EmwKAhgB"}`),
			{Text: "Ich öffne beide — 日本語 🙂."},
			call("toolu_01T1x1fJ34qAmk2tNTrN7Up6", "read", `{"path": "aä.go"}`),
			usage(89), call("toolu_01B", "list", `{}`), {Stop: llm.StopTools}},
		"cut_call.sse": {first, {Text: "Now I write"}, call("toolu_01A", "read", `{"path": "a"}`), usage(89), {Stop: llm.StopMaxTokens}},
		"bad_call.sse": {first, call("toolu_01A", "write", `"{\"path\": oops}"`), usage(89), call("toolu_01B", "read", `{}`), {Stop: llm.StopTools}},
		"refusal.sse":  {first, {Text: "I can"}, usage(89), {Stop: llm.StopRefusal}},
		"window.sse":   {first, {Text: "I can"}, usage(89), {Stop: llm.StopMaxTokens}},
		"future.sse":   {first, {Text: "done"}, usage(89), {Stop: llm.StopEnd}},
	} {
		t.Run(file, func(t *testing.T) {
			got, err := llmtest.Collect(modelAt(llmtest.ServeAnthropic(t, llmtest.SSE(t, "testdata/"+file)).URL), t.Context(), llmtest.Hello())
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
		want     llm.Error
		requests int
	}{
		"401": {llmtest.Status(401, apiError("authentication_error", "invalid x-api-key "+llmtest.AnthropicKey)),
			llm.Error{Status: 401, Message: "invalid x-api-key [key]", Hint: "check the key in ANTHROPIC_API_KEY, or run zeph-acp login", Auth: true}, 1},
		"403": {llmtest.Status(403, apiError("permission_error", "not\n yours")),
			llm.Error{Status: 403, Message: "not yours", Hint: "check the key in ANTHROPIC_API_KEY, or run zeph-acp login", Auth: true}, 1},
		"404": {llmtest.Status(404, apiError("not_found_error", "model: x")),
			llm.Error{Status: 404, Message: "model: x", Hint: `check model "claude-sonnet-5-5" and base_url`}, 1},
		"400": {llmtest.Status(400, apiError("invalid_request_error", "prompt is too long")),
			llm.Error{Status: 400, Message: "prompt is too long", TooLong: true, Hint: "the conversation is too large: type /compact, or begin a new session"}, 1},
		"429": {llmtest.Status(429, apiError("rate_limit_error", "too many")),
			llm.Error{Status: 429, Message: "too many", Hint: "wait a minute, then try again", Retryable: true}, 1},
		"429 for long": {llmtest.Status(429, apiError("rate_limit_error", "too many"), "Retry-After", "3600"),
			llm.Error{Status: 429, Message: "too many", Hint: "wait 60 min, then try again", Retryable: true, RetryAfter: time.Hour}, 1},
		"529": {llmtest.Status(529, apiError("overloaded_error", "Overloaded")),
			llm.Error{Status: 529, Message: "Overloaded", Hint: "try again later", Retryable: true}, 1},
		"a long text": {llmtest.Status(502, "Bad\nGateway"+strings.Repeat("ä", 1000)),
			llm.Error{Status: 502, Message: "Bad Gateway" + strings.Repeat("ä", 194) + "…", Hint: "try again later", Retryable: true}, 1},
		"a page of HTML": {llmtest.Status(502, "<html>\n<title>502 Bad\nGateway &amp; more</title><h1>Oh</h1>"),
			llm.Error{Status: 502, Message: "Bad Gateway & more", Hint: "try again later", Retryable: true}, 1},
		"a page without a title": {llmtest.Status(502, "<html><h1>502 Oh</h1>"),
			llm.Error{Status: 502, Message: "Oh", Hint: "try again later", Retryable: true}, 1},
		"a page that says nothing": {llmtest.Status(502, "<html>"),
			llm.Error{Status: 502, Message: "Bad Gateway", Hint: "try again later", Retryable: true}, 1},
		"a proxy": {llmtest.Status(407, "<html>"),
			llm.Error{Status: 407, Message: "Proxy Authentication Required", Hint: "check the proxy that HTTPS_PROXY or HTTP_PROXY names"}, 1},
		"no body":         {llmtest.Status(500, ""), llm.Error{Status: 500, Message: "Internal Server Error", Hint: "try again later", Retryable: true}, 1},
		"error in stream": {llmtest.SSE(t, "testdata/overloaded.sse"), llm.Error{Status: 529, Message: "Overloaded", Hint: "try again later", Retryable: true}, 1},
		"stream breaks off": {llmtest.SSE(t, "testdata/broken.sse"),
			llm.Error{Message: "the answer broke off before its end", Hint: "try again", Retryable: true}, 1},
		"connection is lost": {lost, llm.Error{Message: "unexpected EOF", Hint: "try again", Retryable: true}, 1},
		"not a stream": {llmtest.Status(200, `{"content":[]}`),
			llm.Error{Status: 200, Message: `it sent "application/json" instead of a stream of events`, Hint: "check base_url"}, 1},
		"redirect": {llmtest.Status(307, "", "Location", "https://elsewhere.example/"),
			llm.Error{Status: 307, Message: "it redirects to another address", Hint: "check base_url"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.ServeAnthropic(t, tt.answer)
			_, err := llmtest.Collect(modelAt(s.URL), t.Context(), llmtest.Hello())
			tt.want.Provider = "claude:" + DefaultModel
			got, ok := errors.AsType[*llm.Error](err)
			if !ok {
				t.Fatalf("Stream: %v", err)
			}
			if diff := cmp.Diff(&tt.want, got); diff != "" || len(s.Bodies) != tt.requests {
				t.Errorf("Stream: %d requests (-want +got)\n%s", len(s.Bodies), diff)
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
	s := llmtest.ServeAnthropic(t, lost)
	m := modelAt(s.URL)
	s.Close()
	_, err := llmtest.Collect(m, t.Context(), llmtest.Hello())
	got, ok := errors.AsType[*llm.Error](err)
	if !ok || got.Status != 0 || got.Hint != "check the network and base_url" || !got.Retryable || !strings.HasPrefix(got.Message, "dial tcp") {
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
	s := llmtest.ServeAnthropic(t, stalled(began))
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	go func() { <-began; cancel(cause) }()
	if _, err := llmtest.Collect(modelAt(s.URL), ctx, llmtest.Hello()); err != cause {
		t.Errorf("cancelled in the stream: %v", err)
	}
	if _, err := llmtest.Collect(modelAt(s.URL), ctx, llmtest.Hello()); err != cause {
		t.Errorf("cancelled before: %v", err)
	}
}

// Requests go to the same address, however much of the path base_url has.
func TestClaudeBase(t *testing.T) {
	for _, path := range []string{"", "/", "/v1", "/v1/messages", "/v1/messages/"} {
		s := llmtest.ServeAnthropic(t, llmtest.Status(529, `{"error":{"message":"busy"}}`))
		m := New(Config{BaseURL: s.URL + path, APIKey: func() string { return llmtest.AnthropicKey }})
		_, err := llmtest.Collect(m, t.Context(), llmtest.Hello())
		if e, ok := errors.AsType[*llm.Error](err); !ok || e.Status != 529 {
			t.Errorf("%q: %v", path, err)
		}
	}
}

func TestClaudeSilence(t *testing.T) {
	m := modelAt(llmtest.ServeAnthropic(t, stalled(nil)).URL)
	m.endpoint.Silence = 200 * time.Millisecond // long enough for the server to read the request
	_, err := llmtest.Collect(m, t.Context(), llmtest.Hello())
	if e, ok := errors.AsType[*llm.Error](err); !ok || e.Message != "sent nothing for 200 ms" || !e.Retryable {
		t.Errorf("Stream: %v", err)
	}
}

func TestClaudeConsumerStops(t *testing.T) {
	gone := make(chan struct{})
	s := llmtest.ServeAnthropic(t, func(w http.ResponseWriter, r *http.Request) {
		stalled(nil)(w, r)
		close(gone)
	})
	m := modelAt(s.URL)
	for range m.Stream(t.Context(), llmtest.Hello()) {
		break
	}
	<-gone
}

func TestClaudeWithoutKey(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "of the SDK")
	t.Setenv("ANTHROPIC_AUTH_TOKEN", "of the SDK")
	s := llmtest.ServeAnthropic(t, llmtest.SSE(t, "testdata/text.sse"))
	key := ""
	m := New(Config{Name: "work", BaseURL: s.URL, KeyEnv: "WORK_KEY", APIKey: func() string { return key }})
	want := &llm.Error{Provider: "work", Message: "there is no API key", Hint: "run zeph-acp login, or set WORK_KEY in the environment that starts the agent",
		Auth: true}
	_, err := llmtest.Collect(m, t.Context(), llmtest.Hello())
	for _, err := range []error{err, llm.Ready(m)} {
		if diff := cmp.Diff(error(want), err); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	key = "late"
	if _, err := llmtest.Collect(m, t.Context(), llmtest.Hello()); err != nil || llm.Ready(m) != nil {
		t.Errorf("with a key: %v", err)
	}
	h := s.Headers[0]
	if len(s.Headers) != 1 || h.Get("X-Api-Key") != "late" || h.Get("Authorization") != "" {
		t.Errorf("headers %v", s.Headers)
	}
}

func TestClaudeRequest(t *testing.T) {
	var history []llm.Message
	if err := json.Unmarshal(llmtest.Golden(t, "history.json"), &history); err != nil {
		t.Fatal(err)
	}
	s := llmtest.ServeAnthropic(t, llmtest.SSE(t, "testdata/text.sse"))
	_, err := llmtest.Collect(modelAt(s.URL), t.Context(), llm.Request{System: "Be brief.", Messages: history, Tools: []llm.Tool{
		{Name: "read", Description: "Reads a <file>.", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
		{Name: "list", Schema: json.RawMessage(`{"properties":{}}`)},
		{Name: "odd", Schema: json.RawMessage(`true`)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]any
	if err := json.Unmarshal(llmtest.Golden(t, "request.json"), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, s.Bodies[0]); diff != "" {
		t.Errorf("request (-want +got)\n%s", diff)
	}
}

// A signed thought that the provider refuses is left out, so that the
// conversation goes on.
func TestClaudeRefusedThought(t *testing.T) {
	s := llmtest.ServeAnthropic(t,
		llmtest.Status(400, `{"error":{"type":"invalid_request_error","message":"messages.1.content.0: Invalid `+"`signature` in `thinking`"+` block."}}`),
		llmtest.SSE(t, "testdata/text.sse"))
	m := modelAt(s.URL)
	req := llm.Request{Cache: new(llm.Cache), Messages: []llm.Message{
		llmtest.UserText("a"),
		{Role: llm.Assistant, Blocks: []llm.Block{{Opaque: &llm.Opaque{Provider: m.Name(), Data: json.RawMessage(`{"type":"thinking","signature":"x"}`)}},
			{Text: "b"}}},
		llmtest.UserText("c"),
	}}
	for range 2 {
		if _, err := llmtest.Collect(m, t.Context(), req); err != nil {
			t.Fatal(err)
		}
	}
	if len(s.Bodies) != 3 {
		t.Fatalf("%d requests", len(s.Bodies))
	}
	for i, want := range []int{2, 1, 2} { // the thought is tried again with the next request
		content := s.Bodies[i]["messages"].([]any)[1].(map[string]any)["content"].([]any)
		if len(content) != want {
			t.Errorf("request %d: %v", i, content)
		}
	}
}

// If the server refuses a call without a thought, later requests add one.
func TestClaudeMissingThought(t *testing.T) {
	for _, message := range []string{
		"The `content[].thinking` in the thinking mode must be passed back to the API.", // DeepSeek
		"thinking is enabled but reasoning_content is missing in assistant tool call message at index 1",
	} {
		s := llmtest.ServeAnthropic(t, llmtest.Status(400, `{"error":{"type":"invalid_request_error","message":`+strconv.Quote(message)+`}}`),
			llmtest.SSE(t, "testdata/text.sse"))
		m := modelAt(s.URL)
		for range 2 {
			if _, err := llmtest.Collect(m, t.Context(), llm.Request{Messages: []llm.Message{
				llmtest.UserText("a"), {Role: llm.Assistant, Blocks: []llm.Block{{Text: "b"}, {Call: &llm.ToolCall{ID: "c", Name: "list", Input: json.RawMessage(`{}`)}}}},
			}}); err != nil {
				t.Fatal(err)
			}
		}
		for i, want := range []string{"text", "thinking", "thinking"} {
			content := s.Bodies[i]["messages"].([]any)[1].(map[string]any)["content"].([]any)
			if first := content[0].(map[string]any); first["type"] != want {
				t.Errorf("request %d: %v", i, content)
			}
		}
	}
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
		if got := New(Config{Model: model}).Window(); got != want {
			t.Errorf("%q: %d, want %d", model, got, want)
		}
	}
	if got := New(Config{Window: 7}).Window(); got != 7 {
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
		var a answerReader
		stopped := false
		for line := range strings.Lines(stream) {
			data, ok := strings.CutPrefix(line, "data: ")
			if !ok {
				continue
			}
			done, err := a.ReadChunk([]byte(data), func(e llm.Event) bool {
				if stopped {
					t.Errorf("%+v after the stop", e)
				}
				stopped = e.Stop != ""
				if e.Call != nil && !json.Valid(e.Call.Input) {
					t.Errorf("input %s", e.Call.Input)
				}
				if e == (llm.Event{}) {
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

// BenchmarkClaudeChunk measures the time of one chunk of text.
func BenchmarkClaudeChunk(b *testing.B) {
	chunk := []byte(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello, this is a chunk of text."}}`)
	var a answerReader
	b.ReportAllocs()
	for b.Loop() {
		if done, err := a.ReadChunk(chunk, func(llm.Event) bool { return true }); done || err != nil {
			b.Fatal(done, err)
		}
	}
}

// BenchmarkClaudeStream measures a whole answer of 1,000 chunks over loopback.
func BenchmarkClaudeStream(b *testing.B) {
	var s strings.Builder
	s.WriteString("event: message_start\ndata: {\"type\":\"message_start\"}\n\n")
	for range 1000 {
		s.WriteString("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hello.\"}}\n\n")
	}
	s.WriteString("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n")
	server := llmtest.ServeAnthropic(b, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, s.String())
	})
	m := modelAt(server.URL)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := llmtest.Collect(m, b.Context(), llmtest.Hello()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)*1000/b.Elapsed().Seconds(), "chunks/s")
}
