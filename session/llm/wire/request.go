package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// userAgent names the program to servers and gateways.
const userAgent = "zeph-acp (+https://github.com/zeph-acp/zeph-acp)"

// Send sends a request whose body is the parts of one JSON text, or empty. Nothing
// else may write to the header or to the parts until the response arrives.
//
// If the server refuses the credential of a [Source], and the source returns another one,
// the request is sent once more.
func (c Client) Send(ctx context.Context, method, address string, header http.Header, parts ...[]byte) (*http.Response, error) {
	credential, err := c.endpoint.credential(ctx)
	if err != nil {
		return nil, err
	}
	res, err := c.sendWith(ctx, credential, method, address, header, parts)
	if err == nil {
		return res, nil
	}
	switch another, fetchErr := c.endpoint.anotherCredential(ctx, credential, err); {
	case fetchErr != nil:
		return nil, fetchErr
	case another != nil:
		return c.sendWith(ctx, another, method, address, header.Clone(), parts)
	}
	return nil, err
}

// sendWith sends a request with a credential, which may be empty.
func (c Client) sendWith(ctx context.Context, credential *Credential, method, address string, header http.Header, parts [][]byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return nil, err
	}
	if c.query != "" {
		req.URL.RawQuery = strings.TrimSuffix(c.query+"&"+req.URL.RawQuery, "&")
	}
	req.Header = header
	switch {
	case credential.Key == "":
	case c.endpoint.KeyHeader != "":
		header.Set(c.endpoint.KeyHeader, credential.Key)
	default:
		header.Set("Authorization", "Bearer "+credential.Key)
	}
	req.Header.Set("User-Agent", userAgent)
	if len(parts) > 0 {
		req.Header.Set("Content-Type", "application/json")
		req.ContentLength = int64(Body(parts).Len())
		// The transport reads the body again if a reused connection turns out to be
		// closed.
		req.GetBody = func() (io.ReadCloser, error) { return Body(parts).Reader(), nil }
		req.Body, _ = req.GetBody()
	}
	if credential.Authorize != nil {
		if err := credential.Authorize(req, parts); err != nil {
			return nil, err
		}
	}
	return c.Do(req)
}

// ReadJSON decodes the body of a response, which is one JSON value, and closes it.
func ReadJSON(res *http.Response, out any) error {
	defer res.Body.Close()
	if err := RefusePage(res); err != nil {
		return err
	}
	if err := json.NewDecoder(io.LimitReader(res.Body, maxReply)).Decode(out); err != nil {
		return fmt.Errorf("reading its answer: %w", err)
	}
	return nil
}
