package entra

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// The identities of the environment are used in order, and what they lack is said with advice.
func TestToken(t *testing.T) {
	dir := t.TempDir()
	assertion := filepath.Join(dir, "assertion")
	if err := os.WriteFile(assertion, []byte("the-assertion\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const app = "AZURE_TENANT_ID=corp.example AZURE_CLIENT_ID=app "
	const token = `{"token_type":"Bearer","expires_in":3599,"access_token":"the-entra-token"}`
	for name, tt := range map[string]struct {
		env      string
		metadata bool
		status   int
		answer   string
		asked    string // method, path and parts of the query or body
		err      string
		retry    bool
	}{
		"secret": {env: app + "AZURE_CLIENT_SECRET=the-client-secret", asked: "POST /corp.example/oauth2/v2.0/token client_secret=the-client-secret " +
			"scope=https%3A%2F%2Fcognitiveservices.azure.com%2F.default grant_type=client_credentials client_id=app"},
		"workload identity": {env: app + "AZURE_FEDERATED_TOKEN_FILE=" + assertion, asked: "POST /corp.example/oauth2/v2.0/token " +
			"client_assertion=the-assertion client_assertion_type=urn%3Aietf%3Aparams%3Aoauth%3Aclient-assertion-type%3Ajwt-bearer"},
		"no file": {env: app + "AZURE_FEDERATED_TOKEN_FILE=" + dir + "/none", err: "the token of the workload identity: "},
		"machine": {metadata: true, answer: `{"access_token":"the-entra-token","expires_in":"3599"}`,
			asked: "GET /metadata/identity/oauth2/token resource=https"},
		"machine's app": {env: "AZURE_CLIENT_ID=app", metadata: true, asked: "GET /metadata/identity/oauth2/token client_id=app"},
		"container": {env: "IDENTITY_ENDPOINT=$URL/msi IDENTITY_HEADER=h", metadata: true, asked: "GET /msi api-version=2019-08-01",
			answer: fmt.Sprintf(`{"access_token":"the-entra-token","expires_on":"%d"}`, time.Now().Add(time.Hour).Unix())},
		"container without leave": {env: "IDENTITY_ENDPOINT=$URL/msi", err: "metadata = true of the provider uses it"},
		"machine without identity": {metadata: true, status: 400, answer: `{"error":"invalid_request","error_description":"Identity not found"}`,
			err: "the managed identity: Identity not found (is this a machine of Azure"},
		"an endpoint elsewhere": {env: "IDENTITY_ENDPOINT=http://evil.example/msi IDENTITY_HEADER=h", metadata: true, err: "IDENTITY_ENDPOINT must be"},
		"nothing":               {err: "there is neither a key nor an identity (run zeph-acp login, or set AZURE_OPENAI_API_KEY"},
		"no client":             {env: "AZURE_TENANT_ID=t AZURE_CLIENT_SECRET=the-client-secret", err: "AZURE_CLIENT_ID is missing"},
		"no tenant":             {env: "AZURE_TENANT_ID=../x AZURE_CLIENT_ID=app AZURE_CLIENT_SECRET=the-client-secret", err: "AZURE_TENANT_ID is missing, or not"},
		"an authority":          {env: app + "AZURE_CLIENT_SECRET=the-client-secret AZURE_AUTHORITY_HOST=http://evil.example", err: "must be an address with https"},
		"refused": {env: app + "AZURE_CLIENT_SECRET=the-client-secret", status: 401, err: "no Entra token: AADSTS7000215: Invalid client secret provided (check",
			answer: `{"error":"invalid_client","error_description":"AADSTS7000215: Invalid client secret provided."}`},
		"busy": {env: app + "AZURE_CLIENT_SECRET=the-client-secret", status: 503, answer: `<html></html>`, err: "no Entra token: Service Unavailable (",
			retry: true},
		"empty": {env: app + "AZURE_CLIENT_SECRET=the-client-secret", answer: `{"error":"?"}`, err: "the answer has no access_token"},
		"page":  {env: app + "AZURE_CLIENT_SECRET=the-client-secret", answer: `the-entra-token`, err: "is not JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			asked := ""
			s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/model" {
					asked += " with " + r.Header.Get("Authorization")
					return
				}
				body, _ := io.ReadAll(r.Body)
				asked = r.Method + " " + r.URL.Path + " " + r.URL.RawQuery + string(body)
				if machine := strings.HasPrefix(r.URL.Path, "/metadata"); machine != (r.Header.Get("Metadata") == "true") || r.URL.Path == "/msi" &&
					r.Header.Get("X-Identity-Header") != "h" {
					t.Errorf("%s with %v", r.URL, r.Header)
				}
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(max(tt.status, 200))
				if tt.answer == "" {
					tt.answer = token
				}
				_, _ = io.WriteString(w, tt.answer)
			})
			env := map[string]string{"AZURE_AUTHORITY_HOST": s.URL + "/", "AZURE_POD_IDENTITY_AUTHORITY_HOST": s.URL}
			for _, entry := range strings.Fields(strings.ReplaceAll(tt.env, "$URL", s.URL)) {
				name, value, _ := strings.Cut(entry, "=")
				env[name] = value
			}
			a := Account{Getenv: func(name string) string { return env[name] }, Resource: "https://cognitiveservices.azure.com", Metadata: tt.metadata}
			e := &wire.Endpoint{Provider: "azure", KeyHeader: "Api-Key", Source: a.Source(new(wire.Credentials))}
			err := e.FetchKey(t.Context())
			if tt.err != "" {
				failed, ok := errors.AsType[*llm.Error](err)
				if !ok || !strings.Contains(failed.Error(), tt.err) || failed.Retryable != tt.retry || failed.Auth == tt.retry || strings.Contains(failed.Error(), "the-") {
					t.Errorf("got %v, want %s", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			res, err := e.Client().Send(t.Context(), http.MethodGet, s.URL+"/model", http.Header{})
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			for _, part := range strings.Fields(tt.asked + " with Bearer the-entra-token") {
				if !strings.Contains(asked, part) {
					t.Errorf("asked %s, want %s in it", asked, part)
				}
			}
			c, err := a.token(t.Context())
			if left := time.Until(c.Expires); err != nil || left < 59*time.Minute || left > time.Hour {
				t.Errorf("the token lasts %s, %v, want an hour", left, err)
			}
		})
	}
}

func TestSeconds(t *testing.T) {
	for raw, want := range map[string]int64{`3599`: 3599, `"3599"`: 3599, `-1`: 0, `null`: 0, ``: 0, `1e9`: 0, `9999999999999`: 1 << 33,
		`"99999999999999999999"`: 0} {
		if got := seconds([]byte(raw)); got != want {
			t.Errorf("%s: got %d, want %d", raw, got, want)
		}
	}
}
