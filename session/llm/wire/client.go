package wire

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
)

// maxReply bounds an answer that is not a stream, in bytes.
const maxReply = 64 << 20

// RefusePage returns an error and closes the body if the response is a web page.
func RefusePage(res *http.Response) error {
	if kind := res.Header.Get("Content-Type"); strings.Contains(kind, "html") {
		res.Body.Close()
		return &notAStream{kind}
	}
	return nil
}

// TrimEndpoint removes the path of a request from an address, since people copy whole
// URLs. Whole reports whether it was there.
func TrimEndpoint(address string) (base string, whole bool) {
	base = strings.TrimRight(address, "/")
	for _, end := range []string{"/chat/completions", "/responses", "/messages"} {
		if base, ok := strings.CutSuffix(base, end); ok {
			return base, true
		}
	}
	return address, false
}

// Client sends requests. Any response but success becomes a *StatusError.
type Client struct {
	*http.Client
	query    string    // added to each request of Send
	endpoint *Endpoint // whose credential each request of Send has; nil means none
}

// Client returns a client for requests with the key of the endpoint, which must not change.
func (e *Endpoint) Client() Client {
	c := NewClient(e.Address)
	c.endpoint = e
	return c
}

// NewClient returns a client for an address, without a key. Each request of Send has the query of that address.
func NewClient(address string) Client {
	_, query := SplitQuery(address)
	// A redirect would send key and conversation to an address that is not configured.
	refuse := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return Client{Client: &http.Client{Transport: transport(), CheckRedirect: refuse}, query: query}
}

// transport returns the transport of all clients, so that they share its connections.
var transport = sync.OnceValue(func() *http.Transport {
	t := http.DefaultTransport.(*http.Transport).Clone()
	dial := t.DialContext
	t.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c, err := dial(ctx, network, address)
		if tcp, ok := c.(*net.TCPConn); ok {
			return partsConn{tcp}, err
		}
		return c, err
	}
	return t
})

// partsConn is a connection to a server without TLS that sends a [Body] in its parts. A
// TCPConn would copy the body through 32 KiB of memory that it makes for each request.
type partsConn struct{ *net.TCPConn }

// ReadFrom implements [io.ReaderFrom]. It writes no more than the limit of r allows,
// since the transport limits a body to its announced length.
func (c partsConn) ReadFrom(r io.Reader) (int64, error) {
	if limited, ok := r.(*io.LimitedReader); ok {
		if parts, ok := limited.R.(*bodyReader); ok && parts.remaining() <= limited.N {
			n, err := parts.WriteTo(c.TCPConn)
			limited.N -= n
			return n, err
		}
	}
	return c.TCPConn.ReadFrom(r)
}

// SplitQuery splits an address from its query, and drops a fragment.
func SplitQuery(address string) (base, query string) {
	address, _, _ = strings.Cut(address, "#")
	base, query, _ = strings.Cut(address, "?")
	return base, query
}

// maxRefusal bounds the body of an error, in bytes.
const maxRefusal = 64 << 10

// Do is http.Client.Do, except that any status but success is an error.
func (c Client) Do(req *http.Request) (*http.Response, error) {
	res, err := c.Client.Do(req)
	if err != nil && c.usesProxy(req) {
		return nil, &proxyError{err}
	}
	if err != nil {
		return nil, err
	}
	// The transport decodes gzip, the only encoding that it asks for.
	if encoding := res.Header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		res.Body.Close()
		return nil, &notAStream{res.Header.Get("Content-Type") + " in the encoding " + encoding}
	}
	if res.StatusCode == http.StatusOK || res.StatusCode == http.StatusCreated { // 201 is some gateways' answer to any POST
		if req.Method == http.MethodGet { // a list, which is read to its end
			res.Body = &limitedBody{ReadCloser: res.Body, remaining: maxAnswer, limit: maxAnswer}
		}
		return res, nil
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxRefusal))
	if err != nil && len(body) == 0 && res.StatusCode < http.StatusMultipleChoices {
		return nil, err
	}
	return nil, newStatusError(res, body)
}

// proxyError is the failure of a request through a proxy.
type proxyError struct{ error }

func (p *proxyError) Unwrap() error { return p.error }

// usesProxy reports whether a request goes through a proxy.
func (c Client) usesProxy(req *http.Request) bool {
	t, ok := c.Transport.(*http.Transport)
	if !ok || t.Proxy == nil {
		return false
	}
	proxy, err := t.Proxy(req)
	return proxy != nil || err != nil
}

// activityReader calls onRead whenever bytes were read.
type activityReader struct {
	io.ReadCloser
	onRead func()
}

func (w *activityReader) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if n > 0 {
		w.onRead()
	}
	return n, err
}

// limitedBody is a body that fails beyond a number of bytes, since its content is kept in
// memory.
type limitedBody struct {
	io.ReadCloser
	remaining int // bytes that may still be read
	limit     int // for the error
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.remaining <= 0 {
		return 0, &tooLarge{b.limit, " without an end"}
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.remaining)])
	b.remaining -= n
	return n, err
}

// tooLarge is the error of a response that exceeds the limit.
type tooLarge struct {
	bytes int
	what  string // the part of the message after the size
}

func (e *tooLarge) Error() string {
	return fmt.Sprintf("it sent more than %d MiB%s", e.bytes>>20, e.what)
}
