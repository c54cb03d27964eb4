package oracle

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	sdk "github.com/anthropics/anthropic-sdk-go"
	gocmp "github.com/google/go-cmp/cmp"
	"golang.org/x/oauth2"
	official "golang.org/x/oauth2/google"
	"golang.org/x/oauth2/jws"
	"google.golang.org/genai"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/anthropic"
	"github.com/zeph-acp/zeph-acp/session/llm/gemini"
	"github.com/zeph-acp/zeph-acp/session/llm/google"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// cloudScope is what the tokens allow.
const cloudScope = "https://www.googleapis.com/auth/cloud-platform"

// Each type of credentials leads to the same requests as with Google's own library. The server checks the signature of an assertion
// with the library's verifier.
func TestGoogleCredentials(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	subject := filepath.Join(t.TempDir(), "subject")
	if err := os.WriteFile(subject, []byte(`{"id_token":"subject"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	var asked []string
	s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		form, formErr := url.ParseQuery(string(body))
		if err != nil || formErr != nil {
			t.Error(err, formErr)
		}
		text := string(body)
		if assertion := form.Get("assertion"); assertion != "" {
			if err := jws.Verify(assertion, &key.PublicKey); err != nil {
				t.Errorf("the assertion: %v", err)
			}
			form.Set("assertion", claimsOf(t, assertion))
			text = form.Encode()
		} else if strings.Contains(r.Header.Get("Content-Type"), "form") {
			text = form.Encode()
		}
		asked = append(asked, fmt.Sprintf("%s %s %s %s", r.Method, r.URL, r.Header.Get("Authorization"), text))
		w.Header().Set("Content-Type", "application/json")
		if strings.HasPrefix(r.URL.Path, "/sa") {
			io.WriteString(w, `{"accessToken":"of-sa","expireTime":"2099-01-01T00:00:00Z"}`)
			return
		}
		io.WriteString(w, `{"access_token":"plain","expires_in":3600,"token_type":"Bearer","issued_token_type":"urn:ietf:params:oauth:token-type:access_token"}`)
	})
	external := map[string]any{"type": "external_account", "audience": "//iam.googleapis.com/x", "subject_token_type": "urn:ietf:params:oauth:token-type:id_token",
		"token_url":         s.URL + "/sts",
		"credential_source": map[string]any{"file": subject, "format": map[string]any{"type": "json", "subject_token_field_name": "id_token"}}}
	with := func(more map[string]any) map[string]any {
		out := map[string]any{}
		for _, m := range []map[string]any{external, more} {
			for k, v := range m {
				out[k] = v
			}
		}
		return out
	}
	for name, tt := range map[string]struct {
		credentials map[string]any
		token       string
	}{
		"a service account": {map[string]any{"type": "service_account", "client_email": "a@b.iam.gserviceaccount.com", "private_key_id": "k1",
			"private_key": string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "token_uri": s.URL + "/token"}, "plain"},
		"an external account": {external, "plain"},
		"with a client":       {with(map[string]any{"client_id": "id", "client_secret": "s"}), "plain"},
		"a workforce": {with(map[string]any{"workforce_pool_user_project": "p",
			"audience": "//iam.googleapis.com/locations/global/workforcePools/a/providers/b"}), "plain"},
		"acting as service account": {with(map[string]any{"service_account_impersonation_url": s.URL + "/sa"}), "of-sa"},
		"for ten minutes": {with(map[string]any{"service_account_impersonation_url": s.URL + "/sa",
			"service_account_impersonation": map[string]any{"token_lifetime_seconds": 600}}), "of-sa"},
		"a user of a workforce": {map[string]any{"type": "external_account_authorized_user", "audience": "//iam.googleapis.com/x", "token_url": s.URL + "/sts",
			"client_id": "id", "client_secret": "s", "refresh_token": "r", "token_info_url": s.URL + "/info"}, "plain"},
	} {
		t.Run(name, func(t *testing.T) {
			data, err := json.Marshal(tt.credentials)
			if err != nil {
				t.Fatal(err)
			}
			asked = nil
			ctx := context.WithValue(t.Context(), oauth2.HTTPClient, http.DefaultClient)
			found, err := official.CredentialsFromJSON(ctx, data, cloudScope)
			if err != nil {
				t.Fatal(err)
			}
			token, err := found.TokenSource.Token()
			if err != nil || token.AccessToken != tt.token || len(asked) == 0 {
				t.Fatalf("the library: %v, %v after %d requests", token, err, len(asked))
			}
			want := asked
			asked = nil
			file := filepath.Join(t.TempDir(), "adc.json")
			if err := os.WriteFile(file, data, 0o600); err != nil {
				t.Fatal(err)
			}
			account := google.Account{Getenv: func(v string) string { return map[string]string{"GOOGLE_APPLICATION_CREDENTIALS": file}[v] }}
			c, err := account.Source(new(wire.Credentials)).Fetch(t.Context())
			if err != nil || c.Key != tt.token {
				t.Fatalf("ours: %+v, %v", c, err)
			}
			if diff := gocmp.Diff(normalized(want), normalized(asked)); diff != "" {
				t.Errorf("other requests (-library +ours)\n%s", diff)
			}
		})
	}
}

// claimsOf returns the header and the claims of an assertion, without its times.
func claimsOf(t *testing.T, assertion string) string {
	t.Helper()
	parts := strings.Split(assertion, ".")
	var out string
	for _, part := range parts[:2] {
		data, err := base64.RawURLEncoding.DecodeString(part)
		var members map[string]any
		if err == nil {
			err = json.Unmarshal(data, &members)
		}
		if err != nil {
			t.Fatal(err)
		}
		delete(members, "iat")
		delete(members, "exp")
		text, _ := json.Marshal(members) // it was decoded
		out += string(text)
	}
	return out
}

// normalized returns requests with JSON in one order, without empty members and what the library adds for nothing.
func normalized(requests []string) (out []string) {
	for _, r := range requests {
		head, body, _ := strings.Cut(r, " {")
		var members map[string]any
		if json.Unmarshal([]byte("{"+body), &members) == nil {
			body, _ := json.Marshal(withoutEmpty(members)) // it was decoded
			r = head + " " + string(body)
		}
		out = append(out, r)
	}
	return out
}

// The SDK sends the same request to Vertex AI, to the same path and with the same token.
func TestVertexGemini(t *testing.T) {
	s := recordGemini(t, sse(recordedStream(t, "vertex/text.txt")))
	base := "/v1beta1/projects/my-project/locations/europe-west4/publishers/google"
	m := gemini.New(gemini.Config{Name: "vertex", BaseURL: s.URL + base, Vertex: true, APIKey: func() string { return "token" }, KeyEnv: "K"})
	c, err := genai.NewClient(t.Context(), &genai.ClientConfig{Backend: genai.BackendVertexAI, Project: "my-project", Location: "europe-west4",
		HTTPClient: http.DefaultClient, HTTPOptions: genai.HTTPOptions{BaseURL: s.URL}})
	if err != nil {
		t.Fatal(err)
	}
	for name, history := range histories(m.Name(), geminiSignature) {
		if name == "empty" {
			continue // the SDK sends no request without contents
		}
		t.Run(name, func(t *testing.T) {
			s.sent = nil
			req := llm.Request{System: "Be brief.", Tools: llmtest.Tools(), Messages: history, Thought: "low"}
			if _, err := llmtest.Collect(m, t.Context(), req); err != nil || len(s.sent) != 1 {
				t.Fatalf("%d requests: %v", len(s.sent), err)
			}
			sendWithGemini(t, c, "gemini-3.8-flash", s.sent[0].body)
			if diff := gocmp.Diff(s.sent[1].head, s.sent[0].head); diff != "" {
				t.Errorf("another request (-SDK +ours)\n%s", diff)
			}
			if diff := gocmp.Diff(asGemini(t, s.sent[1].body), asGemini(t, s.sent[0].body)); diff != "" {
				t.Errorf("another request (-SDK +ours)\n%s", diff)
			}
		})
	}
}

// A request to Claude at Vertex AI is one of the SDK, with the version in place of the model.
func TestVertexClaude(t *testing.T) {
	s := record(t, llmtest.SSE(t, filepath.Join(anthropicData, "text.sse")))
	m := anthropic.New(anthropic.Config{Name: "vertex", Model: "claude-sonnet-4-5@20250929",
		BaseURL: s.URL + "/v1/projects/p/locations/global/publishers/anthropic", Vertex: true, APIKey: func() string { return "token" }, KeyEnv: "K"})
	for name, history := range histories(m.Name()) {
		t.Run(name, func(t *testing.T) {
			s.bodies = nil
			req := llm.Request{System: "Be brief.", Tools: llmtest.Tools(), Messages: history, Thought: "low"}
			if _, err := llmtest.Collect(m, t.Context(), req); err != nil || len(s.bodies) != 1 {
				t.Fatalf("%d requests: %v", len(s.bodies), err)
			}
			var members map[string]any
			if err := json.Unmarshal(s.bodies[0], &members); err != nil || members["anthropic_version"] != "vertex-2023-10-16" || members["model"] != nil {
				t.Errorf("%v: %s", err, s.bodies[0])
			}
			delete(members, "anthropic_version")
			members["model"] = "claude-sonnet-4-5@20250929"
			body, err := json.Marshal(members)
			if err != nil {
				t.Fatal(err)
			}
			if err := roundTrip[sdk.MessageNewParams](body, "stream"); err != nil {
				t.Error(err)
			}
		})
	}
}
