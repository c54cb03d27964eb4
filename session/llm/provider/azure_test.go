package provider

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
)

// Every form of address leads to the requests of that API, with the deployment, its version and the key.
func TestAzureAddresses(t *testing.T) {
	for _, tt := range []struct{ base, api, version, want, list string }{
		{"", "", "", "/openai/v1/responses?", "/openai/v1/models?"},
		{"/", "chat", "", "/openai/v1/chat/completions?", "/openai/v1/models?"},
		{"/openai/v1/", "", "", "/openai/v1/responses?", "/openai/v1/models?"},
		{"/openai/v1/responses", "", "", "/openai/v1/responses?", "/openai/v1/models?"},
		{"/openai/v1?api-version=preview", "", "", "/openai/v1/responses?api-version=preview", "/openai/v1/models?api-version=preview"},
		{"", "chat", "2024-10-21", "/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21", "/openai/models?api-version=2024-10-21"},
		{"", "", "2025-04-01-preview", "/openai/responses?api-version=2025-04-01-preview", "/openai/models?api-version=2025-04-01-preview"},
		{"/openai/deployments/other/chat/completions?api-version=2024-10-21", "", "", "/openai/deployments/other/chat/completions?api-version=2024-10-21",
			"/openai/models?api-version=2024-10-21"},
		{"/gateway/openai", "chat", "2024-10-21", "/gateway/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21",
			"/gateway/openai/models?api-version=2024-10-21"},
	} {
		var asked []string
		s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.URL.EscapedPath()+"?"+r.URL.RawQuery)
			if r.Header.Get("Api-Key") != wireKey || r.Header.Get("Authorization") != "" {
				t.Errorf("the keys are %v", r.Header)
			}
			if r.Method == http.MethodGet {
				fmt.Fprint(w, `{"data":[{"id":"gpt-base"}]}`)
				return
			}
			w.WriteHeader(http.StatusNotFound)
		})
		p := Provider{Type: TypeAzure, Model: "my gpt", BaseURL: s.URL + tt.base, API: tt.api, APIVersion: tt.version}
		m, err := Select(Config{Providers: []Provider{p}}, func(name string) string {
			if name == azureKey {
				return wireKey
			}
			return ""
		}, nil, "")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = llmtest.Collect(m, t.Context(), llmtest.Hello())
		l, _ := llm.As[modelLister](m)
		choices, err := l.List(t.Context())
		if err != nil || len(choices) != 1 || choices[0].Name != "azure:my gpt" {
			t.Errorf("%v: listed %v, %v", tt, choices, err)
		}
		if len(asked) != 2 || asked[0] != tt.want || asked[1] != tt.list {
			t.Errorf("%v: asked %q", tt, asked)
		}
	}
}

// A token that a command prints is sent as one, and a key as a key.
func TestAzureCommand(t *testing.T) {
	for _, key := range []string{"eyJhbGciOi.eyJhdWQi.c2lnbmF0dXJl", "0123456789abcdef0123456789abcdef"} {
		got := ""
		s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
			got = r.Header.Get("Api-Key") + "|" + r.Header.Get("Authorization")
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprintf(w, `{"error":{"code":"PermissionDenied","message":"not with %s-1"}}`, key)
		})
		p := Provider{Type: TypeAzure, Model: "m", BaseURL: s.URL, APIKeyCmd: []string{"az", "account", "get-access-token"}}
		m, err := Select(Config{Providers: []Provider{p}}, func(string) string { return "of-the-environment" }, &Memory{Credentials: printing(key)}, "")
		if err != nil {
			t.Fatal(err)
		}
		_, err = llmtest.Collect(m, t.Context(), llmtest.Hello())
		want := key + "-1|"
		if strings.HasPrefix(key, "eyJ") {
			want = "|Bearer " + key + "-1"
		}
		if got != want || err == nil || strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), "the key that az prints") {
			t.Errorf("sent %q, want %q; %v", got, want, err)
		}
	}
}

// A prompt that the content filter refuses is not sent again.
func TestAzureFilter(t *testing.T) {
	s := llmtest.Serve(t, llmtest.Status(400,
		`{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",`+
			`"type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}`))
	m, err := Select(Config{Providers: []Provider{{Type: TypeAzure, Model: "m", BaseURL: s.URL}}}, func(string) string { return wireKey }, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = llmtest.Collect(m, t.Context(), llmtest.Hello())
	failed, ok := errors.AsType[*llm.Error](err)
	if !ok || failed.Retryable || failed.Auth || !strings.HasPrefix(failed.Hint, "the content filter of the resource refuses") {
		t.Errorf("got %v", err)
	}
}
