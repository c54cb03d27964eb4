package mcp

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/zeph-acp/zeph-acp/executors/mcp/oauth"
)

// savedLogins is a store of logins.
type savedLogins struct {
	mu   sync.Mutex
	kept map[string][]byte
}

func (m *savedLogins) Load(server string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kept[server], nil
}

func (m *savedLogins) Change(server string, edit func([]byte) ([]byte, error)) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	data, err := edit(m.kept[server])
	if err == nil {
		m.kept[server] = data
	}
	return err
}

// authorizer is an authorization server, and a server on the web that it protects.
type authorizer struct {
	t           *testing.T
	web, issuer *httptest.Server

	mu       sync.Mutex
	tokens   map[string]string // valid access tokens and their scopes
	refresh  string            // the valid refresh token
	issued   int
	renewals int
	lifetime int    // of a token, seconds
	needs    string // a scope that calls of tools need
	greets   bool   // initialize needs no login, and a list of tools needs the scope list
	deny     bool   // the user refuses the login
	broken   int    // the status of each answer of the token endpoint; 0 means success

	challenges map[string]string // PKCE, by code
	asked      map[string]string // scopes, by code
	elsewhere  string            // another issuer that the server names
}

func newAuthorizer(t *testing.T) *authorizer {
	a := &authorizer{t: t, tokens: map[string]string{}, lifetime: 3600, challenges: map[string]string{}, asked: map[string]string{}}
	as := http.NewServeMux()
	a.issuer = httptest.NewServer(as)
	t.Cleanup(a.issuer.Close)
	answer := func(w http.ResponseWriter, status int, v any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v)
	}
	as.HandleFunc("GET /.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, map[string]any{
			"issuer": a.issuer.URL, "authorization_endpoint": a.issuer.URL + "/authorize", "token_endpoint": a.issuer.URL + "/token",
			"registration_endpoint": a.issuer.URL + "/register", "code_challenge_methods_supported": []string{"S256"},
			"response_types_supported": []string{"code"}, "scopes_supported": []string{"read", "offline_access"},
		})
	})
	as.HandleFunc("POST /register", func(w http.ResponseWriter, r *http.Request) {
		var in map[string]any
		_ = json.NewDecoder(r.Body).Decode(&in)
		in["client_id"] = "registered"
		answer(w, 201, in)
	})
	as.HandleFunc("GET /authorize", a.authorize)
	as.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		status, out := a.token(r)
		answer(w, status, out)
	})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/oauth-protected-resource/mcp", func(w http.ResponseWriter, _ *http.Request) {
		issuer := a.issuer.URL
		if a.elsewhere != "" {
			issuer = a.elsewhere
		}
		answer(w, 200, map[string]any{"resource": a.web.URL + "/mcp", "authorization_servers": []string{issuer}, "scopes_supported": []string{"read"}})
	})
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return newTestServer() }, nil)
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		a.mu.Lock()
		scopes, ok := a.tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
		lacks := a.needs != "" && !strings.Contains(scopes, a.needs) && bytes.Contains(body, []byte("tools/call"))
		greeted := a.greets && !bytes.Contains(body, []byte("tools/"))
		a.mu.Unlock()
		meta := fmt.Sprintf(`resource_metadata="%s/.well-known/oauth-protected-resource/mcp"`, a.web.URL)
		if a.greets {
			meta += `, scope="list"`
		}
		switch {
		case !ok && !greeted:
			w.Header().Set("WWW-Authenticate", "Bearer "+meta)
			http.Error(w, "who are you?", http.StatusUnauthorized)
		case lacks:
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer error="insufficient_scope", scope=%q, %s`, a.needs, meta))
			http.Error(w, "not you", http.StatusForbidden)
		default:
			handler.ServeHTTP(w, r)
		}
	})
	a.web = httptest.NewServer(mux)
	t.Cleanup(a.web.Close)
	return a
}

// authorize is the page on which the user logs in.
func (a *authorizer) authorize(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	q := r.URL.Query()
	if q.Get("code_challenge_method") != "S256" || q.Get("resource") != a.web.URL+"/mcp" || q.Get("client_id") != "registered" {
		a.t.Errorf("the page is asked for with %s", r.URL.RawQuery)
	}
	code := fmt.Sprint("code-", len(a.challenges))
	a.challenges[code], a.asked[code] = q.Get("code_challenge"), q.Get("scope")
	back := url.Values{"state": {q.Get("state")}, "code": {code}}
	if a.deny {
		back = url.Values{"state": {q.Get("state")}, "error": {"access_denied"}}
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

// token answers a request for a token.
func (a *authorizer) token(r *http.Request) (int, any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	_ = r.ParseForm()
	if r.Form.Get("resource") != a.web.URL+"/mcp" || r.Form.Get("client_id") != "registered" {
		a.t.Errorf("a token is asked for with %v", r.Form)
	}
	scope := "read"
	if a.broken != 0 {
		return a.broken, map[string]any{"error": "server_error"}
	}
	switch r.Form.Get("grant_type") {
	case "authorization_code":
		code := r.Form.Get("code")
		sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
		if base64.RawURLEncoding.EncodeToString(sum[:]) != a.challenges[code] {
			return 400, map[string]any{"error": "invalid_grant", "error_description": "wrong verifier"}
		}
		scope = a.asked[code]
	case "refresh_token":
		a.renewals++
		if r.Form.Get("refresh_token") != a.refresh {
			return 400, map[string]any{"error": "invalid_grant", "error_description": "the refresh token is revoked"}
		}
	}
	a.issued++
	access := fmt.Sprint("access-", a.issued)
	a.refresh = fmt.Sprint("refresh-", a.issued)
	a.tokens = map[string]string{access: scope}
	return 200, map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": a.lifetime, "refresh_token": a.refresh, "scope": scope}
}

// set changes how the servers behave.
func (a *authorizer) set(change func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change()
}

// browse opens a page as a browser does.
func browse(ctx context.Context, _, page string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, page, nil)
	if err != nil {
		return err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	return res.Body.Close()
}

// user is a process whose logins are kept in memory.
type user struct {
	*fixture
	store *savedLogins

	mu     sync.Mutex
	learnt []string
}

func newUser(t *testing.T) *user {
	u := &user{fixture: newFixture(t), store: &savedLogins{kept: map[string][]byte{}}}
	u.Logins = u.store
	u.Learn = func(secret string) {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.learnt = append(u.learnt, secret)
	}
	return u
}

// login logs in to the server, as "zeph-acp mcp login" does.
func (u *user) login(e Server) error {
	other := &Servers{Version: "1", Getenv: u.Getenv, Log: u.Log, Logins: u.store, Learn: u.Learn, Open: browse}
	return other.Login(u.t.Context(), e)
}

func (a *authorizer) entry() Server {
	e := NewServer()
	e.Name, e.URL = "s", a.web.URL+"/mcp"
	return e
}

func TestLogin(t *testing.T) {
	a, u := newAuthorizer(t), newUser(t)
	s := u.open(a.entry())
	if got := s.Status()[0]; got.State != Failed || !strings.Contains(got.Error, `run "zeph-acp mcp login s"`) {
		t.Fatalf("without a login: %+v", got)
	}
	if err := u.login(a.entry()); err != nil {
		t.Fatal(err)
	}
	u.until("the server, which is shared", func() bool { return s.Status()[0].State == Ready })
	editors := a.entry()
	editors.Name, editors.Guarded = "again", true
	s = u.open(a.entry(), editors)
	if got := u.call(s, "s__echo", `{"a":1}`); got.Failed || u.call(s, "again__echo", `{}`).Failed {
		t.Errorf("after the login: %s", got.ForModel())
	}
	u.mu.Lock()
	for _, secret := range []string{"access-1", "refresh-1"} {
		if !slices.Contains(u.learnt, secret) {
			t.Errorf("%s is not masked", secret)
		}
	}
	u.mu.Unlock()
	if removed, err := oauth.Logout(u.store, a.entry().URL); !removed || err != nil {
		t.Errorf("logout: %t, %v", removed, err)
	}
	if got := u.call(s, "s__echo", `{}`); got.record.Code != string(AuthFailure) {
		t.Errorf("after the logout: %q, %s", got.record.Code, got.ForModel())
	}
}

// A user who can be shown a page logs in while the server starts, once.
func TestLoginAtStart(t *testing.T) {
	a, u := newAuthorizer(t), newUser(t)
	u.Open = browse
	if got := u.call(u.open(a.entry()), "s__echo", `{}`); got.Failed || a.issued != 1 {
		t.Errorf("%s; %d logins", got.ForModel(), a.issued)
	}
	other := newUser(t)
	other.Open = browse
	a.set(func() { a.deny = true })
	s := other.open(a.entry())
	if got := s.Status()[0]; got.State != Failed || !strings.Contains(got.Error, "access_denied") || len(a.challenges) != 2 {
		t.Errorf("the user refuses: %+v; asked %d times", got, len(a.challenges))
	}
}

func TestLoginRenewed(t *testing.T) {
	a, u := newAuthorizer(t), newUser(t)
	a.lifetime = 1 // below the margin with which a token counts as expired
	if err := u.login(a.entry()); err != nil {
		t.Fatal(err)
	}
	a.set(func() { a.lifetime = 3600 })
	s := u.open(a.entry())
	var calls sync.WaitGroup
	for range 5 {
		calls.Go(func() {
			if got := u.call(s, "s__echo", `{}`); got.Failed {
				t.Error(got.ForModel())
			}
		})
	}
	calls.Wait()
	a.set(func() {
		if a.renewals != 1 {
			t.Errorf("the token was renewed %d times", a.renewals)
		}
		a.tokens = map[string]string{} // revoked before it expires
	})
	got := u.call(s, "s__echo", `{}`)
	a.set(func() {
		if got.Failed || a.renewals != 2 {
			t.Errorf("a revoked token: %s; %d renewals", got.ForModel(), a.renewals)
		}
	})
}

func TestLoginNotRenewed(t *testing.T) {
	a, u := newAuthorizer(t), newUser(t)
	if err := u.login(a.entry()); err != nil {
		t.Fatal(err)
	}
	s := u.open(a.entry())
	kept := string(u.store.kept[a.entry().URL])
	for name, tt := range map[string]struct {
		change func()
		code   ErrorCode
		want   string
	}{
		"the server fails":  {func() { a.broken = 503 }, Transient, "renew the login: the authorization server answers 503"},
		"the server limits": {func() { a.broken = 429 }, RateLimited, "answers 429"},
		"the user revoked":  {func() { a.refresh = "other" }, AuthFailure, "the login is kept, but could not be renewed"},
	} {
		t.Run(name, func(t *testing.T) {
			valid := a.refresh
			a.set(func() { a.tokens = map[string]string{}; tt.change() })
			got := u.call(s, "s__echo", `{}`)
			if !got.Failed || got.record.Code != string(tt.code) || !strings.Contains(got.ForModel(), tt.want) {
				t.Errorf("code %q: %s", got.record.Code, got.ForModel())
			}
			if strings.Contains(got.ForModel(), "refresh-1") || string(u.store.kept[a.entry().URL]) != kept {
				t.Errorf("the login is now %s", u.store.kept[a.entry().URL])
			}
			a.set(func() { a.broken, a.refresh = 0, valid })
		})
	}
}

// A call that needs a right which the login lacks says so; the next login asks for it.
func TestLoginStepUp(t *testing.T) {
	a, u := newAuthorizer(t), newUser(t)
	if err := u.login(a.entry()); err != nil {
		t.Fatal(err)
	}
	s := u.open(a.entry())
	a.set(func() { a.needs = "write" })
	if got := u.call(s, "s__echo", `{}`); got.record.Code != string(AuthFailure) || !strings.Contains(got.ForModel(), "lacks a right") {
		t.Fatalf("code %q: %s", got.record.Code, got.ForModel())
	}
	if err := u.login(a.entry()); err != nil {
		t.Fatal(err)
	}
	if got := u.call(s, "s__echo", `{}`); got.Failed {
		t.Errorf("after the second login: %s", got.ForModel())
	}
	for access, scope := range a.tokens {
		if got := strings.Fields(scope); !slices.Contains(got, "read") || !slices.Contains(got, "write") || !slices.Contains(got, "offline_access") {
			t.Errorf("%s has the scopes %q", access, got)
		}
	}
}

// A server that wants a login for its tools alone says then which scopes it needs.
func TestLoginAfterInitialize(t *testing.T) {
	a, u := newAuthorizer(t), newUser(t)
	a.greets = true
	if err := u.login(a.entry()); err != nil {
		t.Fatal(err)
	}
	for access, scope := range a.tokens {
		if !slices.Contains(strings.Fields(scope), "list") {
			t.Errorf("%s has the scopes %q", access, scope)
		}
	}
	if got := u.call(u.open(a.entry()), "s__echo", `{}`); got.Failed {
		t.Error(got.ForModel())
	}
}

func TestLoginDenied(t *testing.T) {
	a, u := newAuthorizer(t), newUser(t)
	a.deny = true
	if err := u.login(a.entry()); err == nil || !strings.Contains(err.Error(), "access_denied") {
		t.Errorf("the user refuses: %v", err)
	}
	a.deny, a.broken = false, 500
	if err := u.login(a.entry()); err == nil || !strings.Contains(err.Error(), "log in: the authorization server answers 500") {
		t.Errorf("the token endpoint fails: %v", err)
	}
	if len(u.store.kept) > 0 {
		t.Errorf("kept %s", u.store.kept)
	}
}

// A server cannot lead requests to another private machine.
func TestLoginElsewhere(t *testing.T) {
	a, u := newAuthorizer(t), newUser(t)
	l, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Skip("there is no second address of this machine: ", err)
	}
	private := &httptest.Server{Listener: l, Config: &http.Server{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		t.Error("the other machine is reached")
	})}}
	private.Start()
	t.Cleanup(private.Close)
	a.elsewhere = private.URL
	if err := u.login(a.entry()); err == nil || !strings.Contains(err.Error(), "127.0.0.2 may not be contacted") {
		t.Errorf("a private address: %v", err)
	}
}
