package websearch

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/backoff"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// Limits of an answer, in bytes.
const (
	maxAnswer = 2 << 20
	maxHeader = 64 << 10
)

// ask sends a query and returns the results. Errors are a [*executors.Failure]; if ctx is done, the
// error means nothing.
func (c *client) ask(ctx context.Context, q query) ([]hit, error) {
	if c.address() == "" {
		return nil, executors.Failuref(executors.PermanentFailure, "no search service is configured")
	}
	key, err := c.key()
	if err != nil {
		return nil, err
	}
	limit := time.Duration(c.TimeoutSecs) * time.Second
	within, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	req, err := c.request(within, q, key)
	if err != nil {
		return nil, executors.Failuref(executors.PermanentFailure, "the request to %s cannot be made: %v", c.title, err)
	}
	answer, err := c.send(req, key)
	if within.Err() != nil {
		return nil, executors.Failuref(executors.Timeout, "%s took longer than %s", c.title, quantity.Count(c.TimeoutSecs, "second")).
			Hint("Try again later, or go on without a search.")
	}
	if err != nil {
		return nil, err
	}
	hits, err := c.read(answer)
	if err == nil && hits == nil {
		err = errors.New("it has no list of results")
	}
	if err != nil {
		return nil, executors.Failuref(executors.PermanentFailure, "the answer of %s is not the expected JSON: %v", c.title, executors.PlainJSONError(err)).
			Hint("Go on without a search, and tell the user to check [tools.web_search].")
	}
	return hits, nil
}

// request returns the request of a query.
func (c *client) request(ctx context.Context, q query, key string) (*http.Request, error) {
	u, method, header := c.Endpoint(), http.MethodGet, http.Header{
		"User-Agent": {"zeph-acp (+https://github.com/zeph-acp/zeph-acp)"}, "Accept": {"application/json"},
	}
	var body io.Reader
	if c.params != nil {
		u.RawQuery = c.params(q).Encode()
	} else {
		data, err := json.Marshal(c.body(q))
		if err != nil {
			return nil, err
		}
		method, body = http.MethodPost, bytes.NewReader(data)
		header.Set("Content-Type", "application/json")
	}
	req, err := http.NewRequestWithContext(ctx, method, u.String(), body)
	if err != nil {
		return nil, err
	}
	if key != "" {
		c.sign(header, key)
	}
	req.Header = header
	return req, nil
}

// send returns the answer to a request. It follows no redirect, which would take the query, and perhaps
// the key, to a server that the user did not choose.
func (c *client) send(req *http.Request, key string) ([]byte, error) {
	t := &http.Transport{
		DialContext: c.dial, DisableKeepAlives: true, MaxResponseHeaderBytes: maxHeader,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
	}
	defer t.CloseIdleConnections()
	res, err := t.RoundTrip(req)
	if err != nil {
		if f, ok := errors.AsType[*executors.Failure](err); ok { // the address is not public
			return nil, f
		}
		return nil, executors.Failuref(executors.NetworkError, "%s did not answer: %v", c.title, err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	switch {
	case res.StatusCode != http.StatusOK:
		return nil, c.statusFailure(res, withoutKey(string(answer), key))
	case len(answer) > maxAnswer:
		return nil, executors.Failuref(executors.PermanentFailure, "the answer of %s is larger than %s", c.title, quantity.Count(maxAnswer, "byte")).
			Hint("Search with fewer max_results.")
	case err != nil:
		return nil, executors.Failuref(executors.NetworkError, "%s: the transfer broke off: %v", c.title, err)
	}
	return answer, nil
}

// withoutKey returns what a service says about a request, without the key.
func withoutKey(answer, key string) string {
	if key == "" {
		return answer
	}
	return strings.ReplaceAll(answer, key, "…")
}

// statusFailure returns the failure for a status other than 200.
func (c *client) statusFailure(res *http.Response, answer string) *executors.Failure {
	status := fmt.Sprintf("status %d", res.StatusCode)
	failure := func(category executors.Category, format string, args ...any) *executors.Failure {
		return executors.Failuref(category, "%s %s (%s)", c.title, fmt.Sprintf(format, args...), status).Outside()
	}
	const without = "Do not search again; go on without a search, and tell the user."
	switch code := res.StatusCode; {
	case code >= 300 && code < 400:
		return failure(executors.PermanentFailure, "redirects to %s, which is not followed", shownHost(res.Header.Get("Location"))).
			Hint("Do not search again. The user can correct tools.web_search.url.")
	case code == http.StatusForbidden && c.refused != "":
		return failure(executors.PolicyBlocked, "refuses the search").Hint("%s", c.refused)
	case code == http.StatusUnauthorized || code == http.StatusForbidden:
		what := "wants a key, and tools.web_search.api_key_env names none"
		if c.KeyVariable() != "" {
			what = "refuses the key in " + c.KeyVariable()
		}
		return failure(executors.PolicyBlocked, "%s", what).Hint(without)
	case code == http.StatusPaymentRequired, code == 432, code == 433: // the latter two are Tavily's
		return failure(executors.PermanentFailure, "answers no more searches: the quota or the credit of its plan is used up").Hint(without)
	case code == http.StatusTooManyRequests:
		f := failure(executors.RateLimited, "gets too many searches, or the quota of its plan is used up")
		f.RetryAfter = backoff.RetryAfter(res.Header, time.Now())
		return f
	case code >= 500:
		f := failure(executors.ServerError, "failed")
		f.RetryAfter = backoff.RetryAfter(res.Header, time.Now())
		return f
	}
	return failure(executors.ClassifyHTTPStatus(res.StatusCode), "refuses the search: %s", cleaned(line.Prefix(answer, 4*maxMessage), maxMessage))
}

// maxMessage bounds what a service says about an error, in characters.
const maxMessage = 200

// shownHost returns the host of the address in a redirect.
func shownHost(location string) string {
	u, err := url.Parse(location)
	if err != nil || u.Host == "" {
		return "another address"
	}
	return cleaned(u.Host, maxMessage)
}
