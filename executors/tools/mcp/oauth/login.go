package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

// probes are the requests that find the login of a server. Every server with a login
// refuses at least one, and its refusal names the authorization server and the scopes.
var probes = []string{
	`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"zeph-acp","version":"1"}}}`,
	`{"jsonrpc":"2.0","id":2,"method":"tools/list"}`,
}

// Login lets the user log in, even if there is a login already. send sends a request
// to the server; Open must be set.
func (a *Account) Login(ctx context.Context, send func(*http.Request) (*http.Response, error)) error {
	session := ""
	for i, probe := range probes {
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.Server, strings.NewReader(probe))
		if err != nil {
			return err
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			req.Header.Set(sessionHeader, session)
		}
		res, err := send(req)
		if err != nil {
			return err
		}
		defer res.Body.Close()
		refused := res.StatusCode == http.StatusUnauthorized
		if !refused && i < len(probes)-1 {
			session = res.Header.Get(sessionHeader)
			continue
		}
		if !refused { // some ask for a login only at a call
			res.StatusCode, res.Header, res.Body = http.StatusUnauthorized, http.Header{}, http.NoBody
		}
		return a.authorize(ctx, req, res)
	}
	return nil
}

const sessionHeader = "Mcp-Session-Id"

// Logout removes the login at a server, and reports whether there was one.
func Logout(s Store, server string) (removed bool, err error) {
	old, err := s.Load(server)
	if err != nil || old == nil {
		return false, err
	}
	return true, s.Change(server, func([]byte) ([]byte, error) { return nil, nil })
}

// storeWantedScopes stores the scopes that a request lacked, for the next login.
func (a *Account) storeWantedScopes(res *http.Response) error {
	return a.change(func(l *login) error {
		for _, c := range challenges(res) {
			l.Wanted = union(l.Wanted, strings.Fields(c.Params["scope"]))
		}
		return nil
	})
}

func union(all, more []string) []string {
	for _, s := range more {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// authorize lets the user log in, and stores the token. req is a request to the server and
// res its refusal. A failed login is not tried again, since a connection begins with
// several requests.
func (a *Account) authorize(ctx context.Context, req *http.Request, res *http.Response) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.refused != nil {
		return a.refused
	}
	page, err := listen(a.Client.Port)
	if err != nil {
		return &Error{Err: err}
	}
	defer page.close()
	handler, err := auth.NewAuthorizationCodeHandler(a.loginConfig(page))
	if err == nil {
		err = handler.Authorize(ctx, req, res)
	}
	if err == nil {
		return nil
	}
	a.refused = &Error{Login: true, Err: loginFailure(err)}
	return a.refused
}

// loginFailure returns the error of a login for people.
func loginFailure(err error) error {
	if e, ok := errors.AsType[*oauth2.RetrieveError](err); ok {
		return &refusal{"log in", e}
	}
	return fmt.Errorf("log in: %w", forPeople(err))
}

// maxReason bounds the text of an error, in characters: the SDK's errors repeat the answers of
// servers.
const maxReason = 500

// forPeople returns an error of the SDK or of oauth2 without the names of Go's types, and
// shortened.
func forPeople(err error) error {
	if plain := executors.PlainJSONError(err); plain != err {
		return plain
	}
	text := err.Error()
	if short := line.TruncateRunes(text, maxReason); short != text {
		return errors.New(short)
	}
	return err
}

// loginConfig returns the SDK's handler of a login.
func (a *Account) loginConfig(page *page) *auth.AuthorizationCodeHandlerConfig {
	resource := ""
	flow := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: page.url, RequestRefreshToken: true, Client: a.HTTP,
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			RedirectURIs: []string{page.url}, ClientName: "zeph-acp", TokenEndpointAuthMethod: "none",
			GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		}},
		ScopeFilter: a.scopes,
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			u, err := url.Parse(args.URL)
			if err != nil || u.Scheme != "https" && u.Scheme != "http" {
				return nil, fmt.Errorf("%q is not the address of a page", args.URL)
			}
			resource = u.Query().Get("resource")
			page.serve(u.Query().Get("state"))
			if err := a.Open(ctx, u.String()); err != nil {
				return nil, err
			}
			return page.wait(ctx)
		},
		NewTokenSource: func(_ context.Context, c *oauth2.Config, token *oauth2.Token) (oauth2.TokenSource, error) {
			return oauth2.StaticTokenSource(token), a.storeLogin(c, token, resource)
		},
	}
	switch {
	case strings.HasPrefix(a.Client.ID, "https://"):
		flow.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: a.Client.ID}
	case a.Client.ID != "":
		flow.PreregisteredClient = &oauthex.ClientCredentials{ClientID: a.Client.ID}
		if a.Client.Secret != "" {
			flow.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: a.Client.Secret}
		}
	}
	return flow
}

// scopes returns the scopes that a server asks for. If earlier requests lacked some, it
// adds these and the scopes of the present login.
func (a *Account) scopes(asked []string) []string {
	data, err := a.Store.Load(a.Server)
	if err != nil {
		return asked
	}
	if l, err := a.parse(data); err == nil && len(l.Wanted) > 0 {
		return union(union(slices.Clone(asked), l.Scopes), l.Wanted)
	}
	return asked
}

// storeLogin stores a new login in place of the old one.
func (a *Account) storeLogin(c *oauth2.Config, token *oauth2.Token, resource string) error {
	if err := checkToken(token); err != nil {
		return err
	}
	scopes := c.Scopes
	if granted, ok := token.Extra("scope").(string); ok {
		scopes = strings.Fields(granted)
	}
	err := a.change(func(l *login) error {
		*l = login{
			ClientID: c.ClientID, ClientSecret: c.ClientSecret, TokenURL: c.Endpoint.TokenURL, AuthStyle: c.Endpoint.AuthStyle,
			Resource: resource, Scopes: scopes, Token: *token,
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("save the login: %w", err)
	}
	return nil
}
