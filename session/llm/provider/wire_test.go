package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/filter/text/backoff"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/anthropic"
	"github.com/zeph-acp/zeph-acp/session/llm/bedrock"
	"github.com/zeph-acp/zeph-acp/session/llm/gemini"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
	"github.com/zeph-acp/zeph-acp/session/llm/ollama"
	"github.com/zeph-acp/zeph-acp/session/llm/openai"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// dialect describes the API of one kind of provider. Its recorded streams are
// in testdata/wire/NAME/BEHAVIOUR.txt, each a whole HTTP response.
type dialect struct {
	provider Provider          // what the user configures, without the address
	path     string            // path of requests, after the address
	auth     string            // the header with the key
	keyEnv   string            // empty if no key is needed
	usage    llm.Usage         // of the behaviour text
	back     string            // text from the thoughts that the next request contains; empty if there is none
	lacks    []string          // behaviours without a recording
	aside    map[string]string // paths of additional requests, and the fixtures that answer them

	// decode reads a response as the model does.
	decode func() (func(*http.Response) iter.Seq2[[]byte, error], wire.Answer)
}

const wireKey = "key-for-the-wire"

// dialects are all tested dialects.
var dialects = map[string]dialect{
	"claude": {
		provider: Provider{Type: TypeClaude}, path: "/v1/messages", auth: "X-Api-Key: " + wireKey, keyEnv: "ANTHROPIC_API_KEY",
		usage: llm.Usage{Input: 1225, Output: 12, CacheRead: 1000, CacheWrite: 200},
		back:  `"signature":"EqQBCgIYAhIM1gbcDa9GJwZA2b3h"`,
		decode: func() (func(*http.Response) iter.Seq2[[]byte, error], wire.Answer) {
			return wire.JSONOrSSE, anthropic.NewAnswer("claude:m")
		},
	},
	"responses": {
		provider: Provider{Type: TypeOpenAI}, path: "/v1/responses", auth: "Authorization: Bearer " + wireKey, keyEnv: "OPENAI_API_KEY",
		usage: llm.Usage{Input: 1225, Output: 12, CacheRead: 1000, CacheWrite: 200},
		back:  `"encrypted_content":"gAAAAABor0Az7dWcV5qk3m"`,
		decode: func() (func(*http.Response) iter.Seq2[[]byte, error], wire.Answer) {
			return wire.JSONOrSSE, openai.NewResponsesAnswer("openai:m")
		},
	},
	"chat": {
		provider: Provider{Type: TypeOpenAI, API: openai.APIChat, Model: "gpt-4.1"}, path: "/v1/chat/completions",
		auth: "Authorization: Bearer " + wireKey, keyEnv: "OPENAI_API_KEY",
		usage: llm.Usage{Input: 1225, Output: 12, CacheRead: 1000}, decode: decodeChat,
	},
	"gemini": {
		provider: Provider{Type: TypeGemini}, path: "/v1beta/models/gemini-3.8-flash:streamGenerateContent",
		auth: "X-Goog-Api-Key: " + wireKey, keyEnv: "GEMINI_API_KEY",
		usage: llm.Usage{Input: 1225, Output: 12, CacheRead: 1000},
		back:  `"thoughtSignature":"CiQBjz1rX2b0wq9cUeT4nM7Hk3sd"`,
		decode: func() (func(*http.Response) iter.Seq2[[]byte, error], wire.Answer) {
			return wire.JSONOrSSE, gemini.NewAnswer("gemini:m")
		},
	},
	"vertex": {
		provider: Provider{Type: TypeVertex, Project: "p", Region: "europe-west4", APIKeyEnv: "VERTEX_TOKEN"},
		path:     "/v1beta1/projects/p/locations/europe-west4/publishers/google/models/gemini-3.8-flash:streamGenerateContent",
		auth:     "Authorization: Bearer " + wireKey, keyEnv: "VERTEX_TOKEN",
		usage: llm.Usage{Input: 1225, Output: 12, CacheRead: 1000},
		back:  `"thoughtSignature":"CiQBjz1rX2b0wq9cUeT4nM7Hk3sd"`,
		decode: func() (func(*http.Response) iter.Seq2[[]byte, error], wire.Answer) {
			return wire.JSONOrSSE, gemini.NewAnswer("vertex:m")
		},
	},
	"vertex-claude": {
		provider: Provider{Type: TypeVertex, Model: "claude-sonnet-4-5@20250929", Project: "p", Region: "us-east5", APIKeyEnv: "VERTEX_TOKEN"},
		path:     "/v1/projects/p/locations/us-east5/publishers/anthropic/models/claude-sonnet-4-5@20250929:streamRawPredict",
		auth:     "Authorization: Bearer " + wireKey, keyEnv: "VERTEX_TOKEN",
		usage: llm.Usage{Input: 1225, Output: 12, CacheRead: 1000, CacheWrite: 200},
		back:  `"signature":"EqQBCgIYAhIM1gbcDa9GJwZA2b3h"`,
		decode: func() (func(*http.Response) iter.Seq2[[]byte, error], wire.Answer) {
			return wire.JSONOrSSE, anthropic.NewAnswer("vertex:m")
		},
	},
	"gemini-chat": {
		provider: Provider{Type: TypeGemini, API: openai.APIChat}, path: "/v1beta/openai/chat/completions",
		auth: "Authorization: Bearer " + wireKey, keyEnv: "GEMINI_API_KEY",
		usage: llm.Usage{Input: 1225, Output: 12, CacheRead: 1000}, decode: decodeChat,
	},
	"azure": {
		provider: Provider{Type: TypeAzure, API: openai.APIChat, Model: "gpt-4.1"}, path: "/openai/v1/chat/completions",
		auth: "Api-Key: " + wireKey, keyEnv: azureKey,
		usage: llm.Usage{Input: 1225, Output: 12, CacheRead: 1000}, decode: decodeChat,
	},
	"local": {
		provider: Provider{Type: TypeCompatible, Model: "qwen3-8b"}, path: "/v1/chat/completions", auth: "Authorization: ",
		usage: llm.Usage{Input: 312, Output: 9}, decode: decodeChat,
	},
	"bedrock": {
		provider: Provider{Type: TypeBedrock, Model: "us.anthropic.claude-sonnet-4-5-20250929-v1:0"},
		path:     "/model/us.anthropic.claude-sonnet-4-5-20250929-v1:0/converse-stream",
		auth:     "Authorization: Bearer " + wireKey, keyEnv: bedrock.KeyEnv,
		usage: llm.Usage{Input: 1225, Output: 12, CacheRead: 1000, CacheWrite: 200},
		back:  `"signature":"ErUBCkYIBxgCIkA2fQJGwZ5bedrock9x"`,
		decode: func() (func(*http.Response) iter.Seq2[[]byte, error], wire.Answer) {
			return bedrock.Frames, bedrock.NewAnswer("bedrock:m")
		},
	},
	"ollama": {
		provider: Provider{Type: TypeOllama, Model: "qwen3:8b", APIKeyEnv: "LAB_KEY"}, path: "/api/chat",
		auth: "Authorization: Bearer " + wireKey, keyEnv: "LAB_KEY",
		usage: llm.Usage{Input: 312, Output: 9},
		lacks: []string{"refusal"},
		aside: map[string]string{"/api/show": "show"},
		decode: func() (func(*http.Response) iter.Seq2[[]byte, error], wire.Answer) {
			return ollama.NDJSON, ollama.NewAnswer("ollama:m", func() int { return 1 })
		},
	},
}

func decodeChat() (func(*http.Response) iter.Seq2[[]byte, error], wire.Answer) {
	return wire.JSONOrSSE, openai.NewChatAnswer("chat:m")
}

// behaviour is a sequence of answers, independent of the dialect.
type behaviour struct {
	answers []string    // names of the fixtures with the server's answers; the last one is repeated
	want    []llm.Event // without the parts that differ: usage, opaque data, IDs of calls
	fails   *llm.Error  // without Provider and Message, and with KEY in place of key names in the hint
}

var behaviours = map[string]behaviour{
	"text":     {answers: []string{"text"}, want: []llm.Event{{Text: "Hello! 日本語 🙂"}, {Stop: llm.StopEnd}}},
	"thoughts": {answers: []string{"thoughts"}, want: []llm.Event{{Thought: "The user greets; so greet back."}, {Text: "Hello!"}, {Stop: llm.StopEnd}}},
	"one tool call": {answers: []string{"call"}, want: []llm.Event{{Text: "I look."},
		wireCall("read", `{"path":"a.go"}`), {Stop: llm.StopTools}}},
	"three parallel calls": {answers: []string{"parallel"}, want: []llm.Event{
		wireCall("read", `{"path":"a.go"}`), wireCall("read", `{"path":"b.go"}`), wireCall("list", `{}`), {Stop: llm.StopTools}}},
	"split arguments": {answers: []string{"split"}, want: []llm.Event{
		wireCall("write", `{"content":"line 1\n\"two\" 🙂","path":"ä.go"}`), {Stop: llm.StopTools}}},
	"refusal":    {answers: []string{"refusal"}, want: []llm.Event{{Text: "I can"}, {Stop: llm.StopRefusal}}},
	"max tokens": {answers: []string{"max_tokens"}, want: []llm.Event{{Text: "I was about"}, {Stop: llm.StopMaxTokens}}},
	"401":        {answers: []string{"401"}, fails: &llm.Error{Status: 401, Hint: "check the key in KEY, or run zeph-acp login", Auth: true}},
	"429 with Retry-After": {answers: []string{"429", "text"},
		want: []llm.Event{wireWait(2, time.Second), {Text: "Hello! 日本語 🙂"}, {Stop: llm.StopEnd}}},
	"500 twice then good": {answers: []string{"500", "500", "text"},
		want: []llm.Event{wireWait(2, 10*time.Millisecond), wireWait(3, 20*time.Millisecond), {Text: "Hello! 日本語 🙂"}, {Stop: llm.StopEnd}}},
	"500 for good": {answers: []string{"500"},
		want:  []llm.Event{wireWait(2, 10*time.Millisecond), wireWait(3, 20*time.Millisecond)},
		fails: &llm.Error{Status: 500, Hint: "tried 3 times; try again later", Retryable: true}},
	"cut stream": {answers: []string{"cut", "text"}, want: []llm.Event{{Text: "I was ab"}, {Cut: true}, {Text: "Hello! 日本語 🙂"}, {Stop: llm.StopEnd}}},
	"cut stream, begun anew": {answers: []string{"cut", "max_tokens"}, // as if the model had not been asked to continue
		want: []llm.Event{{Text: "I was ab"}, {Cut: true}, {Text: "out"}, {Stop: llm.StopMaxTokens}}},
	"cut twice": {answers: []string{"cut"}, want: []llm.Event{{Text: "I was ab"}, {Cut: true}},
		fails: &llm.Error{Hint: "the answer so far is kept: send another prompt to continue", Retryable: true}},
}

// wireRetry limits the attempts and pauses of the models of wireServer.
var wireRetry = backoff.Limits{MaxAttempts: 2, BaseMS: 10, MaxMS: 20, BudgetSecs: 5}

func wireWait(try int, d time.Duration) llm.Event {
	return llm.Event{Wait: &llm.Wait{For: d, Try: try, Of: 3}}
}

func wireCall(name, input string) llm.Event {
	return llm.Event{Call: &llm.ToolCall{Name: name, Input: json.RawMessage(input)}}
}

// TestWire plays every behaviour in every dialect through Select, so it tests
// the model that a user configures.
func TestWire(t *testing.T) {
	for name, d := range dialects {
		for title, b := range behaviours {
			if slices.Contains(d.lacks, title) {
				continue
			}
			t.Run(name+"/"+title, func(t *testing.T) {
				s := newWireServer(t, name, d, b.answers...)
				m := s.model()
				got, err := llmtest.Collect(m, t.Context(), llmtest.Hello())
				if diff := cmp.Diff(b.want, plain(t, got)); diff != "" {
					t.Errorf("events (-want +got)\n%s", diff)
				}
				if b.fails == nil {
					if err != nil {
						t.Error(err)
					}
					return
				}
				fault, ok := errors.AsType[*llm.Error](err)
				if !ok {
					t.Fatalf("error %v, want %+v", err, b.fails)
				}
				want := *b.fails
				want.Provider, want.Message = m.Name(), fault.Message
				want.Hint = strings.ReplaceAll(want.Hint, "KEY", d.keyEnv)
				if d.keyEnv == "" && want.Auth {
					want.Hint = fault.Hint
				}
				if diff := cmp.Diff(&want, fault); diff != "" || fault.Message == "" {
					t.Errorf("error (-want +got)\n%s", diff)
				}
			})
		}
	}
}

// TestWireCancel cancels an answer that hangs after its beginning.
func TestWireCancel(t *testing.T) {
	for name, d := range dialects {
		t.Run(name, func(t *testing.T) {
			s := newWireServer(t, name, d, "cut")
			s.hang = true
			cause := errors.New("the user pressed stop")
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			var last error
			for ev, err := range s.model().Stream(ctx, llmtest.Hello()) {
				if ev.Text != "" {
					cancel(cause)
				}
				last = err
			}
			if last != cause {
				t.Errorf("error %v, want %v", last, cause)
			}
			<-s.gone // the server noticed it
		})
	}
}

// TestWireContinues checks the request after a cut stream: it begins like the
// first one, and has the received text as the model's own.
func TestWireContinues(t *testing.T) {
	for name, d := range dialects {
		s := newWireServer(t, name, d, "cut", "text")
		if _, err := llmtest.Collect(s.model(), t.Context(), llmtest.Hello()); err != nil || len(s.bodies) != 2 {
			t.Fatalf("%s: %d requests, %v", name, len(s.bodies), err)
		}
		if before, after := prefix(t, s.bodies[0]), prefix(t, s.bodies[1]); !strings.HasPrefix(after, before) ||
			!strings.Contains(after, "I was ab") || !strings.Contains(after, "The connection broke off here") {
			t.Errorf("%s: not gone on with what was said\n%s\n%s", name, before, after)
		}
	}
}

func TestWireUsage(t *testing.T) {
	for name, d := range dialects {
		var last *llm.Usage
		for ev, err := range newWireServer(t, name, d, "text").model().Stream(t.Context(), llmtest.Hello()) {
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if ev.Usage != nil {
				last = ev.Usage
			}
		}
		if diff := cmp.Diff(&d.usage, last); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
}

// TestWireThoughtsGoBack continues after an answer with thoughts. Their opaque
// data is returned unchanged to the model that sent it, and to no other.
func TestWireThoughtsGoBack(t *testing.T) {
	for name, d := range dialects {
		if d.back == "" {
			continue
		}
		s := newWireServer(t, name, d, "thoughts", "text")
		got, err := llmtest.Collect(s.model(), t.Context(), llmtest.Hello())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		history := []llm.Message{llmtest.UserText("hello"), {Role: llm.Assistant, Blocks: blocksOf(got)}, llmtest.UserText("again")}
		raw, err := json.Marshal(history) // the form in the store
		if err == nil {
			history = nil
			err = json.Unmarshal(raw, &history)
		}
		if err == nil {
			_, err = llmtest.Collect(s.model(), t.Context(), llm.Request{Messages: history})
		}
		if err != nil || !strings.Contains(s.bodies[1], d.back) {
			t.Errorf("%s: %v; no %s in\n%s", name, err, d.back, s.bodies[1])
		}
		for _, m := range history {
			for _, b := range m.Blocks {
				if b.Opaque != nil {
					b.Opaque.Provider = "other:model"
				}
			}
		}
		if _, err = llmtest.Collect(s.model(), t.Context(), llm.Request{Messages: history}); err != nil || strings.Contains(s.bodies[2], d.back) {
			t.Errorf("%s: %v; %s of another model in\n%s", name, err, d.back, s.bodies[2])
		}
	}
}

// TestWirePrefix lets a conversation grow. Each request repeats the previous
// one byte for byte, since providers cache by prefix.
func TestWirePrefix(t *testing.T) {
	for name, d := range dialects {
		s := newWireServer(t, name, d, "call", "parallel", "text", "text")
		req := llmtest.Hello()
		req.System = "Be brief."
		for _, tool := range []string{"read", "write", "list"} {
			req.Tools = append(req.Tools,
				llm.Tool{Name: tool, Description: "Does " + tool + ".", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}}}`)})
		}
		for range 4 {
			got, err := llmtest.Collect(s.model(), t.Context(), req)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			blocks := blocksOf(got)
			req.Messages = append(req.Messages, llm.Message{Role: llm.Assistant, Blocks: blocks})
			next := llm.Message{Role: llm.User}
			for _, b := range blocks {
				if b.Call != nil {
					next.Blocks = append(next.Blocks, llm.Block{Result: &llm.ToolResult{ID: b.Call.ID, Text: "found"}})
				}
			}
			if len(next.Blocks) == 0 {
				next.Blocks = []llm.Block{{Text: "and now?"}}
			}
			req.Messages = append(req.Messages, next)
		}
		for i, body := range s.bodies[1:] {
			before, after := prefix(t, s.bodies[i]), prefix(t, body)
			if !strings.HasPrefix(after, before) {
				t.Errorf("%s: request %d does not begin as the one before\n%s\n%s", name, i+2, before, after)
			}
		}
	}
}

// prefix returns the part of a request that determines the provider's cache:
// the tools, the system prompt and the messages, up to the end of the last
// message, without the cache marks.
func prefix(t *testing.T, body string) string {
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(body), &members); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, key := range []string{"tools", "toolConfig", "system", "systemInstruction", "instructions", "messages", "contents", "input"} {
		out.Write(bytes.TrimSuffix(members[key], []byte("]")))
	}
	return strings.NewReplacer(`,{"cachePoint":{"type":"default"}}`, "",
		`,"cache_control":{"type":"ephemeral"}`, "", `"cache_control":{"type":"ephemeral"},`, "").Replace(out.String())
}
