package mcp

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/executors/tools/mcp/oauth"
	"github.com/zeph-acp/zeph-acp/executors/tools/web"
	"github.com/zeph-acp/zeph-acp/filter/text/backoff"
)

// Limits on requests to an authorization server.
const (
	authRequestTimeout = 30 * time.Second
	maxRedirects       = 5
)

// account returns the name of an entry for "zeph-acp mcp login".
func (s Server) account() string {
	if s.Guarded { // no entry of the configuration has its name
		return s.URL
	}
	return s.Name
}

// opener shows the user the page on which to log in to a server.
type opener func(ctx context.Context, server, page string) error

// openRemote returns a connection to the address of an entry, with the user's login. An
// entry that has the header Authorization itself needs none. With a nil open a missing
// login is an error.
func (p *Servers) openRemote(e Server, open opener) (*remote, error) {
	r, err := newRemote(e, p.Getenv)
	if err != nil || p.Logins == nil {
		return r, err
	}
	for name := range r.headers {
		if http.CanonicalHeaderKey(name) == "Authorization" {
			return r, nil
		}
	}
	u, err := url.Parse(e.URL)
	if err != nil {
		return nil, err
	}
	r.account = &oauth.Account{
		Name: e.account(), Server: e.URL, HTTP: r.authorizationClient(u), Store: p.Logins, Learn: p.Learn,
		Client: oauth.Client{ID: e.OAuthClientID, Port: e.OAuthPort},
	}
	if e.OAuthSecretFrom != "" && p.Getenv != nil {
		r.account.Client.Secret = p.Getenv(e.OAuthSecretFrom)
	}
	if open != nil {
		r.account.Open = func(ctx context.Context, page string) error { return open(ctx, e.Name, page) }
	}
	return r, nil
}

// authorizationClient returns the HTTP client for a server's authorization server. The server
// names the address, so it must be on the public Internet, or on the server's own
// machine if that is private.
func (r *remote) authorizationClient(server *url.URL) *http.Client {
	private := !web.IsPublic(server.Hostname())
	return &http.Client{
		Timeout: authRequestTimeout,
		Transport: newTransport(func(a string) bool {
			host, _, err := net.SplitHostPort(a)
			return r.mayBePrivate(a) || err == nil && private && strings.EqualFold(host, server.Hostname())
		}),
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			switch {
			case via[0].Method != http.MethodGet:
				return errors.New("a redirect of a request with credentials")
			case len(via) > maxRedirects:
				return errors.New("too many redirects")
			case req.URL.Scheme != via[0].URL.Scheme:
				return errors.New("a redirect to another scheme")
			}
			return nil
		},
	}
}

// Login lets the user log in to the server of an entry. Open must be set.
func (p *Servers) Login(ctx context.Context, e Server) error { return p.login(ctx, e, p.Open) }

func (p *Servers) login(ctx context.Context, e Server, open opener) error {
	r, err := p.openRemote(e, open)
	switch {
	case err != nil:
		return err
	case r.account == nil:
		return errors.New("the entry has the header Authorization, which is used instead of a login")
	}
	defer r.close()
	return r.account.Login(ctx, r.send)
}

// loginPoll is the interval at which a server without a login looks for a new one.
const loginPoll = time.Second

// pause waits before the server is started again after err. It reports whether to start
// it; false means that the server was stopped. A new login ends the wait.
func (i *instance) pause(wait time.Duration, err error) bool {
	if e, ok := errors.AsType[*oauth.Error](err); !ok || !e.Login {
		return backoff.Sleep(i.ctx, wait) == nil
	}
	before, _ := i.pool.Logins.Load(i.entry.URL)
	for end := time.Now().Add(wait); time.Now().Before(end); {
		if backoff.Sleep(i.ctx, min(loginPoll, time.Until(end))) != nil {
			return false
		}
		if now, err := i.pool.Logins.Load(i.entry.URL); err == nil && !bytes.Equal(before, now) {
			return true
		}
	}
	return true
}
