package fakemodel

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

// Ollama plays an Ollama server: it has one model that thinks and has tools, one
// that embeds, and a script of answers.
type Ollama struct {
	*httptest.Server
	t testing.TB

	mu     sync.Mutex
	script []string // messages, each the JSON of one whole answer
	chats  []string // bodies of requests
}

// NewOllama starts the server. The script holds messages, each the JSON of one
// whole answer.
func NewOllama(t testing.TB, script ...string) *Ollama {
	o := &Ollama{t: t, script: script}
	o.Server = httptest.NewServer(o)
	t.Cleanup(func() { o.CloseClientConnections(); o.Close() })
	return o
}

func (o *Ollama) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the agent went away
	}
	reply := func(text string) { _, _ = io.WriteString(w, text) }
	switch r.URL.Path {
	case "/api/tags":
		reply(`{"models":[{"name":"nomic-embed-text:latest","details":{"family":"nomic-bert"}},{"name":"qwen3:8b","details":{"family":"qwen3"}}]}`)
	case "/api/show":
		reply(`{"details":{"family":"qwen3"},"capabilities":["completion","tools","thinking"],"model_info":{"general.architecture":"qwen3","qwen3.context_length":40960}}`)
	case "/api/chat":
		o.mu.Lock()
		o.chats = append(o.chats, string(body))
		message := `{"role":"assistant","content":"The script has ended."}`
		if len(o.script) > 0 {
			message, o.script = o.script[0], o.script[1:]
		}
		o.mu.Unlock()
		w.Header().Set("Content-Type", "application/x-ndjson")
		reply(`{"model":"qwen3:8b","message":` + message + `,"done":false}` + "\n")
		reply(`{"model":"qwen3:8b","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":900,"eval_count":12}` + "\n")
	default:
		o.t.Errorf("%s %s", r.Method, r.URL.Path)
	}
}

// Chat returns the body of the nth request for an answer, from 0.
func (o *Ollama) Chat(n int) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	if n >= len(o.chats) {
		o.t.Fatalf("Ollama was asked %d times, want %d", len(o.chats), n+1)
	}
	return o.chats[n]
}
