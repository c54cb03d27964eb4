package provider

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
	"github.com/zeph-acp/zeph-acp/session/llm/local"
	"github.com/zeph-acp/zeph-acp/session/llm/ollama"
)

// A model without tools is asked once more, with the tools described in text.
func TestOllamaWithoutTools(t *testing.T) {
	s := llmtest.ServeOllama(t, "", "", llmtest.Status(400, `{"error":"registry.ollama.ai/library/gemma:2b does not support tools"}`),
		llmtest.NDJSONLines(llmtest.OllamaSays("\"content\":\"```bash\\nls\\n```\""), llmtest.OllamaDone))
	m, err := Select(Config{Providers: []Provider{{Type: "ollama", Model: "gemma:2b", BaseURL: s.URL}}}, func(string) string { return "" }, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	bash := llm.Tool{Name: "bash", Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`),
		Invocation: llm.Invocation{Tag: "bash", Param: "command", Example: "ls"}}
	got, err := llmtest.Collect(m, t.Context(), llm.Request{Tools: []llm.Tool{bash}, Messages: []llm.Message{llmtest.UserText("hi")}})
	if err != nil || len(got) != 3 || got[1].Call == nil || string(got[1].Call.Input) != `{"command":"ls"}` || !llm.CallsInText(m) {
		t.Errorf("Stream: %+v, %v", got, err)
	}
	if strings.Contains(s.Chats[1], `"tools"`) {
		t.Errorf("tools in %s", s.Chats[1])
	}
}

func TestOllamaKey(t *testing.T) {
	s := llmtest.ServeOllama(t, "", "", llmtest.NDJSONLines(llmtest.OllamaDone))
	env := map[string]string{"OLLAMA_API_KEY": "not for you", "LAB_KEY": " secret-key\n", "OLLAMA_HOST": s.URL}
	getenv := func(k string) string { return env[k] }
	for want, p := range map[string]Provider{
		"":                  {Type: "ollama", Model: "m"},
		"Bearer secret-key": {Type: "ollama", Model: "m", BaseURL: s.URL + "/api", APIKeyEnv: "LAB_KEY"},
	} {
		s.Keys = nil
		m, err := Select(Config{Providers: []Provider{p}}, getenv, nil, "")
		if err == nil {
			_, err = llmtest.Collect(m, t.Context(), llmtest.Hello())
		}
		if err != nil || len(s.Keys) == 0 || s.Keys[len(s.Keys)-1] != want {
			t.Errorf("Authorization: %q, want %q, %v", s.Keys, want, err)
		}
	}
	m, err := Select(Config{Providers: []Provider{{Type: "ollama", BaseURL: "https://ollama.com"}}}, func(string) string { return "" }, nil, "")
	if e, ok := errors.AsType[*llm.Error](llm.Ready(m)); err != nil || !ok || !e.Auth || !strings.Contains(e.Hint, "OLLAMA_API_KEY") {
		t.Errorf("ollama.com without a key: %v", llm.Ready(m))
	}
}

func TestOllamaEmbed(t *testing.T) {
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		want   [][]float32
		err    string
	}{
		"two":       {llmtest.Status(200, `{"model":"e","embeddings":[[0.5,1],[-1,0]]}`), [][]float32{{0.5, 1}, {-1, 0}}, ""},
		"too few":   {llmtest.Status(200, `{"embeddings":[[1]]}`), nil, "ollama: it sent 1 vector for 2 texts (try again)"},
		"uneven":    {llmtest.Status(200, `{"embeddings":[[1],[1,2]]}`), nil, "ollama: it sent vectors of 1 and 2 numbers (try again)"},
		"not there": {llmtest.Status(404, `{"error":"model 'e' not found"}`), nil, "ollama answered 404: model 'e' not found (run: ollama pull e)"},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if want := `{"model":"e","input":["a","b"]}`; err != nil || string(body) != want || r.URL.Path != "/api/embed" {
					t.Errorf("%s %s", r.URL.Path, body)
				}
				tt.answer(w, r)
			})
			m, err := Select(Config{Providers: []Provider{{Type: "ollama", Model: "m", BaseURL: s.URL, EmbeddingModel: "e"}}}, func(string) string { return "" }, nil,
				"")
			e, ok := llm.EmbedderOf(m)
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
	for _, m := range []llm.Model{ollama.New(ollama.Config{}), local.Direct{}} {
		if _, ok := llm.EmbedderOf(m); ok {
			t.Errorf("%s embeds", m.Name())
		}
	}
}
