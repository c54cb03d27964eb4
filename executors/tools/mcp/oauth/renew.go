package oauth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
	"unicode"

	// The library of tokens that the SDK uses.
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// renewTimeout bounds the renewal of a token, during which the store is locked.
const renewTimeout = 20 * time.Second

// renew replaces the access token old, and returns the new one. Another process may
// have done so already. A failure keeps the login.
func (a *Account) renew(ctx context.Context, old string) (access string, err error) {
	ctx, cancel := context.WithTimeout(ctx, renewTimeout)
	defer cancel()
	err = a.change(func(l *login) error {
		switch {
		case l.Token.AccessToken == "":
			return a.loginRequired("the login was removed")
		case l.Token.AccessToken != old && l.Token.Valid():
		case l.Token.RefreshToken == "":
			return a.loginRequired("the login has expired")
		default:
			token, err := l.requestToken(context.WithValue(ctx, oauth2.HTTPClient, a.HTTP))
			if err != nil {
				return a.renewFailure(err)
			}
			l.Token = token
		}
		access = l.Token.AccessToken
		return nil
	})
	if _, ok := errors.AsType[*Error](err); err != nil && !ok {
		err = &Error{Err: fmt.Errorf("the saved login: %w", err)}
	}
	return access, err
}

// requestToken asks the authorization server for a new access token. The token source of
// oauth2 cannot send the resource, which MCP requires; clientcredentials can send any
// grant.
// https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization#resource-parameter-implementation
func (l *login) requestToken(ctx context.Context) (oauth2.Token, error) {
	params := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {l.Token.RefreshToken}}
	if l.Resource != "" {
		params.Set("resource", l.Resource)
	}
	grant := clientcredentials.Config{
		ClientID: l.ClientID, ClientSecret: l.ClientSecret, TokenURL: l.TokenURL, AuthStyle: l.AuthStyle, EndpointParams: params,
	}
	token, err := grant.Token(ctx)
	if err != nil {
		return oauth2.Token{}, err
	}
	if err := checkToken(token); err != nil {
		return oauth2.Token{}, err
	}
	if token.RefreshToken == "" { // the old one stays valid
		token.RefreshToken = l.Token.RefreshToken
	}
	return *token, nil
}

// checkToken returns an error for a token that no header can hold.
func checkToken(t *oauth2.Token) error {
	if strings.ContainsFunc(t.AccessToken, unicode.IsControl) {
		return errors.New("the authorization server sent a token with control characters")
	}
	return nil
}

// renewFailure returns why a login cannot be renewed. A new login is necessary only
// if the server refuses the old one.
func (a *Account) renewFailure(err error) error {
	e, ok := errors.AsType[*oauth2.RetrieveError](err)
	if !ok {
		return &Error{Err: fmt.Errorf("renew the login: %w", forPeople(err))}
	}
	status := e.Response.StatusCode
	if status >= http.StatusInternalServerError || status == http.StatusTooManyRequests {
		return &Error{Err: &refusal{"renew the login", e}}
	}
	return a.loginRequired((&refusal{"the login is kept, but could not be renewed", e}).Error())
}

// refusal is an answer of the authorization server other than a token. Its message
// does not have the body, which may repeat the request.
type refusal struct {
	doing string
	*oauth2.RetrieveError
}

func (r *refusal) Error() string {
	text := r.doing + ": the authorization server answers " + r.Response.Status
	if r.ErrorCode != "" {
		text += ", " + r.ErrorCode
	}
	if r.ErrorDescription != "" {
		text += ": " + strings.ToValidUTF8(r.ErrorDescription[:min(len(r.ErrorDescription), 200)], "")
	}
	return text
}

func (r *refusal) Unwrap() error { return r.RetrieveError }
