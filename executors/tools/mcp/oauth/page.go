package oauth

import (
	"bufio"
	"context"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

const (
	pageTimeout = 10 * time.Second // of a connection to the page
	maxRequest  = 64 << 10         // bytes of a request to the page
)

// page is the page on this machine to which the browser returns after a login.
// https://www.rfc-editor.org/rfc/rfc8252#section-7.3
//
// It reads and writes HTTP by itself. The server of net/http, with HTTP/2, would add 1 %
// to the size of the program, which has no other use for it.
type page struct {
	url      string
	listener net.Listener
	answers  chan url.Values
	ctx      context.Context // ends with the page
	end      context.CancelFunc
	served   sync.WaitGroup
}

// listen opens the page. Close it.
func listen(port int) (*page, error) {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", fmt.Sprint(port)))
	if err != nil {
		return nil, fmt.Errorf("open the page to which the browser returns: %w", err)
	}
	p := &page{url: "http://" + l.Addr().String() + "/callback", listener: l, answers: make(chan url.Values, 1)}
	p.ctx, p.end = context.WithCancel(context.Background())
	return p, nil
}

// serve answers requests until the page is closed.
func (p *page) serve(state string) {
	p.served.Go(func() {
		for {
			conn, err := p.listener.Accept()
			if err != nil { // closed
				return
			}
			p.served.Go(func() { p.answer(conn, state) })
		}
	})
}

// answer answers the first request of a connection. The login continues after the
// browser has its answer, since the page ends with the login.
func (p *page) answer(conn net.Conn, state string) {
	defer conn.Close()
	defer context.AfterFunc(p.ctx, func() { conn.Close() })()
	_ = conn.SetDeadline(time.Now().Add(pageTimeout)) // fails only if the connection is closed
	req, err := http.ReadRequest(bufio.NewReader(io.LimitReader(conn, maxRequest)))
	if err != nil {
		return
	}
	status, text, answer := reply(req, state)
	body := fmt.Sprintf("<!doctype html><title>zeph-acp</title><p>%s\n", html.EscapeString(text))
	res := http.Response{
		StatusCode: status, ProtoMajor: 1, ProtoMinor: 1, Close: true, ContentLength: int64(len(body)),
		Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}}, Body: io.NopCloser(strings.NewReader(body)),
	}
	_ = res.Write(conn) // the login is valid even if the browser does not receive the page
	if answer == nil {
		return
	}
	select {
	case p.answers <- answer:
	default:
	}
}

// reply returns the status and the text for the browser, and the authorization server's
// answer from the parameters of the request. The answer is nil if the request lacks the
// state of the login, since it then does not come from that server.
func reply(req *http.Request, state string) (status int, text string, answer url.Values) {
	q := req.URL.Query()
	switch {
	case req.URL.Path != "/callback":
		return http.StatusNotFound, "There is no such page.", nil
	case req.Method != http.MethodGet:
		return http.StatusMethodNotAllowed, "This page can only be read.", nil
	case q.Get("state") != state || state == "":
		return http.StatusBadRequest, "This page belongs to another login.", nil
	}
	if problem := q.Get("error"); problem != "" {
		return http.StatusOK, "You are not logged in: " + problem, q
	}
	return http.StatusOK, "You are logged in. You can close this window.", q
}

// wait returns the answer that the browser brings.
func (p *page) wait(ctx context.Context) (*auth.AuthorizationResult, error) {
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case q := <-p.answers:
		if problem := q.Get("error"); problem != "" {
			return nil, fmt.Errorf("the authorization server answers %.100s: %.200s", problem, q.Get("error_description"))
		}
		return &auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}, nil
	}
}

// close ends the page and its connections.
func (p *page) close() {
	p.listener.Close()
	p.end()
	p.served.Wait()
}
