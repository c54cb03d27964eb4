package llm

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const someTags = `{"models":[
	{"name":"nomic-embed-text:latest","details":{"family":"nomic-bert"}},
	{"name":"qwen3:8b","size":5200000000,"details":{"family":"qwen3","parameter_size":"8.2B","quantization_level":"Q4_K_M"}},
	{"name":"gpt-oss:120b-cloud","remote_host":"https://ollama.com:443","size":384,"details":{"parameter_size":"117B"}},
	{"name":"llama3.2:latest"}]}`

func TestOllamaList(t *testing.T) {
	s := serveOllama(t, "", someTags)
	m := NewOllama(OllamaConfig{Name: "lab", Address: s.URL})
	want := []Choice{
		{"lab:qwen3:8b", "qwen3:8b", "Ollama: 8.2B, Q4_K_M, 5.2 GB", true},
		{"lab:gpt-oss:120b-cloud", "gpt-oss:120b-cloud", "Ollama: 117B, runs at ollama.com:443", true},
		{"lab:llama3.2:latest", "llama3.2", "Model of Ollama", true},
	}
	got, err := m.List(t.Context())
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("List: %v (-want +got)\n%s", err, diff)
	}
	if got, err := ollamaAt(serveOllama(t, "", `{"models":null}`).URL, "").List(t.Context()); err != nil || got == nil || len(got) > 0 {
		t.Errorf("no models: %v, %v", got, err)
	}
	if _, err := ollamaAt(serveOllama(t, "", "").URL, "").List(t.Context()); err == nil {
		t.Error("404 is no list")
	}
}

// Without a model it is the first that can chat, and stays that one.
func TestOllamaPick(t *testing.T) {
	s := serveOllama(t, qwenShow, someTags, ndjson(ollamaDone))
	m := ollamaAt(s.URL, "")
	for range 2 {
		if _, err := collect(m, t.Context(), hello()); err != nil {
			t.Fatal(err)
		}
	}
	paths := strings.Join(s.paths, ", ")
	if m.Name() != "ollama" || paths != "GET /api/tags, POST /api/show, POST /api/chat, POST /api/chat" || !strings.HasPrefix(s.chats[1], `{"model":"qwen3:8b",`) {
		t.Errorf("%s asked %s: %s", m.Name(), paths, s.chats[1])
	}
	_, err := collect(ollamaAt(serveOllama(t, "", `{"models":[]}`).URL, ""), t.Context(), hello())
	if e, ok := errors.AsType[*Error](err); !ok || e.Hint != "pull one, such as: ollama pull qwen3" || e.Again {
		t.Errorf("no models: %#v", err)
	}
}

func TestOllamaEmbed(t *testing.T) {
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		want   [][]float32
		err    string
	}{
		"two":       {status(200, `{"model":"e","embeddings":[[0.5,1],[-1,0]]}`), [][]float32{{0.5, 1}, {-1, 0}}, ""},
		"too few":   {status(200, `{"embeddings":[[1]]}`), nil, "ollama: it sent 1 vectors for 2 texts (try again)"},
		"uneven":    {status(200, `{"embeddings":[[1],[1,2]]}`), nil, "ollama: it sent vectors of 1 and 2 numbers (try again)"},
		"not there": {status(404, `{"error":"model 'e' not found"}`), nil, "ollama answered 404: model 'e' not found (run: ollama pull e)"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if want := `{"model":"e","input":["a","b"],"options":null}`; err != nil || string(body) != want || r.URL.Path != "/api/embed" {
					t.Errorf("%s %s", r.URL.Path, body)
				}
				tt.answer(w, r)
			})
			m, err := Select(Config{Providers: []Provider{{Type: "ollama", Model: "m", BaseURL: s.URL, EmbeddingModel: "e"}}}, func(string) string { return "" }, nil, "")
			e, ok := EmbedderOf(m)
			if err != nil || !ok {
				t.Fatalf("EmbedderOf: %v", err)
			}
			wantErr := "<nil>"
			if tt.err != "" {
				wantErr = tt.err
			}
			got, err := e.Embed(t.Context(), []string{"a", "b"})
			if fmt.Sprint(err) != wantErr || !cmp.Equal(tt.want, got) {
				t.Errorf("Embed: %v, %v", got, err)
			}
			if none, err := e.Embed(t.Context(), nil); none != nil || err != nil {
				t.Errorf("of nothing: %v, %v", none, err)
			}
		})
	}
	for _, m := range []Model{NewOllama(OllamaConfig{}), Direct{}} {
		if _, ok := EmbedderOf(m); ok {
			t.Errorf("%s embeds", m.Name())
		}
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
		if got := ollamaAddress(text).String(); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
