package web

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/backoff"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// maxRedirects is the largest number of redirects that are followed.
const maxRedirects = 3

// client requests pages from web servers. It may be used concurrently.
type client struct {
	Config Config

	net network
}

// newClient returns a client that contacts only the public Internet.
func newClient(cfg Config) *client { return &client{Config: cfg, net: system()} }

func (c *client) localNetworks() []netip.Prefix { return c.net.localNetworks() }

// webPage is the content of a successful response.
type webPage struct {
	URL  *url.URL // after redirects
	Type string   // media type, lower case, without parameters
	Text string   // UTF-8
}

// allowance is the remaining time of a call.
type allowance struct {
	remaining time.Duration
	limitSecs int // the limit of the whole call, for the message
}

func (c *client) timeout() allowance {
	return allowance{time.Duration(c.Config.Timeout) * time.Second, c.Config.Timeout}
}

// run runs do within the remaining time. It returns the error of do, a *Failure if the time is
// over, or ctx's cause. A page that is complete only after the time limit is a failure.
func (a *allowance) run(ctx context.Context, do func(context.Context) error) error {
	within, cancel := context.WithTimeout(ctx, a.remaining)
	defer cancel()
	began := time.Now()
	err := do(within)
	a.remaining -= time.Since(began)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case within.Err() != nil:
		return executors.Failuref(executors.Timeout, "it took longer than %s", quantity.Count(a.limitSecs, "second"))
	}
	return err
}

// follow requests the page at a URL, only by https and from the public
// Internet. Each redirect must pass the same checks and then admit. A
// [*executors.Failure] describes the problem; any other error is ctx's cause.
func (c *client) follow(ctx context.Context, left *allowance, raw string, admit func(from, to *url.URL) error) (page webPage, err error) {
	u, err := c.target(raw)
	if err != nil {
		return webPage{}, err
	}
	for hops := 0; ; hops++ {
		var next *url.URL
		err := left.run(ctx, func(ctx context.Context) (err error) {
			page, next, err = c.requestPage(ctx, u)
			return err
		})
		if err != nil || next == nil {
			return page, err
		}
		if hops == maxRedirects {
			return webPage{}, executors.Failuref(executors.PermanentFailure, "more than %d redirects, the last to %s", maxRedirects, next)
		}
		var to *url.URL
		err = left.run(ctx, func(ctx context.Context) (err error) {
			to, err = c.redirect(ctx, u, next)
			return err
		})
		if err == nil {
			err = admit(u, to)
		}
		if err != nil {
			return webPage{}, err
		}
		u = to
	}
}

// redirect checks the target of a redirect before the user is asked about it.
// It looks up the addresses of another host, whose name the redirecting server
// chose.
func (c *client) redirect(ctx context.Context, from, next *url.URL) (*url.URL, error) {
	to, err := c.target(next.String())
	if err == nil && !sameHost(to.Host, from.Host) {
		_, h, parseErr := parseURL(to.String())
		if err = parseErr; err == nil {
			_, err = c.addresses(ctx, h)
		}
	}
	if err != nil {
		return nil, redirectFailure(from, err)
	}
	return to, nil
}

// redirectFailure adds the redirecting page to a failure.
func redirectFailure(from *url.URL, err error) error {
	f, ok := errors.AsType[*executors.Failure](err)
	if ok && f.Category.Infrastructure() { // a name server without an answer
		return f
	}
	if ok {
		return &executors.Failure{Category: executors.PolicyBlocked, Message: fmt.Sprintf("%s redirects: %s", from, f.Message),
			Suggestion: "Do not follow it; use another page."}
	}
	return err
}

// sameHost reports whether two hosts differ at most by a leading "www.".
func sameHost(a, b string) bool {
	return strings.TrimPrefix(a, "www.") == strings.TrimPrefix(b, "www.")
}

// requestPage requests one URL. It returns either the page or the target of a redirect.
func (c *client) requestPage(ctx context.Context, u *url.URL) (page webPage, next *url.URL, err error) {
	_, h, err := parseURL(u.String())
	if err != nil {
		return webPage{}, nil, err
	}
	addrs, err := c.addresses(ctx, h)
	if err != nil {
		return webPage{}, nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return webPage{}, nil, malformed("%v", err)
	}
	req.Header = http.Header{
		"User-Agent":      {"zeph-acp (+https://github.com/zeph-acp/zeph-acp)"},
		"Accept":          {"text/html, application/xhtml+xml, text/markdown, text/plain, application/json, */*;q=0.1"},
		"Accept-Encoding": {"gzip"},
		"Accept-Language": {"en, *;q=0.5"},
	}
	t := c.transport(u, h, addrs)
	defer t.CloseIdleConnections()
	res, err := t.RoundTrip(req)
	if err != nil {
		return webPage{}, nil, noResponse(h.name, err)
	}
	defer res.Body.Close()
	switch {
	case isRedirect(res.StatusCode):
		next, err = res.Location()
		if err != nil {
			return webPage{}, nil, executors.Failuref(executors.PermanentFailure, "%s redirects without an address (status %d)", u, res.StatusCode)
		}
		return webPage{}, next, nil
	case res.StatusCode < 200 || res.StatusCode > 299:
		return webPage{}, nil, statusFailure(u, res)
	}
	page, err = c.read(u, res)
	return page, nil, err
}

func isRedirect(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// statusFailure returns the failure for a status other than success.
func statusFailure(u *url.URL, res *http.Response) *executors.Failure {
	f := executors.Failuref(executors.ClassifyHTTPStatus(res.StatusCode), "%s answered with status %d %s", u, res.StatusCode,
		http.StatusText(res.StatusCode)).Outside()
	switch res.StatusCode {
	case http.StatusUnauthorized, http.StatusForbidden:
		f.Hint("The page requires a login or refuses programs; use another source.")
	case http.StatusNotFound, http.StatusGone:
		f.Hint("The page does not exist; do not guess URLs, look for a page that links to it.")
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		f.RetryAfter = backoff.RetryAfter(res.Header, time.Now())
	}
	return f
}

// noResponse returns the failure for a request without a response.
func noResponse(host string, err error) error {
	if f, ok := errors.AsType[*executors.Failure](err); ok { // from the dialer's own check
		return f
	}
	if ce, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return executors.Failuref(executors.PermanentFailure, "%s has no valid certificate: %v", host, ce.Err)
	}
	return executors.Failuref(executors.NetworkError, "%s did not answer: %v", host, err)
}
