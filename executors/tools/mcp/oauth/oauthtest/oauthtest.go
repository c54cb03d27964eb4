// Package oauthtest is the shared code of the tests of logins: an authorization server
// and a server on the web that it protects. The binary does not contain it.
package oauthtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// Authorizer is an authorization server, and a server on the web that it protects.
type Authorizer struct {
	t           testing.TB
	Web, Issuer *httptest.Server

	mu       sync.Mutex
	Tokens   map[string]string // valid access tokens and their scopes
	Refresh  string            // the valid refresh token
	Issued   int
	Renewals int
	Lifetime int    // of a token, seconds
	Needs    string // a scope that calls of tools need
	Greets   bool   // initialize needs no login, and a list of tools needs the scope list
	Deny     bool   // the user refuses the login
	Broken   int    // the status of each answer of the token endpoint; 0 means success

	Answers map[string]string // by path, in place of the server's own

	Challenges map[string]string // PKCE, by code
	asked      map[string]string // scopes, by code
	Elsewhere  string            // another issuer that the server names
}

// New starts both servers. serve answers the requests with a login, and is an MCP
// server.
func New(t testing.TB, serve http.Handler) *Authorizer {
	a := &Authorizer{t: t, Tokens: map[string]string{}, Lifetime: 3600, Challenges: map[string]string{}, asked: map[string]string{}}
	as := http.NewServeMux()
	a.Issuer = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if odd, ok := a.Answers[r.URL.Path]; ok {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, odd)
			return
		}
		as.ServeHTTP(w, r)
	}))
	t.Cleanup(a.Issuer.Close)
	answer := func(w http.ResponseWriter, status int, v any) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(v)
	}
	as.HandleFunc("GET /.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, 200, map[string]any{
			"issuer": a.Issuer.URL, "authorization_endpoint": a.Issuer.URL + "/authorize", "token_endpoint": a.Issuer.URL + "/token",
			"registration_endpoint": a.Issuer.URL + "/register", "code_challenge_methods_supported": []string{"S256"},
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
		issuer := a.Issuer.URL
		if a.Elsewhere != "" {
			issuer = a.Elsewhere
		}
		answer(w, 200, map[string]any{"resource": a.Web.URL + "/mcp", "authorization_servers": []string{issuer},
			"scopes_supported": []string{"read"}})
	})
	mux.Handle("/mcp", a.protect(serve))
	a.Web = httptest.NewServer(mux)
	t.Cleanup(a.Web.Close)
	return a
}

// protect passes on the requests with a login that has the necessary scope.
func (a *Authorizer) protect(serve http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		a.mu.Lock()
		scopes, ok := a.Tokens[strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")]
		lacks := a.Needs != "" && !strings.Contains(scopes, a.Needs) && bytes.Contains(body, []byte("tools/call"))
		greeted := a.Greets && !bytes.Contains(body, []byte("tools/"))
		a.mu.Unlock()
		meta := fmt.Sprintf(`resource_metadata="%s/.well-known/oauth-protected-resource/mcp"`, a.Web.URL)
		if a.Greets {
			meta += `, scope="list"`
		}
		switch {
		case !ok && !greeted:
			w.Header().Set("WWW-Authenticate", "Bearer "+meta)
			http.Error(w, "who are you?", http.StatusUnauthorized)
		case lacks:
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer error="insufficient_scope", scope=%q, %s`, a.Needs, meta))
			http.Error(w, "not you", http.StatusForbidden)
		default:
			serve.ServeHTTP(w, r)
		}
	}
}

// authorize is the page on which the user logs in.
func (a *Authorizer) authorize(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	q := r.URL.Query()
	if q.Get("code_challenge_method") != "S256" || q.Get("resource") != a.Web.URL+"/mcp" || q.Get("client_id") != "registered" {
		a.t.Errorf("the page is asked for with %s", r.URL.RawQuery)
	}
	code := fmt.Sprint("code-", len(a.Challenges))
	a.Challenges[code], a.asked[code] = q.Get("code_challenge"), q.Get("scope")
	back := url.Values{"state": {q.Get("state")}, "code": {code}}
	if a.Deny {
		back = url.Values{"state": {q.Get("state")}, "error": {"access_denied"}}
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+back.Encode(), http.StatusFound)
}

// token answers a request for a token.
func (a *Authorizer) token(r *http.Request) (int, any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	_ = r.ParseForm()
	if r.Form.Get("resource") != a.Web.URL+"/mcp" || r.Form.Get("client_id") != "registered" {
		a.t.Errorf("a token is asked for with %v", r.Form)
	}
	scope := "read"
	if a.Broken != 0 {
		return a.Broken, map[string]any{"error": "server_error"}
	}
	switch r.Form.Get("grant_type") {
	case "authorization_code":
		code := r.Form.Get("code")
		sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
		if base64.RawURLEncoding.EncodeToString(sum[:]) != a.Challenges[code] {
			return 400, map[string]any{"error": "invalid_grant", "error_description": "wrong verifier"}
		}
		scope = a.asked[code]
	case "refresh_token":
		a.Renewals++
		if r.Form.Get("refresh_token") != a.Refresh {
			return 400, map[string]any{"error": "invalid_grant", "error_description": "the refresh token is revoked"}
		}
	}
	a.Issued++
	access := fmt.Sprint("access-", a.Issued)
	a.Refresh = fmt.Sprint("refresh-", a.Issued)
	a.Tokens = map[string]string{access: scope}
	return 200, map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": a.Lifetime,
		"refresh_token": a.Refresh, "scope": scope}
}

// Set changes how the servers behave.
func (a *Authorizer) Set(change func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change()
}

// Browse opens a page as a browser does.
func Browse(ctx context.Context, page string) error {
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
