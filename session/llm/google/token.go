package google

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/jwt" // signs the assertion of a service account

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/session/llm/wire"
)

// scope is what the tokens allow.
const scope = "https://www.googleapis.com/auth/cloud-platform"

// userTokens is where the tokens of users are renewed.
const userTokens = "https://oauth2.googleapis.com/token"

// The types of credentials.
const (
	typeServiceAccount = "service_account"
	typeUser           = "authorized_user"
	typeExternal       = "external_account"
	typeExternalUser   = "external_account_authorized_user"
	typeImpersonated   = "impersonated_service_account"
	typeMetadata       = "metadata"
)

// maxDepth bounds the files of credentials in one another.
const maxDepth = 3

// token returns a new token for the credentials in a file. depth is the number of files around it.
func (a Account) token(ctx context.Context, f file, depth int) (token, error) {
	if f.Universe != "" && f.Universe != "googleapis.com" {
		return token{}, fmt.Errorf("the credentials are for %q, which is another cloud", f.Universe)
	}
	switch f.Type {
	case typeServiceAccount:
		return assert(ctx, f)
	case typeUser:
		return refresh(ctx, f, cmp.Or(f.TokenURI, userTokens), false)
	case typeExternalUser:
		return refresh(ctx, f, f.TokenURL, true)
	case typeExternal:
		return a.exchange(ctx, f)
	case typeMetadata:
		return a.machineToken(ctx)
	case typeImpersonated:
		inner := file{name: f.name}
		if json.Unmarshal(f.Source, &inner) != nil || depth == maxDepth {
			return token{}, fmt.Errorf("%s has no source_credentials to act as a service account with", f.name)
		}
		t, err := a.token(ctx, inner, depth+1)
		if err != nil {
			return token{}, err
		}
		return impersonate(ctx, f, t)
	}
	return token{}, wire.Advised(fmt.Errorf("%s has credentials of the type %q, which zeph-acp does not use", f.name, f.Type), signIn)
}

// tokenAnswer is the answer of an OAuth server.
type tokenAnswer struct {
	AccessToken string      `json:"access_token"`
	ExpiresIn   json.Number `json:"expires_in"` // seconds
}

func (t tokenAnswer) token() (token, error) {
	if t.AccessToken == "" {
		return token{}, errors.New("the server sent no access token")
	}
	out := token{value: t.AccessToken}
	if secs, err := t.ExpiresIn.Int64(); err == nil && secs > 0 {
		out.expires = time.Now().Add(time.Duration(min(secs, 24*60*60)) * time.Second)
	}
	return out, nil
}

// refresh renews the token of a user. basic sends the secret of the client in the header.
func refresh(ctx context.Context, f file, address string, basic bool) (token, error) {
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {f.RefreshToken}}
	if !basic {
		form.Set("client_id", f.ClientID)
		form.Set("client_secret", f.ClientSecret)
	}
	req, err := newRequest(ctx, address, form)
	if err != nil {
		return token{}, err
	}
	if basic {
		req.SetBasicAuth(f.ClientID, f.ClientSecret)
	}
	var t tokenAnswer
	if err := wire.FetchJSON(wire.NewClient(""), req, &t); err != nil {
		return token{}, withSignIn(err)
	}
	return t.token()
}

// withSignIn adds advice to the failure of a sign-in that has ended.
func withSignIn(err error) error {
	if e, ok := errors.AsType[*wire.StatusError](err); ok && (e.Kind == "invalid_grant" || e.Kind == "invalid_rapt") {
		return wire.Advised(err, signIn)
	}
	return err
}

// assert exchanges a signed assertion of a service account for a token.
func assert(ctx context.Context, f file) (token, error) {
	address := cmp.Or(f.TokenURI, userTokens)
	if err := checkAddress(address); err != nil {
		return token{}, err
	}
	seen := &watched{RoundTripper: wire.NewClient("").Transport}
	client := *wire.NewClient("").Client
	client.Transport, client.Timeout = seen, fetchTimeout // the library does not pass on ctx
	cfg := jwt.Config{Email: f.Email, PrivateKey: []byte(f.PrivateKey), PrivateKeyID: f.KeyID, Scopes: []string{scope}, TokenURL: address}
	t, err := cfg.TokenSource(context.WithValue(ctx, oauth2.HTTPClient, &client)).Token()
	refused, _ := errors.AsType[*oauth2.RetrieveError](err)
	switch {
	case err == nil && t.AccessToken != "":
		return token{t.AccessToken, t.Expiry}, nil
	case err == nil:
		return token{}, errors.New("the server sent no access token")
	case refused != nil:
		kind, message := wire.ParseRefusal(refused.Body)
		return token{}, wire.Advised(&wire.StatusError{Status: refused.Response.StatusCode, Kind: kind,
			Message: cmp.Or(message, http.StatusText(refused.Response.StatusCode))}, "check the key of the service account in "+f.name)
	case seen.failed != nil:
		return token{}, &url.Error{Op: "Post", URL: address, Err: seen.failed}
	case !seen.asked:
		return token{}, wire.Advised(fmt.Errorf("the private key in %s cannot be read", f.name), "create a new key for the service account")
	}
	return token{}, errors.New("the answer for the credentials is not JSON") // the error may show a secret
}

// watched keeps the failure of a request, whose type the library loses.
type watched struct {
	http.RoundTripper
	asked  bool
	failed error
}

func (w *watched) RoundTrip(req *http.Request) (*http.Response, error) {
	w.asked = true
	res, err := w.RoundTripper.RoundTrip(req)
	w.failed = err
	return res, err
}

// impersonate exchanges a token for one of a service account.
// https://cloud.google.com/iam/docs/reference/credentials/rest/v1/projects.serviceAccounts/generateAccessToken
func impersonate(ctx context.Context, f file, by token) (token, error) {
	body := plainjson.MustMarshal(map[string]any{
		"delegates": append([]string{}, f.Delegates...), "scope": []string{scope}, "lifetime": fmt.Sprintf("%ds", cmp.Or(f.Impersonation.Lifetime, 3600)),
	})
	if err := checkAddress(f.ImpersonationURL); err != nil {
		return token{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, f.ImpersonationURL, strings.NewReader(string(body)))
	if err != nil {
		return token{}, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+by.value)
	var t struct {
		AccessToken string    `json:"accessToken"`
		ExpireTime  time.Time `json:"expireTime"`
	}
	if err := wire.FetchJSON(wire.NewClient(""), req, &t); err != nil {
		return token{}, fmt.Errorf("acting as a service account: %w", err)
	}
	if t.AccessToken == "" {
		return token{}, errors.New("the server sent no access token")
	}
	return token{t.AccessToken, t.ExpireTime}, nil
}

// newRequest returns a POST of a form.
func newRequest(ctx context.Context, address string, form url.Values) (*http.Request, error) {
	if err := checkAddress(address); err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return req, nil
}

// checkAddress returns an error for an address to which no secret may be sent.
func checkAddress(address string) error {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && !(u.Scheme == "http" && wire.IsLoopback(u.Hostname())) {
		return errors.New("an address in the credentials file is missing, or does not begin with https://")
	}
	return nil
}

const (
	metadataHost    = "169.254.169.254"
	metadataTimeout = 3 * time.Second
)

// machineToken asks the metadata service for a token of the machine's role.
// https://cloud.google.com/compute/docs/access/authenticate-workloads#applications
func (a Account) machineToken(ctx context.Context) (token, error) {
	ctx, cancel := context.WithTimeout(ctx, metadataTimeout)
	defer cancel()
	address := "http://" + cmp.Or(a.Getenv("GCE_METADATA_HOST"), metadataHost) + "/computeMetadata/v1/instance/service-accounts/default/token?scopes=" + url.QueryEscape(scope)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return token{}, err
	}
	req.Header.Set("Metadata-Flavor", "Google")
	var t tokenAnswer
	if err := wire.FetchJSON(wire.MetadataClient(), req, &t); err != nil {
		return token{}, wire.Advised(fmt.Errorf("asking this machine for its role: %w", err), "is this a machine of Google Cloud with a service account? Else "+signIn)
	}
	return t.token()
}

// maxAnswer bounds the token of another identity provider, in bytes.
const maxAnswer = 1 << 20

// readAll reads a small answer.
func readAll(res *http.Response) ([]byte, error) {
	defer res.Body.Close()
	return io.ReadAll(io.LimitReader(res.Body, maxAnswer))
}
