package provider

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
	"github.com/zeph-acp/zeph-acp/session/llm/openai"
)

const (
	embedKey = "key-for-embeddings"
	// The limits of one request.
	embedTexts = 32
	embedBytes = 8 << 10
)

// embedderAt returns the embedder for a provider that is configured at this
// address.
func embedderAt(t testing.TB, p Provider, url string) llm.Embedder {
	p.BaseURL = url
	if p.EmbeddingModel == "" {
		p.EmbeddingModel = "e"
	}
	cfg := Config{Providers: []Provider{p}, Retry: wireRetry}
	if wrong := setting.Check(cfg); len(wrong) > 0 {
		t.Fatal(wrong)
	}
	m, err := Select(cfg, func(name string) string {
		if name == p.keyEnv() {
			return embedKey
		}
		return ""
	}, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	e, ok := llm.EmbedderOf(m)
	if !ok {
		t.Fatalf("%s does not embed", m.Name())
	}
	return e
}

func TestOpenAIEmbed(t *testing.T) {
	two := [][]float32{{0.5, 1}, {-1, 0}}
	for name, tt := range map[string]struct {
		answer http.HandlerFunc
		want   [][]float32
		err    string // the message after the provider's name
		hint   string
	}{
		"in order": {answer: llmtest.Status(200,
			`{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.5,1]},{"object":"embedding","index":1,"embedding":[-1,0]}],"model":"e","usage":{"prompt_tokens":2,"total_tokens":2}}`), want: two},
		"out of order":   {answer: llmtest.Status(200, `{"data":[{"index":1,"embedding":[-1,0]},{"index":0,"embedding":[0.5,1]}]}`), want: two},
		"as Gemini does": {answer: llmtest.Status(200, `{"data":[{"index":1,"embedding":[-1,0]},{"embedding":[0.5,1]}]}`), want: two},
		"no index":       {answer: llmtest.Status(200, `{"data":[{"embedding":[0.5,1]},{"embedding":[-1,0]}]}`), want: two},
		"too few":        {answer: llmtest.Status(200, `{"data":[{"index":0,"embedding":[1]}]}`), err: ": it sent 1 vector for 2 texts", hint: "try again"},
		"too many": {answer: llmtest.Status(200, `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1]},{"index":2,"embedding":[1]}]}`),
			err: ": it sent 3 vectors for 2 texts", hint: "try again"},
		"one twice": {answer: llmtest.Status(200, `{"data":[{"index":1,"embedding":[1]},{"index":1,"embedding":[1]}]}`),
			err: ": its vectors have wrong indexes: 1 is repeated, or not from 0 to 1", hint: "try again"},
		"beyond": {answer: llmtest.Status(200, `{"data":[{"index":0,"embedding":[1]},{"index":2,"embedding":[1]}]}`),
			err: ": its vectors have wrong indexes: 2 is repeated, or not from 0 to 1", hint: "try again"},
		"below": {answer: llmtest.Status(200, `{"data":[{"index":0,"embedding":[1]},{"index":-1,"embedding":[1]}]}`),
			err: ": its vectors have wrong indexes: -1 is repeated, or not from 0 to 1", hint: "try again"},
		"uneven": {answer: llmtest.Status(200, `{"data":[{"index":0,"embedding":[1]},{"index":1,"embedding":[1,2]}]}`),
			err: ": it sent vectors of 1 and 2 numbers", hint: "try again"},
		"empty": {answer: llmtest.Status(200, `{"data":[{"index":0},{"index":1,"embedding":[]}]}`), err: ": it sent vectors of 0 and 0 numbers",
			hint: "try again"},
		"no JSON": {answer: llmtest.Status(200, `{"data":`), err: ": reading its answer: unexpected EOF", hint: "try again"},
		"a web page": {answer: llmtest.Status(200, `<html>`, "Content-Type", "text/html"),
			err: ` answered 200: it sent "text/html" instead of a stream of events`, hint: "check base_url"},
		"a redirect": {answer: llmtest.Status(307, ``, "Location", "http://127.0.0.1:1/"), err: " answered 307: it redirects to another address",
			hint: "check base_url"},
		"a bad key": {answer: llmtest.Status(401, `{"error":{"message":"Incorrect API key provided: `+embedKey+`"}}`),
			err: " answered 401: Incorrect API key provided: [key]", hint: "check the key in KEY, or run zeph-acp login"},
		"not there": {answer: llmtest.Status(404, `{"error":{"message":"no such model"}}`), err: " answered 404: no such model",
			hint: `check embedding_model "e" and base_url`},
	} {
		for _, p := range []struct {
			Provider
			path string
		}{
			{Provider{Type: TypeOpenAI}, "/v1/embeddings"},
			{Provider{Type: TypeOpenAI, API: openai.APIChat}, "/v1/embeddings"},
			{Provider{Type: TypeGemini, API: openai.APIChat}, "/v1beta/openai/embeddings"},
			{Provider{Type: TypeCompatible, Model: "m", APIKeyEnv: "LAB_KEY"}, "/v1/embeddings"},
		} {
			t.Run(name+"/"+p.Type+p.API, func(t *testing.T) {
				s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
					body, err := io.ReadAll(r.Body)
					if want := `{"model":"e","input":["a <b>"," "]}`; err != nil || string(body) != want || r.Method != http.MethodPost ||
						r.URL.Path != p.path || r.Header.Get("Authorization") != "Bearer "+embedKey || r.Header.Get("Content-Type") != "application/json" {
						t.Errorf("%s %s, %v: %s", r.Method, r.URL.Path, r.Header, body)
					}
					tt.answer(w, r)
				})
				e := embedderAt(t, p.Provider, s.URL)
				got, err := e.Embed(t.Context(), []string{"a <b>", ""})
				if !cmp.Equal(tt.want, got) {
					t.Errorf("%v, want %v", got, tt.want)
				}
				if want := strings.ReplaceAll(tt.hint, "KEY", p.keyEnv()); want != "" {
					if f, ok := errors.AsType[*llm.Error](err); !ok || f.Error() != p.Type+tt.err+" ("+want+")" {
						t.Errorf("%v, want %s (%s)", err, tt.err, want)
					}
				} else if err != nil {
					t.Error(err)
				}
				if none, err := e.Embed(t.Context(), nil); none != nil || err != nil {
					t.Errorf("of nothing: %v, %v", none, err)
				}
			})
		}
	}
}

// Many texts, or long ones, are split into requests within each provider's
// limits. The vectors are in the order of the texts.
func TestOpenAIEmbedMany(t *testing.T) {
	var sizes []int
	s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		var in struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.Header["Authorization"] != nil {
			t.Errorf("%v: %v", r.Header, err)
		}
		sizes = append(sizes, len(in.Input))
		var data []string
		for i := len(in.Input) - 1; i >= 0; i-- {
			var of int
			if _, err := fmt.Sscanf(in.Input[i], "text %d ", &of); err != nil || len(in.Input[i]) > embedBytes || strings.Contains(in.Input[i], "�") {
				t.Errorf("%d bytes of %.20q: %v", len(in.Input[i]), in.Input[i], err)
			}
			data = append(data, fmt.Sprintf(`{"index":%d,"embedding":[%d]}`, i, of))
		}
		fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(data, ","))
	})
	var texts []string
	for i := range 2*embedTexts + 6 {
		texts = append(texts, fmt.Sprintf("text %d ", i)+strings.Repeat("é", i*100))
	}
	got, err := embedderAt(t, Provider{Type: TypeCompatible, Model: "m"}, s.URL).Embed(t.Context(), texts)
	if err != nil || len(got) != len(texts) || !cmp.Equal(sizes, []int{embedTexts, embedTexts, 6}) {
		t.Fatalf("%d vectors by requests of %v: %v", len(got), sizes, err)
	}
	for i, v := range got {
		if v[0] != float32(i) {
			t.Errorf("text %d has the vector of %v", i, v)
		}
	}
}

// All requests must return vectors of the same dimension.
func TestOpenAIEmbedLengths(t *testing.T) {
	n := 0
	s := llmtest.Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		n++
		vector := strings.Repeat("1,", n) + "1"
		fmt.Fprintf(w, `{"data":[%s{"embedding":[%s]}]}`, strings.Repeat(`{"embedding":[`+vector+`]},`, (embedTexts-1)*(2-n)), vector)
	})
	_, err := embedderAt(t, Provider{Type: TypeOpenAI}, s.URL).Embed(t.Context(), make([]string, embedTexts+1))
	if want := "openai: it sent vectors of 2 and 3 numbers (try again)"; fmt.Sprint(err) != want || !errors.As(err, new(*llm.Error)) {
		t.Errorf("%v, want %s", err, want)
	}
}

func TestOpenAINoEmbeddings(t *testing.T) {
	for _, p := range []Provider{{Type: TypeOpenAI}, {Type: TypeGemini}, {Type: TypeCompatible, Model: "m"}} {
		m, err := p.open(func(string) string { return "" }, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := llm.EmbedderOf(m); ok {
			t.Errorf("%s embeds without an embedding_model", p.Type)
		}
	}
	for _, kind := range []string{TypeClaude, TypeDirect, TypeScript} {
		wrong := setting.Check(Config{Providers: []Provider{{Type: kind, Model: "m", EmbeddingModel: "e"}}})
		if want := fmt.Sprintf("type %q has no embeddings", kind); wrong["providers[0].embedding_model"] != want {
			t.Errorf("%v, want %s", wrong, want)
		}
	}
	keyless := openai.New(openai.Config{KeyEnv: "K", Embedding: "e"})
	if _, err := keyless.Embedder().Embed(t.Context(), []string{"a"}); err == nil || !err.(*llm.Error).Auth {
		t.Errorf("no key: %v", err)
	}
	cause := errors.New("the user pressed stop")
	ctx, cancel := context.WithCancelCause(t.Context())
	s := llmtest.Serve(t, func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not notice that the client has disconnected
		cancel(cause)
		<-r.Context().Done()
	})
	if _, err := embedderAt(t, Provider{Type: TypeOpenAI}, s.URL).Embed(ctx, []string{"a"}); err != cause {
		t.Errorf("error %v, want %v", err, cause)
	}
}

// A model for embeddings gets the words that it wants before each text, unless the configuration says otherwise. Vectors with and without
// them are not compared.
func TestEmbeddingPrefix(t *testing.T) {
	names := map[string]bool{}
	for name, tt := range map[string]struct{ model, prefix, want string }{
		"E5":                  {"intfloat/multilingual-e5-small", "auto", "query: hello"},
		"E5, quantized":       {"e5-base-v2-q4:latest", "auto", "query: hello"},
		"E5 for instructions": {"multilingual-e5-large-instruct", "auto", "hello"},
		"another model":       {"nomic-embed-text", "auto", "hello"},
		"a name like E5":      {"code5-small", "auto", "hello"},
		"configured":          {"nomic-embed-text", "search_query: ", "search_query: hello"},
		"switched off":        {"intfloat/multilingual-e5-small", "", "hello"},
	} {
		t.Run(name, func(t *testing.T) {
			var body string
			s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
				body = bodyOf(r)
				io.WriteString(w, `{"data":[{"index":0,"embedding":[1,2]}]}`)
			})
			e := embedderAt(t, Provider{Type: TypeCompatible, Model: "m", EmbeddingModel: tt.model, EmbeddingPrefix: tt.prefix}, s.URL)
			if _, err := e.Embed(t.Context(), []string{"hello"}); err != nil || !strings.Contains(body, `["`+tt.want+`"]`) {
				t.Errorf("%v, the request is %s, want %q", err, body, tt.want)
			}
			if names[e.Name()] {
				t.Errorf("%s is the name of other vectors too", e.Name())
			}
			names[e.Name()] = true
		})
	}
}
