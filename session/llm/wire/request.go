package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

// userAgent names the program to servers and gateways.
const userAgent = "zeph-acp (+https://github.com/zeph-acp/zeph-acp)"

// Send sends a request whose body is the parts of one JSON text, or empty. Nothing
// else may write to the header or to the parts until the response arrives.
func (c Client) Send(ctx context.Context, method, address string, header http.Header, parts ...[]byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, address, nil)
	if err != nil {
		return nil, err
	}
	req.Header = header
	req.Header.Set("User-Agent", userAgent)
	if len(parts) > 0 {
		req.Header.Set("Content-Type", "application/json")
		req.ContentLength = int64(Body(parts).Len())
		// The transport reads the body again if a reused connection turns out to be
		// closed.
		req.GetBody = func() (io.ReadCloser, error) { return Body(parts).Reader(), nil }
		req.Body, _ = req.GetBody()
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

// Header returns the header of a request for a type of content, with the key as a
// bearer token if there is one.
func (e *Endpoint) Header(accept string) http.Header {
	header := http.Header{"Accept": {accept}}
	if key := e.Key(); key != "" {
		header.Set("Authorization", "Bearer "+key)
	}
	return header
}
