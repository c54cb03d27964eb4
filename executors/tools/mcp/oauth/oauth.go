// Package oauth logs the user in to MCP servers on the web, and authorizes the
// requests to them.
//
// Start with [Account], one for each server: [Account.Do] sends a request with the access token,
// and [Account.Login] asks the user for a new one. The discovery of the authorization server, the
// registration and PKCE are the SDK's. The package adds the page to which the browser returns, and
// keeps the tokens: every request reads them from the [Store], so that a login or logout of another
// process applies immediately. They are renewed under the store's lock, so that a refresh token is
// used once.
//
// It promises that no error contains a token. A login that cannot be renewed stays in
// the store until the user logs in again or logs out.
//
// Why not the OAuthHandler of the SDK's transport? The older transport has no such
// handler, and an http.RoundTripper sees the requests of both.
package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// Store keeps the logins by the address of their server.
type Store interface {
	// Load returns a login; nil if there is none.
	Load(server string) ([]byte, error)
	// Change replaces a login by the result of edit, whose argument is nil if there
	// is no login. A nil result removes it, and an error keeps it. No other process
	// changes a login until Change returns.
	Change(server string, edit func(old []byte) ([]byte, error)) error
}

// Client is the registration of this program at an authorization server.
type Client struct {
	ID     string // as registered before, or the https URL of a client's metadata; empty: it is registered at the login
	Secret string // may be empty
	Port   int    // of the page to which the browser returns; 0 means any
}

// Account is the user's login at one server. Its exported fields do not change; its
// methods may be called concurrently.
type Account struct {
	Name   string // of the server, for "zeph-acp mcp login NAME"
	Server string // its address
	Client Client
	HTTP   *http.Client // reaches the authorization server
	Store  Store
	Learn  func(secret string) // receives each secret that must be masked; nil drops it
	// Open shows a page to the user; nil means that there is no user now.
	Open func(ctx context.Context, url string) error

	mu      sync.Mutex
	refused error // why the user's last login failed
}

// Error is a failure to authorize a request.
type Error struct {
	Login bool // the user must log in
	Err   error
}

// Error returns the message of the cause.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// loginRequired returns the error of a request that needs a login.
func (a *Account) loginRequired(why string) error {
	return &Error{Login: true, Err: fmt.Errorf("%s: run %q", why, "zeph-acp mcp login "+a.Name)}
}

// login is one entry of the store.
type login struct {
	ClientID     string           `json:"client_id,omitempty"`
	ClientSecret string           `json:"client_secret,omitempty"`
	TokenURL     string           `json:"token_endpoint,omitempty"`
	AuthStyle    oauth2.AuthStyle `json:"auth_style,omitempty"`
	Resource     string           `json:"resource,omitempty"`
	Scopes       []string         `json:"scopes,omitempty"` // of the token
	Wanted       []string         `json:"wanted,omitempty"` // scopes that a request lacked since
	Token        oauth2.Token     `json:"token,omitzero"`
}

// parse reads an entry of the store, and passes its secrets to Learn.
func (a *Account) parse(data []byte) (login, error) {
	var l login
	if len(data) > 0 {
		if err := json.Unmarshal(data, &l); err != nil {
			return l, errors.New("the saved login is damaged")
		}
	}
	a.learn(l.ClientSecret, l.Token.AccessToken, l.Token.RefreshToken)
	return l, nil
}

func (a *Account) learn(secrets ...string) {
	for _, s := range secrets {
		if a.Learn != nil && s != "" {
			a.Learn(s)
		}
	}
}

// change replaces the login.
func (a *Account) change(edit func(l *login) error) error {
	return a.Store.Change(a.Server, func(old []byte) ([]byte, error) {
		l, err := a.parse(old)
		if err != nil {
			l = login{}
		}
		if err := edit(&l); err != nil {
			return nil, err
		}
		a.learn(l.ClientSecret, l.Token.AccessToken, l.Token.RefreshToken)
		return json.Marshal(l)
	})
}

// token returns an access token, renewed if it has expired; empty if there is no
// login.
func (a *Account) token(ctx context.Context) (string, error) {
	data, err := a.Store.Load(a.Server)
	if err != nil {
		return "", &Error{Err: fmt.Errorf("the saved login: %w", err)}
	}
	l, err := a.parse(data)
	if err != nil {
		return "", a.loginRequired(err.Error())
	}
	if l.Token.AccessToken == "" || l.Token.Valid() {
		return l.Token.AccessToken, nil
	}
	return a.renew(ctx, l.Token.AccessToken)
}

// Do sends a request with the access token. If the server refuses it, Do renews the
// token or lets the user log in, and sends it again once.
func (a *Account) Do(req *http.Request, send func(*http.Request) (*http.Response, error)) (*http.Response, error) {
	ctx := req.Context()
	access, err := a.token(ctx)
	if e, ok := errors.AsType[*Error](err); ok && e.Login && a.Open != nil {
		access, err = "", nil // the server's refusal leads to a login
	}
	if err != nil {
		return nil, err
	}
	res, err := send(withToken(req, access))
	if err != nil || !wantsLogin(res) {
		return res, err
	}
	again := req.Clone(ctx)
	if req.Body != nil && req.Body != http.NoBody {
		if req.GetBody == nil {
			return res, nil
		}
		if again.Body, err = req.GetBody(); err != nil {
			return res, nil
		}
	}
	defer res.Body.Close()
	if access, err = a.reauthorize(ctx, req, res, access); err != nil {
		return nil, err
	}
	res, err = send(withToken(again, access))
	if err == nil && wantsLogin(res) {
		res.Body.Close()
		return nil, a.loginRequired("it refuses the login (" + res.Status + ")")
	}
	return res, err
}

func withToken(req *http.Request, access string) *http.Request {
	if access == "" {
		return req
	}
	req = req.Clone(req.Context())
	req.Header.Set("Authorization", "Bearer "+access)
	return req
}

// wantsLogin reports whether an answer asks for a login or for more rights.
func wantsLogin(res *http.Response) bool {
	return res.StatusCode == http.StatusUnauthorized || res.StatusCode == http.StatusForbidden && lacksScope(res)
}

// lacksScope reports whether an answer asks for a login with more rights.
func lacksScope(res *http.Response) bool {
	return slices.ContainsFunc(challenges(res), func(c oauthex.Challenge) bool {
		return c.Scheme == "bearer" && c.Params["error"] == "insufficient_scope"
	})
}

func challenges(res *http.Response) []oauthex.Challenge {
	all, err := oauthex.ParseWWWAuthenticate(res.Header.Values("WWW-Authenticate"))
	if err != nil {
		return nil
	}
	return all
}

// reauthorize returns an access token after the server refused a request.
func (a *Account) reauthorize(ctx context.Context, req *http.Request, res *http.Response, access string) (string, error) {
	if access != "" && res.StatusCode == http.StatusUnauthorized {
		renewed, err := a.renew(ctx, access)
		if e, ok := errors.AsType[*Error](err); !ok || !e.Login || a.Open == nil {
			return renewed, err
		}
	}
	if a.Open != nil {
		if err := a.authorize(ctx, req, res); err != nil {
			return "", err
		}
		return a.token(ctx)
	}
	if !lacksScope(res) {
		return "", a.loginRequired("it needs a login (" + res.Status + ")")
	}
	if err := a.storeWantedScopes(res); err != nil {
		return "", &Error{Err: err}
	}
	return "", a.loginRequired("the login lacks a right that this request needs")
}
