package google

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
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
	"time"

	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// tokens plays the servers of tokens, and records what they are asked.
type tokens struct {
	URL    string
	asked  []string // path, authorization and body
	status int      // of each answer; 0 means 200
	body   string   // instead of a token
}

func serveTokens(t *testing.T) *tokens {
	s := &tokens{}
	s.URL = llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		body := string(data)
		if form, err := url.ParseQuery(body); err == nil && strings.Contains(r.Header.Get("Content-Type"), "form") {
			if form.Has("assertion") {
				form.Set("assertion", fmt.Sprint(strings.Count(form.Get("assertion"), "."))+" dots")
			}
			body = form.Encode()
		}
		s.asked = append(s.asked, strings.Join([]string{r.Method, r.URL.String(), r.Header.Get("Authorization"), r.Header.Get("Metadata-Flavor"), body}, " "))
		w.Header().Set("Content-Type", "application/json")
		if s.status != 0 {
			w.WriteHeader(s.status)
		}
		switch {
		case s.body != "":
			io.WriteString(w, s.body)
		case strings.HasPrefix(r.URL.Path, "/impersonate"):
			fmt.Fprintf(w, `{"accessToken":"token-of-sa","expireTime":%q}`, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
		case r.URL.Path == "/subject":
			io.WriteString(w, `{"value":"subject-2"}`)
		default:
			io.WriteString(w, `{"access_token":"token-1","expires_in":3599,"token_type":"Bearer"}`)
		}
	}).URL
	return s
}

// account returns an account whose file has this content; $URL is the address of the servers.
func (s *tokens) account(t *testing.T, content string) Account {
	t.Helper()
	name := filepath.Join(t.TempDir(), "adc.json")
	if err := os.WriteFile(name, []byte(strings.ReplaceAll(content, "$URL", s.URL)), 0o600); err != nil {
		t.Fatal(err)
	}
	return Account{Getenv: env(map[string]string{credentialsFile: name})}
}

func env(values map[string]string) func(string) string {
	return func(name string) string { return values[name] }
}

// fetch returns the account's credential as a request gets it.
func fetch(t *testing.T, a Account) (*wire.Credential, error) {
	t.Helper()
	return a.Source(new(wire.Credentials)).Fetch(t.Context())
}

// privateKey returns a new key, in the form of a file for a service account.
func privateKey(t *testing.T) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := json.Marshal(string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))) // strings always encode
	return string(raw)
}

const (
	user     = `"type":"authorized_user","client_id":"id","client_secret":"client-secret","refresh_token":"refresh-1","token_uri":"$URL/token"`
	external = `"type":"external_account","audience":"//iam/x","subject_token_type":"urn:ietf:params:oauth:token-type:jwt","token_url":"$URL/sts"`
	sts      = "POST /sts %s  audience=%%2F%%2Fiam%%2Fx&grant_type=urn%%3Aietf%%3Aparams%%3Aoauth%%3Agrant-type%%3Atoken-exchange&%s" +
		"requested_token_type=urn%%3Aietf%%3Aparams%%3Aoauth%%3Atoken-type%%3Aaccess_token&scope=https%%3A%%2F%%2Fwww.googleapis.com%%2Fauth%%2Fcloud-platform&" +
		"subject_token=%s&subject_token_type=urn%%3Aietf%%3Aparams%%3Aoauth%%3Atoken-type%%3Ajwt"
	asSA = `{"delegates":[],"lifetime":"3600s","scope":["https://www.googleapis.com/auth/cloud-platform"]}`
)

func TestTokens(t *testing.T) {
	subject := filepath.Join(t.TempDir(), "subject")
	if err := os.WriteFile(subject, []byte("subject-1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, _ := json.Marshal(subject)
	refresh := "POST /token   client_id=id&client_secret=client-secret&grant_type=refresh_token&refresh_token=refresh-1"
	for name, tt := range map[string]struct {
		content string
		asked   []string
		token   string
	}{
		"a user": {`{` + user + `}`, []string{refresh}, "token-1"},
		"a service account": {`{"type":"service_account","client_email":"a@b","private_key_id":"k","private_key":` + privateKey(t) + `,"token_uri":"$URL/token"}`,
			[]string{"POST /token   assertion=2+dots&grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer"}, "token-1"},
		"a user as a service account": {`{"type":"impersonated_service_account","service_account_impersonation_url":"$URL/impersonate/x",` +
			`"source_credentials":{` + user + `}}`,
			[]string{refresh, "POST /impersonate/x Bearer token-1  " + asSA}, "token-of-sa"},
		"with delegates": {`{"type":"impersonated_service_account","service_account_impersonation_url":"$URL/impersonate/x","delegates":["d"],` +
			`"source_credentials":{` + user + `}}`,
			[]string{refresh, "POST /impersonate/x Bearer token-1  " + strings.Replace(asSA, "[]", `["d"]`, 1)}, "token-of-sa"},
		"a file": {`{` + external + `,"credential_source":{"file":` + string(file) + `}}`, []string{fmt.Sprintf(sts, "", "", "subject-1")}, "token-1"},
		"a URL": {`{` + external + `,"credential_source":{"url":"$URL/subject","format":{"type":"json","subject_token_field_name":"value"}}}`,
			[]string{"GET /subject   ", fmt.Sprintf(sts, "", "", "subject-2")}, "token-1"},
		"a file, as a service account": {
			`{` + external + `,"credential_source":{"file":` + string(file) + `},"service_account_impersonation_url":"$URL/impersonate/y",` +
				`"service_account_impersonation":{"token_lifetime_seconds":60}}`,
			[]string{fmt.Sprintf(sts, "", "", "subject-1"), "POST /impersonate/y Bearer token-1  " + strings.Replace(asSA, "3600s", "60s", 1)}, "token-of-sa"},
		"a workforce": {`{` + external + `,"workforce_pool_user_project":"p","credential_source":{"file":` + string(file) + `}}`,
			[]string{fmt.Sprintf(sts, "", "options=%7B%22userProject%22%3A%22p%22%7D&", "subject-1")}, "token-1"},
		"a user of a workforce": {`{"type":"external_account_authorized_user","token_url":"$URL/sts","client_id":"id","client_secret":"s","refresh_token":"r"}`,
			[]string{"POST /sts Basic aWQ6cw==  grant_type=refresh_token&refresh_token=r"}, "token-1"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serveTokens(t)
			c, err := fetch(t, s.account(t, tt.content))
			if err != nil || c.Key != tt.token || time.Until(c.Expires) < 50*time.Minute {
				t.Fatalf("got %+v, %v, want %s for an hour", c, err, tt.token)
			}
			if got, want := strings.Join(s.asked, "\n"), strings.Join(tt.asked, "\n"); got != want {
				t.Errorf("asked\n%s\nwant\n%s", got, want)
			}
		})
	}
}

// Each mistake in a file, and each failure of a server, is named with the next step, and without a secret.
func TestMistakes(t *testing.T) {
	bad := `{"error":"invalid_grant","error_description":"Token has been expired or revoked."}`
	nested := strings.Repeat(`{"type":"impersonated_service_account","service_account_impersonation_url":"$URL/impersonate/x","source_credentials":`,
		9) + `{` + user + `}` + strings.Repeat("}", 9)
	for name, tt := range map[string]struct {
		content    string
		status     int
		body       string
		want, hint string
	}{
		"no JSON":         {"secret-key", 0, "", "is not a credentials file", "check GOOGLE_APPLICATION_CREDENTIALS"},
		"no object":       {`["secret-key"]`, 0, "", "is not a credentials file", "check GOOGLE_APPLICATION_CREDENTIALS"},
		"no type":         {`{}`, 0, "", `the type ""`, signIn},
		"another type":    {`{"type":"gdch_service_account"}`, 0, "", `the type "gdch_service_account", which zeph-acp does not use`, signIn},
		"another cloud":   {`{` + user + `,"universe_domain":"example.com"}`, 0, "", `for "example.com", which is another cloud`, ""},
		"signed out":      {`{` + user + `}`, 400, bad, "Token has been expired or revoked.", signIn},
		"a broken server": {`{` + user + `}`, 503, "<html><title>Busy</title>", "Busy", ""},
		"no token":        {`{` + user + `}`, 0, `{}`, "sent no access token", ""},
		"a page":          {`{` + user + `}`, 0, "secret-key", "is not JSON", ""},
		"plain http": {`{"type":"authorized_user","refresh_token":"secret-key","token_uri":"http://example.com/token"}`, 0, "",
			"does not begin with https://", ""},
		"no address": {`{"type":"external_account_authorized_user","refresh_token":"secret-key"}`, 0, "", "is missing", ""},
		"a bad key": {`{"type":"service_account","private_key":"secret-key","token_uri":"$URL/token"}`, 0, "", "cannot be read",
			"create a new key for the service account"},
		"a disabled account": {`{"type":"service_account","private_key":` + privateKey(t) + `,"token_uri":"$URL/token"}`, 400, bad,
			"Token has been expired", "check the key of the service account in "},
		"a page for a key":    {`{"type":"service_account","private_key":` + privateKey(t) + `,"token_uri":"$URL/token"}`, 0, "secret-key", "is not JSON", ""},
		"nested without end":  {nested, 0, "", "has no source_credentials", ""},
		"no inner file":       {`{"type":"impersonated_service_account","source_credentials":7}`, 0, "", "has no source_credentials", ""},
		"a program":           {`{` + external + `,"credential_source":{"executable":{"command":"/bin/secret-key"}}}`, 0, "", "runs no program", otherWay},
		"a role of AWS":       {`{` + external + `,"credential_source":{"environment_id":"aws1","url":"http://169.254.169.254"}}`, 0, "", "a role of AWS", otherWay},
		"a certificate":       {`{` + external + `,"credential_source":{"certificate":{}}}`, 0, "", "a certificate", otherWay},
		"no source":           {`{` + external + `}`, 0, "", "neither a file nor a url", ""},
		"a missing file":      {`{` + external + `,"credential_source":{"file":"/no/such"}}`, 0, "", "no such file", ""},
		"a directory":         {`{` + external + `,"credential_source":{"file":"."}}`, 0, "", "not a regular file", ""},
		"no address of a URL": {`{` + external + `,"credential_source":{"url":"file:///etc/passwd"}}`, 0, "", "not a web address", ""},
		"a metadata service": {`{` + external + `,"credential_source":{"url":"http://169.254.169.254/x"}}`, 0, "", "from a metadata service",
			"metadata = true of the provider allows asking it"},
		"an empty subject":   {`{` + external + `,"credential_source":{"url":"$URL/subject"}}`, 0, " ", "it is empty", ""},
		"a subject not JSON": {`{` + external + `,"credential_source":{"url":"$URL/subject","format":{"type":"json"}}}`, 0, "secret-key", "not in JSON", ""},
		"a refused exchange": {`{` + external + `,"credential_source":{"url":"$URL/subject"}}`, 403, `{"error":"unauthorized_client","error_description":"not you"}`,
			"not you", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := serveTokens(t)
			s.status, s.body = tt.status, tt.body
			_, err := fetch(t, s.account(t, tt.content))
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret-key") {
				t.Fatalf("got %v, want %s", err, tt.want)
			}
			if got := wire.Advice(err); !strings.HasPrefix(got, tt.hint) || tt.hint == "" && got != "" {
				t.Errorf("got the advice %q, want %q", got, tt.hint)
			}
		})
	}
}

// The places of credentials, in order. The metadata service is only asked by the user's leave.
func TestPlaces(t *testing.T) {
	s := serveTokens(t)
	home := t.TempDir()
	a := Account{Getenv: env(map[string]string{"HOME": home, "APPDATA": filepath.Join(home, ".config"), "GCE_METADATA_HOST": strings.TrimPrefix(s.URL,
		"http://")})}
	if _, err := fetch(t, a); err == nil || wire.Advice(err) != signIn+"; metadata = true of the provider asks the machine for its role" || len(s.asked) > 0 {
		t.Errorf("without credentials: %v after %q, want no request", err, s.asked)
	}
	a.Metadata = true
	if c, err := fetch(t, a); err != nil || c.Key != "token-1" ||
		s.asked[0] != "GET /computeMetadata/v1/instance/service-accounts/default/token?scopes=https%3A%2F%2Fwww.googleapis.com%2Fauth%2Fcloud-platform  Google " {
		t.Errorf("of the machine: %+v, %v, asked %q", c, err, s.asked)
	}
	dir := filepath.Join(home, ".config", "gcloud")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	content := strings.ReplaceAll(`{`+user+`,"quota_project_id":"paid-by"}`, "$URL", s.URL)
	if err := os.WriteFile(filepath.Join(dir, "application_default_credentials.json"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	s.asked = nil
	c, err := fetch(t, a)
	if err != nil || len(s.asked) != 1 || !strings.HasPrefix(s.asked[0], "POST /token") {
		t.Fatalf("gcloud's file: %v, asked %q", err, s.asked)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL, nil)
	if err == nil {
		err = c.Authorize(req, nil)
	}
	if err != nil || req.Header.Get("X-Goog-User-Project") != "paid-by" {
		t.Errorf("%v, the request names the project %q, want paid-by", err, req.Header.Get("X-Goog-User-Project"))
	}
	if project, err := a.ResolveProject(); err != nil || project != "paid-by" {
		t.Errorf("ResolveProject = %q, %v, want the file's", project, err)
	}
	named := Account{Getenv: env(map[string]string{credentialsFile: filepath.Join(home, "none"), "HOME": home}), Metadata: true}
	if _, err := fetch(t, named); err == nil || wire.Advice(err) != "check "+credentialsFile {
		t.Errorf("a file that is named but missing: %v", err)
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]bool{"my-project-1": true, "example.com:my-project": true, "123456": true, "": false, "a/b": false, "../x": false,
		"a b": false, "A": false} {
		if ValidProject(name) != want {
			t.Errorf("ValidProject(%q) = %t", name, !want)
		}
	}
	for location, host := range map[string]string{
		"global": "aiplatform.googleapis.com", "us": "aiplatform.us.rep.googleapis.com", "europe-west4": "europe-west4-aiplatform.googleapis.com",
	} {
		if !ValidLocation(location) || VertexHost(location) != host {
			t.Errorf("VertexHost(%q) = %q, want %q", location, VertexHost(location), host)
		}
	}
	for _, location := range []string{"", "evil.com/", "us-central1.evil.com", "a@b", "US"} {
		if ValidLocation(location) {
			t.Errorf("ValidLocation(%q) = true", location)
		}
	}
	for value, want := range map[string]string{"": "no project is set", "a/b": `"a/b" is not the ID of a project`} {
		_, err := Account{Getenv: env(map[string]string{"GOOGLE_CLOUD_PROJECT": value})}.ResolveProject()
		if err == nil || err.Error() != want || wire.Advice(err) == "" {
			t.Errorf("project %q: %v, want %s", value, err, want)
		}
	}
	if _, err := (Account{Getenv: env(map[string]string{"GOOGLE_CLOUD_LOCATION": "x/y"})}).ResolveLocation(); err == nil {
		t.Error("a location that is no name is accepted")
	}
}
