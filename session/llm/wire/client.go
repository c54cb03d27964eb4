package wire

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxReply bounds what is read of an answer that is no stream, in bytes.
const MaxReply = 64 << 20

// noPage gives an error if the response is a web page; it is closed then.
func RefusePage(res *http.Response) error {
	if kind := res.Header.Get("Content-Type"); strings.Contains(kind, "html") {
		res.Body.Close()
		return notAStream{kind}
	}
	return nil
}

// withoutEndpoint cuts off what the SDKs add to an address: people copy that of a
// request. Whole tells that it was there.
func TrimEndpoint(address string) (base string, whole bool) {
	base = strings.TrimRight(address, "/")
	for _, end := range []string{"/chat/completions", "/responses", "/messages"} {
		if base, ok := strings.CutSuffix(base, end); ok {
			return base, true
		}
	}
	return address, false
}

// wireClient sends requests for the SDKs. Anything but success is a *statusError,
// whatever the SDK would make of it.
type Client struct {
	*http.Client
	query string // goes out with each request
}

// newWireClient makes one for an address, whose query the SDKs would drop.
func NewClient(address string) Client {
	_, query := SplitQuery(address)
	// A redirect would send key and conversation to an address that nobody
	// configured.
	return Client{&http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, query}
}

// splitQuery parts an address from its query, and drops a fragment.
func SplitQuery(address string) (base, query string) {
	address, _, _ = strings.Cut(address, "#")
	base, query, _ = strings.Cut(address, "?")
	return base, query
}

// maxRefusal bounds what is read of the body of an error, in bytes.
const maxRefusal = 64 << 10

// Do is that of http.Client, save that it gives success alone.
func (c Client) Do(req *http.Request) (*http.Response, error) {
	if c.query != "" {
		req.URL.RawQuery = strings.TrimSuffix(c.query+"&"+req.URL.RawQuery, "&")
	}
	res, err := c.Client.Do(req)
	if err != nil && c.proxies(req) {
		return nil, proxied{err}
	}
	if err != nil {
		return nil, err
	}
	if res.StatusCode == http.StatusOK || res.StatusCode == http.StatusCreated { // which some gateways answer to any POST
		if req.Method == http.MethodGet { // a list, which the SDKs read to its end
			res.Body = &bounded{ReadCloser: res.Body, left: maxAnswer, all: maxAnswer}
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

// proxied is a request that failed on its way through a proxy, or behind it.
type proxied struct{ error }

func (p proxied) Unwrap() error { return p.error }

// proxies tells whether a request goes through a proxy.
func (c Client) proxies(req *http.Request) bool {
	t, ok := cmp.Or(c.Transport, http.DefaultTransport).(*http.Transport)
	if !ok || t.Proxy == nil {
		return false
	}
	proxy, err := t.Proxy(req)
	return proxy != nil || err != nil
}

// watched tells when something was read.
type watched struct {
	io.ReadCloser
	heard func()
}

func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	if n > 0 {
		w.heard()
	}
	return n, err
}

// bounded is a body that may not be longer than so many bytes, since what it says
// is kept in memory.
type bounded struct {
	io.ReadCloser
	left, all int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, tooMuch{b.all, " without an end"}
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// tooMuch is a response that is longer than any that makes sense.
type tooMuch struct {
	bytes int
	what  string // behind the size
}

func (e tooMuch) Error() string {
	return fmt.Sprintf("it sent more than %d MiB%s", e.bytes>>20, e.what)
}
