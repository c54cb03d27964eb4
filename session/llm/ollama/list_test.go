package ollama

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
)

const someTags = `{"models":[
	{"name":"nomic-embed-text:latest","details":{"family":"nomic-bert"}},
	{"name":"qwen3:8b","size":5200000000,"details":{"family":"qwen3","parameter_size":"8.2B","quantization_level":"Q4_K_M"}},
	{"name":"gpt-oss:120b-cloud","remote_host":"https://ollama.com:443","size":384,"details":{"parameter_size":"117B"}},
	{"name":"llama3.2:latest"}]}`

func TestOllamaList(t *testing.T) {
	s := llmtest.ServeOllama(t, "", someTags)
	m := New(Config{Name: "lab", Address: s.URL})
	want := []llm.Choice{
		{Name: "lab:qwen3:8b", Title: "qwen3:8b", Description: "Ollama: 8.2B, Q4_K_M, 5.2 GB", Open: true},
		{Name: "lab:gpt-oss:120b-cloud", Title: "gpt-oss:120b-cloud", Description: "Ollama: 117B, runs at ollama.com:443", Open: true},
		{Name: "lab:llama3.2:latest", Title: "llama3.2", Description: "Model of Ollama", Open: true},
	}
	got, err := m.List(t.Context())
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("List: %v (-want +got)\n%s", err, diff)
	}
	if got, err := modelAt(llmtest.ServeOllama(t, "", `{"models":null}`).URL, "").List(t.Context()); err != nil || got == nil || len(got) > 0 {
		t.Errorf("no models: %v, %v", got, err)
	}
	if _, err := modelAt(llmtest.ServeOllama(t, "", "").URL, "").List(t.Context()); err == nil {
		t.Error("List from a server that answers 404: got no error")
	}
}

// Without a configured model, the first listed model that can chat is used, and
// kept.
func TestOllamaPick(t *testing.T) {
	s := llmtest.ServeOllama(t, llmtest.QwenShow, someTags, llmtest.NDJSONLines(llmtest.OllamaDone))
	m := modelAt(s.URL, "")
	for range 2 {
		if _, err := llmtest.Collect(m, t.Context(), llmtest.Hello()); err != nil {
			t.Fatal(err)
		}
	}
	paths := strings.Join(s.Paths, ", ")
	if m.Name() != "ollama" || paths != "GET /api/tags, POST /api/show, POST /api/chat, POST /api/chat" || !strings.HasPrefix(s.Chats[1], `{"model":"qwen3:8b",`) {
		t.Errorf("%s asked %s: %s", m.Name(), paths, s.Chats[1])
	}
	_, err := llmtest.Collect(modelAt(llmtest.ServeOllama(t, "", `{"models":[]}`).URL, ""), t.Context(), llmtest.Hello())
	if e, ok := errors.AsType[*llm.Error](err); !ok || e.Hint != "pull one, such as: ollama pull qwen3" || e.Retryable {
		t.Errorf("no models: %#v", err)
	}
}

func TestOllamaAddress(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "http://127.0.0.1:11434",
		"  ":                                   "http://127.0.0.1:11434",
		"example.com":                          "http://example.com:11434",
		"example.com:56789":                    "http://example.com:56789",
		":56789":                               "http://127.0.0.1:56789",
		"0.0.0.0":                              "http://127.0.0.1:11434",
		"0.0.0.0:1234":                         "http://127.0.0.1:1234",
		"http://0.0.0.0:1234":                  "http://127.0.0.1:1234",
		"::":                                   "http://[::1]:11434",
		"[::]:1234":                            "http://[::1]:1234",
		"::1":                                  "http://[::1]:11434",
		"[::1]:1234":                           "http://[::1]:1234",
		"http://example.com":                   "http://example.com:80",
		"https://example.com":                  "https://example.com:443",
		"HTTPS://example.com":                  "https://example.com:443",
		"https://example.com:8443/":            "https://example.com:8443",
		"http://example.com/ollama/":           "http://example.com:80/ollama",
		"example.com/ollama":                   "http://example.com:11434/ollama",
		"http://localhost:11434/v1":            "http://localhost:11434",
		"http://localhost:11434/api/":          "http://localhost:11434",
		"https://x.example/o/api":              "https://x.example:443/o",
		"localhost:11434/api/chat":             "http://localhost:11434",
		"https://x.example/o/api/chat/":        "https://x.example:443/o",
		"http://x.example/v1/chat/completions": "http://x.example:80",
		`"10.0.0.2"`:                           "http://10.0.0.2:11434",
		"example.com:0":                        "http://example.com:11434",
		"example.com:99999":                    "http://example.com:11434",
		"example.com:x":                        "http://example.com:11434",
		"ollama.com":                           "https://ollama.com:443",
		"http://u:p%40@example.com:1":          "http://u:p%40@example.com:1",
	} {
		if got := ParseAddress(text).String(); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
