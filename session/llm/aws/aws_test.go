package aws

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// cloud plays all services that give credentials. Each request that it expects adds a line to asked.
type cloud struct {
	t       *testing.T
	url     string
	refuse  string // path of a service that refuses
	mu      sync.Mutex
	asked   []string
	expires time.Time
}

func newCloud(t *testing.T) *cloud {
	c := &cloud{t: t, expires: time.Now().Add(time.Hour).UTC().Truncate(time.Second)}
	c.url = llmtest.Serve(t, c.serve).URL
	return c
}

func (c *cloud) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	signed := ""
	if before, _, ok := strings.Cut(r.Header.Get("Authorization"), ", "); ok {
		signed = " " + strings.TrimPrefix(before, "AWS4-HMAC-SHA256 Credential=")
	}
	c.mu.Lock()
	c.asked = append(c.asked, r.Method+" "+r.URL.Path+signed)
	c.mu.Unlock()
	refused := c.refuse != "" && strings.HasPrefix(r.URL.Path, c.refuse)
	at := c.expires.Format(time.RFC3339)
	switch path := r.URL.Path; {
	case path == "/" && refused:
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w,
			`<ErrorResponse xmlns="x"><Error><Code>AccessDenied</Code><Message>User u may not perform sts:AssumeRole</Message></Error></ErrorResponse>`)
	case refused:
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"message":"Session token not found or invalid"}`)
	case path == "/":
		for _, part := range []string{"Version=2011-06-15", "RoleSessionName=", "RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2F"} {
			if !strings.Contains(string(body), part) {
				c.t.Errorf("no %s in %s", part, body)
			}
		}
		action := "AssumeRole"
		if strings.Contains(string(body), "WebIdentityToken=the-web-token") {
			action = "AssumeRoleWithWebIdentity"
		}
		fmt.Fprintf(w, `<%[1]sResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><%[1]sResult><Credentials><AccessKeyId>%[1]s-id</AccessKeyId>`+
			`<SecretAccessKey>%[1]s-secret</SecretAccessKey><SessionToken>%[1]s-token</SessionToken>`+
			`<Expiration>%[2]s</Expiration></Credentials></%[1]sResult></%[1]sResponse>`, action, at)
	case path == "/federation/credentials":
		if r.Header.Get("X-Amz-Sso_bearer_token") != "the-sso-token" || r.URL.Query().Get("account_id") != "123" || r.URL.Query().Get("role_name") != "Dev" {
			c.t.Errorf("asked for %s with %v", r.URL, r.Header)
		}
		fmt.Fprintf(w, `{"roleCredentials":{"accessKeyId":"sso-id","secretAccessKey":"sso-secret","sessionToken":"sso-token","expiration":%d}}`,
			c.expires.UnixMilli())
	case path == "/latest/api/token" && r.Method == http.MethodPut:
		fmt.Fprint(w, "imds-token")
	case strings.HasPrefix(path, "/latest/meta-data/iam/security-credentials/"):
		if r.Header.Get("X-Aws-Ec2-Metadata-Token") != "imds-token" {
			c.t.Error("asked without the token of version 2")
		}
		if strings.HasSuffix(path, "/") {
			fmt.Fprint(w, "the role\n")
			return
		}
		fmt.Fprintf(w, `{"Code":"Success","AccessKeyId":"imds-id","SecretAccessKey":"imds-secret","Token":"imds-session","Expiration":%q}`, at)
	case path == "/container":
		if r.Header.Get("Authorization") != "container-token" {
			c.t.Error("asked without the token of the container")
		}
		fmt.Fprintf(w, `{"AccessKeyId":"ecs-id","SecretAccessKey":"ecs-secret","Token":"ecs-session","Expiration":%q}`, at)
	default:
		c.t.Errorf("%s %s", r.Method, path)
	}
}

const configFile = `
[default]
region = eu-west-1 ; near
[profile static]
aws_access_key_id = static-id
aws_secret_access_key = a+static/secret
[profile work]
sso_session = corp
sso_account_id = 123
sso_role_name = Dev
s3 =
  region = wrong
[sso-session corp]
sso_region = us-east-2
sso_start_url = https://corp.awsapps.com/start
[profile old]
sso_start_url = https://old.awsapps.com/start
sso_region = us-east-2
sso_account_id = 123
sso_role_name = Dev
[profile nosignin]
sso_start_url = https://none.awsapps.com/start
sso_region = us-east-2
sso_account_id = 123
sso_role_name = Dev
[profile ended]
sso_start_url = https://ended.awsapps.com/start
sso_region = us-east-2
sso_account_id = 123
sso_role_name = Dev
[profile half]
aws_access_key_id = half-id
[profile role]
role_arn = arn:aws:iam::1:role/app
source_profile = static
[profile role-of-env]
role_arn = arn:aws:iam::1:role/app
credential_source = Environment
[profile chain]
role_arn = arn:aws:iam::1:role/last
source_profile = role
[profile self]
role_arn = arn:aws:iam::1:role/app
source_profile = self
aws_access_key_id = self-id
aws_secret_access_key = self-secret
[profile loop]
role_arn = arn:aws:iam::1:role/app
source_profile = loop2
[profile loop2]
role_arn = arn:aws:iam::1:role/app
source_profile = loop
[profile web]
role_arn = arn:aws:iam::1:role/web
web_identity_token_file = $DIR/web-token
[profile mfa]
role_arn = arn:aws:iam::1:role/app
source_profile = static
mfa_serial = arn:aws:iam::1:mfa/me
[profile process]
credential_process = /opt/bin/get secret-argument
[profile login]
login_session = arn:aws:iam::1:user/me
[profile orphan]
role_arn = arn:aws:iam::1:role/app
source_profile = gone
[profile empty]
`

// The places are searched in the order of AWS's tools, and what they lack is said with advice.
func TestKeys(t *testing.T) {
	home := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(home, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cached := func(id, token string, ends time.Time) {
		sum := sha1.Sum([]byte(id))
		write(".aws/sso/cache/"+hex.EncodeToString(sum[:])+".json", fmt.Sprintf(`{"accessToken":%q,"expiresAt":%q}`, token, ends.UTC().Format(time.RFC3339)))
	}
	write("web-token", "the-web-token\n")
	write(".aws/config", strings.ReplaceAll(configFile, "$DIR", home))
	write(".aws/credentials", "[shared]\naws_access_key_id=shared-id\naws_secret_access_key=shared-secret\naws_session_token = shared-token\n")
	cached("corp", "the-sso-token", time.Now().Add(time.Hour))
	cached("https://old.awsapps.com/start", "the-sso-token", time.Now().Add(time.Hour))
	cached("https://ended.awsapps.com/start", "the-sso-token", time.Now().Add(-time.Hour))

	const environment = "AWS_ACCESS_KEY_ID=env-id AWS_SECRET_ACCESS_KEY=env-secret"
	for name, tt := range map[string]struct {
		env      string
		profile  string
		metadata bool
		refuse   string
		want     string // ID, secret and token
		asked    string // the last request
		err      string // message and advice
	}{
		"environment":            {env: environment, want: "env-id env-secret "},
		"session in environment": {env: environment + " AWS_SESSION_TOKEN=t AWS_PROFILE=work", want: "env-id env-secret t"},
		"half an environment":    {env: "AWS_ACCESS_KEY_ID=env-id", err: "AWS_SECRET_ACCESS_KEY is not"},
		"profile of the setting": {env: environment, profile: "static", want: "static-id a+static/secret "},
		"profile of environment": {env: "AWS_PROFILE=shared", want: "shared-id shared-secret shared-token"},
		"web identity": {env: "AWS_WEB_IDENTITY_TOKEN_FILE=" + home + "/web-token AWS_ROLE_ARN=arn:aws:iam::1:role/pod",
			want: "AssumeRoleWithWebIdentity-id AssumeRoleWithWebIdentity-secret AssumeRoleWithWebIdentity-token", asked: "POST /"},
		"web identity without a role": {env: "AWS_WEB_IDENTITY_TOKEN_FILE=" + home + "/web-token", err: "needs the role"},
		"web identity of a directory": {env: "AWS_WEB_IDENTITY_TOKEN_FILE=" + home + " AWS_ROLE_ARN=x", err: "not a regular file"},
		"web identity of a profile":   {profile: "web", want: "AssumeRoleWithWebIdentity-id AssumeRoleWithWebIdentity-secret AssumeRoleWithWebIdentity-token"},
		"SSO session":                 {profile: "work", want: "sso-id sso-secret sso-token", asked: "GET /federation/credentials"},
		"SSO without a session":       {profile: "old", want: "sso-id sso-secret sso-token"},
		"SSO not signed in":           {profile: "nosignin", err: `profile "nosignin": it is not signed in (sign in with: aws sso login --profile nosignin)`},
		"SSO ended":                   {profile: "ended", err: "its sign-in has ended (any command of aws renews it"},
		"SSO refused": {profile: "work", refuse: "/federation",
			err: "Session token not found or invalid (sign in again with: aws sso login --profile work)"},
		"role": {profile: "role", want: "AssumeRole-id AssumeRole-secret AssumeRole-token",
			asked: "POST / static-id/$DAY/eu-west-1/sts/aws4_request"},
		"role of the environment": {env: environment, profile: "role-of-env", want: "AssumeRole-id AssumeRole-secret AssumeRole-token"},
		"role of a role": {profile: "chain", want: "AssumeRole-id AssumeRole-secret AssumeRole-token",
			asked: "POST / AssumeRole-id/$DAY/eu-west-1/sts/aws4_request"},
		"role of itself": {profile: "self", want: "AssumeRole-id AssumeRole-secret AssumeRole-token",
			asked: "POST / self-id/$DAY/eu-west-1/sts/aws4_request"},
		"role refused":           {profile: "role", refuse: "/", err: `profile "role": User u may not perform sts:AssumeRole`},
		"roles in a circle":      {profile: "loop", err: "neither source_profile nor credential_source has credentials"},
		"role of no profile":     {profile: "orphan", err: `its source_profile "gone": there is no profile "gone"`},
		"role with a device":     {profile: "mfa", err: "needs a code from a device"},
		"half a profile":         {profile: "half", err: "no aws_secret_access_key"},
		"a program":              {profile: "process", err: "credential_process is a program, which zeph-acp does not run (export its keys first"},
		"a sign-in of aws login": {profile: "login", err: "can only be used by AWS's tools (export its keys first"},
		"no such profile":        {profile: "nobody", err: `there is no profile "nobody" in ` + home},
		"nothing":                {err: "neither the environment nor a profile in ~/.aws has any (sign in with: aws sso login"},
		"an empty profile":       {profile: "empty", err: "neither the environment nor a profile"},
		"machine":                {metadata: true, want: "imds-id imds-secret imds-session", asked: "GET /latest/meta-data/iam/security-credentials/the role"},
		"machine without a role": {metadata: true, refuse: "/latest/meta-data",
			err: "the role of this machine: Session token not found or invalid (is this a machine of EC2"},
		"machine forbidden": {env: "AWS_EC2_METADATA_DISABLED=true", metadata: true, err: "AWS_EC2_METADATA_DISABLED forbids"},
		"container": {env: "AWS_CONTAINER_CREDENTIALS_FULL_URI=$URL/container AWS_CONTAINER_AUTHORIZATION_TOKEN=container-token", metadata: true,
			want: "ecs-id ecs-secret ecs-session"},
		"container without leave": {env: "AWS_CONTAINER_CREDENTIALS_FULL_URI=$URL/container", err: "metadata = true of the provider uses it"},
		"container elsewhere":     {env: "AWS_CONTAINER_CREDENTIALS_FULL_URI=http://example.com/x", metadata: true, err: "must have https"},
		"no region":               {env: "AWS_CONFIG_FILE=/nowhere " + environment, err: "no region is set (set region of the provider, or AWS_REGION"},
		"no name of a region":     {env: "AWS_REGION=evil.example/ " + environment, err: `"evil.example/" is not the name of a region`},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCloud(t)
			c.refuse = tt.refuse
			env := map[string]string{"HOME": home, "AWS_ENDPOINT_URL_STS": c.url, "AWS_ENDPOINT_URL_SSO": c.url, "AWS_EC2_METADATA_SERVICE_ENDPOINT": c.url}
			if !strings.Contains(tt.err, "region") && name != "environment" {
				env["AWS_REGION"] = "eu-west-1"
			}
			for _, entry := range strings.Fields(strings.ReplaceAll(tt.env, "$URL", c.url)) {
				name, value, _ := strings.Cut(entry, "=")
				env[name] = value
			}
			a := Account{Getenv: func(name string) string { return env[name] }, Profile: tt.profile, Metadata: tt.metadata}
			s := a.Source("bedrock", nil)
			cred, err := s.Fetch(t.Context())
			if tt.err != "" {
				e := &wire.Endpoint{Provider: "p", Source: s}
				failed, ok := errors.AsType[*llm.Error](e.FetchKey(t.Context()))
				if err == nil || !ok || !strings.HasPrefix(failed.Message, "no AWS credentials: ") || !strings.Contains(failed.Error(), tt.err) || !failed.Auth {
					t.Fatalf("got %v, want %s", failed, tt.err)
				}
				if strings.Contains(failed.Error(), "secret") && !strings.Contains(tt.err, "secret") {
					t.Errorf("the message shows a secret: %v", failed)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			k, err := a.keys(t.Context())
			if got := k.id + " " + k.secret + " " + k.token; err != nil || got != tt.want {
				t.Errorf("got %q, %v, want %q", got, err, tt.want)
			}
			if k.token != "" && !strings.HasSuffix(tt.want, " t") && !strings.Contains(tt.want, "shared") && !cred.Expires.Equal(c.expires) {
				t.Errorf("it ends at %s, want %s", cred.Expires, c.expires)
			}
			want := strings.ReplaceAll(tt.asked, "$DAY", time.Now().UTC().Format("20060102"))
			if tt.asked != "" && c.asked[len(c.asked)-1] != want {
				t.Errorf("asked %q, want %s last", c.asked, want)
			}
		})
	}
}

// Nothing is asked without leave: neither a machine nor a container.
func TestNoMetadata(t *testing.T) {
	c := newCloud(t)
	env := map[string]string{"AWS_EC2_METADATA_SERVICE_ENDPOINT": c.url, "AWS_CONTAINER_CREDENTIALS_FULL_URI": c.url + "/container", "AWS_REGION": "us-east-1"}
	a := Account{Getenv: func(name string) string { return env[name] }}
	if _, err := a.Source("bedrock", nil).Fetch(t.Context()); err == nil || len(c.asked) > 0 {
		t.Errorf("got %v after the requests %q, want an error and no request", err, c.asked)
	}
}

func TestMetadataHosts(t *testing.T) {
	for address, want := range map[string]bool{
		"http://169.254.170.2/x": true, "http://169.254.170.23/x": true, "http://[fd00:ec2::23]/x": true, "http://127.0.0.1:8/x": true, "http://localhost/": true,
		"https://vault.example.com/x": true, "http://vault.example.com/x": false, "http://169.254.169.254/x": false, "http://169.254.170.2@evil.example/": false,
		"ftp://127.0.0.1/": false, "https://": false, "": false, "http://169.254.170.2.evil.example/": false,
	} {
		req, err := http.NewRequest(http.MethodGet, address, nil)
		if got := err == nil && mayHoldMetadata(req.URL); got != want {
			t.Errorf("%s: got %t, want %t", address, got, want)
		}
	}
}

// A secret is in no message, and expired credentials are fetched again once.
func TestSourceRenews(t *testing.T) {
	var sent []string
	ids := []string{"first-id", "second-id"}
	s := llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		sent = append(sent, r.Header.Get("Authorization"))
		w.Header().Set("X-Amzn-Errortype", "ExpiredTokenException:http://internal.amazon.com/")
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"message":"expired: the-long-secret0, the-long-secret1"}`)
	})
	env := func(name string) string {
		switch name {
		case "AWS_ACCESS_KEY_ID":
			return ids[min(len(sent), 1)]
		case "AWS_SECRET_ACCESS_KEY":
			return "the-long-secret" + fmt.Sprint(len(sent))
		case "AWS_REGION":
			return "us-gov-west-1"
		}
		return ""
	}
	e := &wire.Endpoint{Provider: "p", Address: s.URL, Source: Account{Getenv: env}.Source("bedrock", new(wire.Credentials))}
	_, err := e.Client().Send(t.Context(), http.MethodPost, s.URL+"/model/a%3Ab/converse", http.Header{}, []byte("{}"))
	failed, _ := errors.AsType[*llm.Error](e.Failure(err))
	if failed == nil || !failed.Auth || failed.Hint != "check the AWS credentials with: aws sts get-caller-identity" ||
		strings.Contains(failed.Message, "the-long-secret") {
		t.Errorf("got %v", failed)
	}
	if len(sent) != 2 || !strings.Contains(sent[0], "first-id/") || !strings.Contains(sent[1], "second-id/") ||
		!strings.Contains(sent[1], "/us-gov-west-1/bedrock/aws4_request") {
		t.Errorf("sent %q", sent)
	}
}

func TestRegionDomains(t *testing.T) {
	for region, want := range map[string]string{"us-east-1": "amazonaws.com", "cn-north-1": "amazonaws.com.cn", "us-gov-west-1": "amazonaws.com",
		"us-iso-east-1": "c2s.ic.gov", "us-isob-east-1": "sc2s.sgov.gov", "eusc-de-east-1": "amazonaws.eu"} {
		if got := Domain(region); got != want {
			t.Errorf("%s: got %s, want %s", region, got, want)
		}
	}
	for region, want := range map[string]bool{"ap-southeast-2": true, "": false, "us": false, "US-EAST-1": false, "a.b-c": false, "us-east-1/": false,
		strings.Repeat("a-", 50) + "b": false} {
		if got := ValidRegion(region); got != want {
			t.Errorf("%q: got %t, want %t", region, got, want)
		}
	}
}

// Close ends a fetch that waits for a service.
func TestClose(t *testing.T) {
	asked := make(chan struct{})
	s := llmtest.Serve(t, func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	})
	env := map[string]string{"AWS_REGION": "us-east-1", "AWS_CONTAINER_CREDENTIALS_FULL_URI": s.URL}
	k := new(wire.Credentials)
	e := &wire.Endpoint{Provider: "p", Source: Account{Getenv: func(name string) string { return env[name] }, Metadata: true}.Source("bedrock", k)}
	done := make(chan error)
	go func() { done <- e.FetchKey(context.Background()) }()
	<-asked
	k.Close()
	if err := <-done; err == nil {
		t.Error("no error after Close")
	}
}

func FuzzINI(f *testing.F) {
	f.Add([]byte(configFile))
	f.Add([]byte("\ufeff[ profile  x ]\r\na = b # c\r\n[unclosed\nk=v\n=\n[]\n= x"))
	f.Fuzz(func(t *testing.T, data []byte) {
		fs := files{profiles: map[string]section{}, sessions: map[string]section{}}
		fs.add(parseINI(data), true)
		fs.add(parseINI(data), false)
		for name, p := range fs.profiles {
			for key := range p {
				if strings.ContainsAny(key, "\n=") {
					t.Errorf("profile %q has the key %q", name, key)
				}
			}
		}
	})
}
