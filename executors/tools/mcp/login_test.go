package mcp

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/zeph-acp/zeph-acp/executors/tools/mcp/oauth"
	"github.com/zeph-acp/zeph-acp/executors/tools/mcp/oauth/oauthtest"
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
type authorizer struct{ *oauthtest.Authorizer }

func newAuthorizer(t *testing.T) authorizer {
	return authorizer{oauthtest.New(t, sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return newTestServer() }, nil))}
}

func (a authorizer) entry() Server {
	e := NewServer()
	e.Name, e.URL = "s", a.Web.URL+"/mcp"
	return e
}

// browse opens a page as a browser does.
func browse(ctx context.Context, _, page string) error { return oauthtest.Browse(ctx, page) }

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
	if got := u.call(s, "s__echo", `{}`); got.record.Code != string(authFailure) {
		t.Errorf("after the logout: %q, %s", got.record.Code, got.ForModel())
	}
}

// A user who can be shown a page logs in while the server starts, once.
func TestLoginAtStart(t *testing.T) {
	a, u := newAuthorizer(t), newUser(t)
	u.Open = browse
	if got := u.call(u.open(a.entry()), "s__echo", `{}`); got.Failed || a.Issued != 1 {
		t.Errorf("%s; %d logins", got.ForModel(), a.Issued)
	}
	other := newUser(t)
	other.Open = browse
	a.Set(func() { a.Deny = true })
	s := other.open(a.entry())
	if got := s.Status()[0]; got.State != Failed || !strings.Contains(got.Error, "access_denied") || len(a.Challenges) != 2 {
		t.Errorf("the user refuses: %+v; asked %d times", got, len(a.Challenges))
	}
}

func TestLoginRenewed(t *testing.T) {
	a, u := newAuthorizer(t), newUser(t)
	a.Lifetime = 1 // below the margin with which a token counts as expired
	if err := u.login(a.entry()); err != nil {
		t.Fatal(err)
	}
	a.Set(func() { a.Lifetime = 3600 })
	s := u.open(a.entry())
	var calls sync.WaitGroup
	for range 5 {
		calls.Go(func() {
			if got := u.call(s, "s__echo", `{}`); got.Failed {
				t.Errorf("got %s, want success", got.ForModel())
			}
		})
	}
	calls.Wait()
	a.Set(func() {
		if a.Renewals != 1 {
			t.Errorf("the token was renewed %d times", a.Renewals)
		}
		a.Tokens = map[string]string{} // revoked before it expires
	})
	got := u.call(s, "s__echo", `{}`)
	a.Set(func() {
		if got.Failed || a.Renewals != 2 {
			t.Errorf("a revoked token: %s; %d renewals", got.ForModel(), a.Renewals)
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
		code   errorCode
		want   string
	}{
		"the server fails":  {func() { a.Broken = 503 }, transient, "renew the login: the authorization server answers 503"},
		"the server limits": {func() { a.Broken = 429 }, rateLimited, "answers 429"},
		"the user revoked":  {func() { a.Refresh = "other" }, authFailure, "the login is kept, but could not be renewed"},
	} {
		t.Run(name, func(t *testing.T) {
			valid := a.Refresh
			a.Set(func() { a.Tokens = map[string]string{}; tt.change() })
			got := u.call(s, "s__echo", `{}`)
			if !got.Failed || got.record.Code != string(tt.code) || !strings.Contains(got.ForModel(), tt.want) {
				t.Errorf("code %q: %s", got.record.Code, got.ForModel())
			}
			if strings.Contains(got.ForModel(), "refresh-1") || string(u.store.kept[a.entry().URL]) != kept {
				t.Errorf("the login is now %s", u.store.kept[a.entry().URL])
			}
			a.Set(func() { a.Broken, a.Refresh = 0, valid })
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
	a.Set(func() { a.Needs = "write" })
	if got := u.call(s, "s__echo", `{}`); got.record.Code != string(authFailure) || !strings.Contains(got.ForModel(), "lacks a right") {
		t.Fatalf("code %q: %s", got.record.Code, got.ForModel())
	}
	if err := u.login(a.entry()); err != nil {
		t.Fatal(err)
	}
	if got := u.call(s, "s__echo", `{}`); got.Failed {
		t.Errorf("after the second login: %s", got.ForModel())
	}
	for access, scope := range a.Tokens {
		if got := strings.Fields(scope); !slices.Contains(got, "read") || !slices.Contains(got, "write") || !slices.Contains(got, "offline_access") {
			t.Errorf("%s has the scopes %q", access, got)
		}
	}
}

// A server that needs a login for its tools alone says then which scopes it needs.
func TestLoginAfterInitialize(t *testing.T) {
	a, u := newAuthorizer(t), newUser(t)
	a.Greets = true
	if err := u.login(a.entry()); err != nil {
		t.Fatal(err)
	}
	for access, scope := range a.Tokens {
		if !slices.Contains(strings.Fields(scope), "list") {
			t.Errorf("%s has the scopes %q", access, scope)
		}
	}
	if got := u.call(u.open(a.entry()), "s__echo", `{}`); got.Failed {
		t.Errorf("got %s, want success", got.ForModel())
	}
}

func TestLoginDenied(t *testing.T) {
	a, u := newAuthorizer(t), newUser(t)
	a.Deny = true
	if err := u.login(a.entry()); err == nil || !strings.Contains(err.Error(), "access_denied") {
		t.Errorf("the user refuses: %v", err)
	}
	a.Deny, a.Broken = false, 500
	if err := u.login(a.entry()); err == nil || !strings.Contains(err.Error(), "log in: the authorization server answers 500") {
		t.Errorf("the token endpoint fails: %v", err)
	}
	if len(u.store.kept) > 0 {
		t.Errorf("kept %s, want nothing", u.store.kept)
	}
}

// Odd answers of the authorization server end the login with a short reason.
func TestLoginOddAnswers(t *testing.T) {
	for name, tt := range map[string]struct{ path, answer, want string }{
		"metadata of another type": {
			"/.well-known/oauth-authorization-server", `{"scopes_supported":"read"}`,
			"log in: failed to get authorization server metadata: a value has the wrong type",
		},
		"a long answer":              {"/register", strings.Repeat("é", 9000), "é…"},
		"a token with a second line": {"/token", `{"access_token":"a\r\nX-Y: z","token_type":"Bearer"}`, "a token with control characters"},
	} {
		t.Run(name, func(t *testing.T) {
			a, u := newAuthorizer(t), newUser(t)
			a.Answers = map[string]string{tt.path: tt.answer}
			err := u.login(a.entry())
			if err == nil || !strings.HasSuffix(err.Error(), tt.want) || len(err.Error()) > 1100 {
				t.Errorf("login: %v, want ...%s", err, tt.want)
			}
			if len(u.store.kept) > 0 {
				t.Errorf("kept %s, want nothing", u.store.kept)
			}
		})
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
	a.Elsewhere = private.URL
	if err := u.login(a.entry()); err == nil || !strings.Contains(err.Error(), "127.0.0.2 may not be contacted") {
		t.Errorf("a private address: %v", err)
	}
}
