package toolset

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/session/llm/provider"
)

// TestProviderEmbeds covers the path from a configured provider to the offered
// tools: its embeddings choose them, and all are offered without them.
func TestProviderEmbeds(t *testing.T) {
	for _, kind := range []string{provider.TypeOpenAI, provider.TypeCompatible, provider.TypeGemini} {
		t.Run(kind, func(t *testing.T) {
			broken := false
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var in struct {
					Model    string
					Input    []string
					Requests []struct {
						Model   string
						Content struct{ Parts []struct{ Text string } }
					}
				}
				if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
					t.Errorf("%s: %v", r.URL.Path, err)
				}
				own := strings.HasSuffix(r.URL.Path, "/models/e:batchEmbedContents") // Gemini's protocol
				if own == (kind != provider.TypeGemini) || !own && (in.Model != "e" || !strings.HasSuffix(r.URL.Path, "/embeddings")) {
					t.Errorf("%s for %q", r.URL.Path, in.Model)
				}
				for _, one := range in.Requests {
					in.Input = append(in.Input, one.Content.Parts[0].Text)
				}
				if broken {
					w.WriteHeader(http.StatusTooManyRequests)
					return
				}
				vectors, _ := new(embedder).Embed(r.Context(), in.Input)
				var data []string
				if own {
					for _, v := range vectors {
						raw, _ := json.Marshal(v)
						data = append(data, fmt.Sprintf(`{"values":%s}`, raw))
					}
					fmt.Fprintf(w, `{"embeddings":[%s]}`, strings.Join(data, ","))
					return
				}
				for i, v := range vectors { // in reverse order
					raw, _ := json.Marshal(v)
					data = append([]string{fmt.Sprintf(`{"index":%d,"embedding":%s}`, i, raw)}, data...)
				}
				fmt.Fprintf(w, `{"data":[%s]}`, strings.Join(data, ","))
			}))
			defer srv.Close()
			cfg := setting.Default[provider.Config]()
			cfg.Providers = []provider.Provider{{Type: kind, Model: "m", BaseURL: srv.URL, EmbeddingModel: "e"}}
			m, err := provider.Select(cfg, func(string) string { return "key" }, nil, "")
			if err != nil {
				t.Fatal(err)
			}
			tools := typicalTools(t)
			s := set(filtering)
			s.Begin(t.Context(), m, "container", nil, tools)
			if got := toolNames(s.Offer(m)); !strings.Contains(got, "docker__") {
				t.Errorf("%s", got)
			}
			if status := s.Status()[0]; status != "Filter: top_k=2, always_on=3, embeddings=64" {
				t.Errorf("%q", status)
			}
			broken = true
			s = set(filtering)
			s.Begin(t.Context(), m, "delete the folder build", nil, tools)
			if got := toolNames(s.Offer(m)); got != toolNames(tools) {
				t.Errorf("without embeddings it is %s", got)
			}
		})
	}
}
