package llmtest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// AnthropicKey is the key that tests send.
const AnthropicKey = "sk-ant-secret"

// AnthropicServer answers each request with the next of its answers.
type AnthropicServer struct {
	*httptest.Server
	mu      sync.Mutex
	Bodies  []map[string]any
	Headers []http.Header
}

// ServeAnthropic runs an AnthropicServer until the test ends.
func ServeAnthropic(t testing.TB, answers ...http.HandlerFunc) *AnthropicServer {
	t.Helper()
	s := &AnthropicServer{}
	s.Server = Serve(t, func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		raw, err := io.ReadAll(r.Body)
		if err == nil {
			err = json.Unmarshal(raw, &body)
		}
		if err != nil || r.Method != http.MethodPost || r.URL.Path != "/v1/messages" {
			t.Errorf("%s %s: %v", r.Method, r.URL.Path, err)
		}
		s.mu.Lock()
		s.Bodies, s.Headers = append(s.Bodies, body), append(s.Headers, r.Header)
		n := len(s.Bodies)
		s.mu.Unlock()
		answers[min(n, len(answers))-1](w, r)
	})
	return s
}

// SSE answers with the stream in a file.
func SSE(t testing.TB, file string) http.HandlerFunc {
	data, err := os.ReadFile(filepath.FromSlash(file))
	if err != nil {
		t.Fatal(err)
	}
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		w.Write(data)
	}
}

// OllamaServer plays an Ollama: facts about a model, a list of models, and one answer
// for each chat.
type OllamaServer struct {
	*httptest.Server
	show, tags string // bodies; empty means 404

	mu    sync.Mutex
	Paths []string
	Chats []string // the bodies
	Keys  []string // the Authorization of each request
}

// QwenShow is an answer of /api/show.
const QwenShow = `{"license":"…","details":{"family":"qwen3","parameter_size":"8.2B"},"capabilities":["completion","tools","thinking"],
	"model_info":{"general.architecture":"qwen3","qwen3.context_length":40960,"qwen3.vision.context_length":7},"parameters":"stop    \"<|im_end|>\"\ntop_k    20"}`

// ServeOllama runs an OllamaServer until the test ends.
func ServeOllama(t testing.TB, show, tags string, answers ...http.HandlerFunc) *OllamaServer {
	t.Helper()
	s := &OllamaServer{show: show, tags: tags}
	s.Server = Serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("%s: %v", r.URL.Path, err)
		}
		s.mu.Lock()
		s.Paths = append(s.Paths, r.Method+" "+r.URL.Path)
		s.Keys = append(s.Keys, r.Header.Get("Authorization"))
		if r.URL.Path == "/api/chat" {
			s.Chats = append(s.Chats, string(body))
		}
		n := len(s.Chats)
		s.mu.Unlock()
		reply := func(body string) {
			if body == "" {
				w.WriteHeader(http.StatusNotFound)
				body = `{"error":"model 'm' not found"}`
			}
			io.WriteString(w, body)
		}
		switch r.URL.Path {
		case "/api/show":
			reply(s.show)
		case "/api/tags":
			reply(s.tags)
		default:
			answers[min(n, len(answers))-1](w, r)
		}
	})
	return s
}

// NDJSONLines answers with lines.
func NDJSONLines(lines ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		io.WriteString(w, strings.Join(lines, "\n")+"\n")
	}
}

// OllamaSays returns a line of an answer with the message.
func OllamaSays(message string) string {
	return `{"model":"m","created_at":"2026-01-02T03:04:05.678Z","message":{"role":"assistant",` + message + `},"done":false}`
}

// OllamaDone is the last line of an answer.
const OllamaDone = `{"model":"m","created_at":"2026-01-02T03:04:05.678Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","total_duration":1,"prompt_eval_count":26,"eval_count":7}`
