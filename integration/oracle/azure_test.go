package oracle

import (
	"net/http"
	"testing"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/azure"
	"github.com/openai/openai-go/v3/option"

	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
	"github.com/zeph-acp/zeph-acp/session/llm/provider"
)

// A request with a version has the path, the version and the key of the SDK's request for the same deployment.
func TestAzureAddress(t *testing.T) {
	for _, deployment := range []string{"gpt-4.1", "my gpt", "ü/1"} {
		var asked []string
		s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.RequestURI+" "+r.Header.Get("Api-Key")+" "+r.Header.Get("Authorization"))
			w.WriteHeader(http.StatusNotFound)
		})
		client := openai.NewClient(azure.WithUnsafeAllowHTTP(), azure.WithEndpoint(s.URL, "2024-10-21"), azure.WithAPIKey("the-key"), option.WithMaxRetries(0))
		_, err := client.Chat.Completions.New(t.Context(), openai.ChatCompletionNewParams{Model: deployment})
		if err == nil {
			t.Fatal("no error of the SDK")
		} else if len(asked) == 0 {
			t.Fatalf("the SDK: %v", err)
		}
		p := provider.Provider{Type: provider.TypeAzure, Model: deployment, BaseURL: s.URL, API: "chat", APIVersion: "2024-10-21"}
		m, err := provider.Select(provider.Config{Providers: []provider.Provider{p}}, func(string) string { return "the-key" }, nil, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := llmtest.Collect(m, t.Context(), llmtest.Hello()); err == nil || len(asked) != 2 || asked[0] != asked[1] {
			t.Errorf("%v: the SDK and we asked %q", err, asked)
		}
	}
}
