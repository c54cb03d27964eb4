package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/zeph-acp/zeph-acp/executors/tools/mcp/oauth"
	"github.com/zeph-acp/zeph-acp/executors/tools/web"
	"github.com/zeph-acp/zeph-acp/filter/text/backoff"
)

// Limits on a connection to a server on the web.
const (
	dialTimeout = 10 * time.Second
	maxHeader   = 64 << 10 // of an answer, bytes
	// maxBody bounds a message, in bytes, as for servers that are programs: the SDK
	// copies a body several times.
	maxBody = 8 << 20
)

var errMaxBody = fmt.Errorf("the server sent a message of more than %d MiB", maxBody>>20)

// remote connects to one server on the web. It adds the entry's headers to requests
// to the entry's own host, and to no other.
type remote struct {
	http         *http.Transport
	host         string                    // HOST:PORT of the entry
	mayBePrivate func(address string) bool // reports whether HOST:PORT may be private
	headers      map[string]string
	account      *oauth.Account // nil means no login
	connections  *connections
	sse          bool        // the transport is sse, which consists only of the stream
	opened       atomic.Bool // a session was opened
}

// newRemote returns a connection to the address of an entry. Redirects may lead only
// to the public Internet, even if the entry's own address is private.
func newRemote(e Server, getenv func(string) string) (*remote, error) {
	u, err := url.Parse(e.URL)
	if err != nil {
		return nil, err
	}
	r := &remote{host: address(u), headers: map[string]string{}, connections: newConnections()}
	for name, value := range e.Headers {
		if !e.Guarded {
			if value, err = expand(value, getenv); err != nil {
				return nil, err
			}
		}
		r.headers[name] = value
	}
	own := !e.Guarded || !web.IsPublic(u.Hostname())
	r.mayBePrivate = func(address string) bool { return own && strings.EqualFold(address, r.host) }
	r.http = newTransport(r.mayBePrivate)
	r.http.DialContext = r.connections.dial(r.http.DialContext)
	return r, nil
}

// newTransport returns a transport that reaches the public Internet, and those other
// addresses, HOST:PORT, for which mayBePrivate returns true.
func newTransport(mayBePrivate func(address string) bool) *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout}
	return &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if mayBePrivate(address) {
				return dialer.DialContext(ctx, network, address)
			}
			ctx, cancel := context.WithTimeout(ctx, dialTimeout)
			defer cancel()
			return web.DialPublic(ctx, network, address)
		},
		TLSHandshakeTimeout:    dialTimeout,
		MaxResponseHeaderBytes: maxHeader,
		IdleConnTimeout:        time.Minute,
		ForceAttemptHTTP2:      true,
	}
}

// address returns HOST:PORT of a URL.
func address(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// RoundTrip implements http.RoundTripper. Once the session is open, a refused request is an
// error of that request: the SDK would end the whole connection for a status such as 400.
func (r *remote) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := r.request(req)
	if err != nil || req.Method != http.MethodPost || !r.opened.Load() {
		return res, err
	}
	return checkStatus(req, res)
}

// request makes a request in the name of the user.
func (r *remote) request(req *http.Request) (*http.Response, error) {
	if !strings.EqualFold(address(req.URL), r.host) {
		return r.send(req)
	}
	if len(r.headers) > 0 {
		req = req.Clone(req.Context())
		for name, value := range r.headers {
			req.Header.Set(name, value)
		}
	}
	if r.account != nil {
		return r.account.Do(req, r.send)
	}
	return r.send(req)
}

// send sends a request unchanged.
func (r *remote) send(req *http.Request) (*http.Response, error) {
	if isAnswer(req) {
		arrived, err := r.connections.awaitSlot(req.Context())
		defer arrived()
		if err != nil {
			return nil, err
		}
	}
	ask := r.http.RoundTrip
	if req.Method == http.MethodGet && !r.sse {
		ask = r.listen
	}
	res, err := ask(req)
	if err != nil {
		return nil, err
	}
	noteStatus(req.Context(), res)
	if hasEvents(res) {
		res.Body = &eventStream{res.Body, req.Context(), r.connections}
	} else {
		res.Body = &limitedBody{res.Body, maxBody + 1} // the SDK bounds events alone
	}
	if listsTools(req) {
		repairResponse(res)
	}
	return res, nil
}

// streamTimeout is the wait for the headers of a stream.
const streamTimeout = 3 * time.Second

// listen requests the server's stream of events. If the server does not begin it in time,
// or the session has ended, the answer is that there is no stream. The SDK waits for the
// stream before it uses the server, and some proxies hold the headers back until the
// first event.
func (r *remote) listen(req *http.Request) (*http.Response, error) {
	res, err := r.openStream(req)
	if err == nil && res.StatusCode >= http.StatusInternalServerError {
		res.Body.Close()
		err = errNoStream
	}
	switch {
	case errors.Is(err, errNoStream):
		return &http.Response{
			Status: "405 no stream", StatusCode: http.StatusMethodNotAllowed, Proto: req.Proto, ProtoMajor: req.ProtoMajor,
			ProtoMinor: req.ProtoMinor,
			Header:     http.Header{}, Body: http.NoBody, Request: req,
		}, nil
	case err != nil:
		return nil, err
	case isStream(res) && req.Header.Get("Last-Event-ID") == "": // else it belongs to a call, or the SDK resumes it
		res.Body = &reopeningStream{ReadCloser: res.Body, ctx: req.Context(), began: time.Now(), open: func() (io.ReadCloser, error) {
			next, err := r.openStream(req)
			if err == nil && !isStream(next) {
				next.Body.Close()
				err = errNoStream
			}
			if err != nil {
				return nil, err
			}
			return next.Body, nil
		}}
	}
	return res, nil
}

var errNoStream = errors.New("the server has no stream of events")

// openStream requests the stream once. The error is errNoStream if the server does not begin
// it in time.
func (r *remote) openStream(req *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancel(req.Context())
	late := time.AfterFunc(streamTimeout, cancel)
	res, err := r.http.RoundTrip(req.WithContext(ctx))
	if inTime := late.Stop(); !inTime || r.connections.isClosed() {
		cancel()
		if err == nil {
			res.Body.Close()
		}
		return nil, errNoStream
	}
	if err != nil {
		cancel()
		return nil, err
	}
	res.Body = &cancelOnClose{res.Body, cancel}
	return res, nil
}

// isStream reports whether a response is a stream of events, and no error.
func isStream(res *http.Response) bool { return res.StatusCode == http.StatusOK && hasEvents(res) }

// hasEvents reports whether the body of a response consists of events.
func hasEvents(res *http.Response) bool {
	kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	return kind == "text/event-stream"
}

// cancelOnClose is the body of a stream. Its Close frees the context of the request.
type cancelOnClose struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (e *cancelOnClose) Close() error {
	defer e.cancel()
	return e.ReadCloser.Close()
}

// limitedBody is the body of an answer, which is read up to a limit.
type limitedBody struct {
	io.ReadCloser
	left int // bytes
}

func (b *limitedBody) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, errMaxBody
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// transport returns the SDK's transport to a URL by which a server is reached. kind is a
// value of [Server.Transport].
func (r *remote) transport(url, kind string) sdk.Transport {
	client := &http.Client{Transport: r}
	if r.sse = kind == transportSSE; r.sse {
		return &sdk.SSEClientTransport{Endpoint: url, HTTPClient: client, MaxEventSize: maxBody}
	}
	return &sdk.StreamableClientTransport{Endpoint: url, HTTPClient: client, MaxEventSize: maxBody}
}

// close drops the connections that are not in use.
func (r *remote) close() {
	r.http.CloseIdleConnections()
	if r.account != nil {
		r.account.HTTP.CloseIdleConnections()
	}
}

// status is the status of a web server's last answer in a call. The SDK's errors
// contain only its text.
type status struct {
	code       int // 0 means that there was no answer
	retryAfter time.Duration
}

type statusKey struct{}

// statusNote stores the status for the call with its context.
type statusNote struct {
	mu   sync.Mutex
	last status
}

// recordStatus returns a context that records the status of its requests.
func recordStatus(ctx context.Context) (context.Context, *statusNote) {
	n := &statusNote{}
	return context.WithValue(ctx, statusKey{}, n), n
}

func (n *statusNote) status() status {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.last
}

func noteStatus(ctx context.Context, res *http.Response) {
	n, ok := ctx.Value(statusKey{}).(*statusNote)
	if !ok {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.last = status{res.StatusCode, backoff.RetryAfter(res.Header, time.Now())}
}
