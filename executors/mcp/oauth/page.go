package oauth

import (
	"context"
	"fmt"
	"html"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
)

// pageTime bounds each request to the page.
const pageTime = 10 * time.Second

// page is the page on this machine to which the browser returns after a login.
// https://www.rfc-editor.org/rfc/rfc8252#section-7.3
type page struct {
	url      string
	listener net.Listener
	server   *http.Server
	answers  chan url.Values
	served   sync.WaitGroup
}

// listen opens the page. Close it.
func listen(port int) (*page, error) {
	l, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", fmt.Sprint(port)))
	if err != nil {
		return nil, fmt.Errorf("open the page to which the browser returns: %w", err)
	}
	return &page{url: "http://" + l.Addr().String() + "/callback", listener: l, answers: make(chan url.Values, 1)}, nil
}

// serve answers requests until the page is closed. One without the state of the login
// is not the authorization server's, and changes nothing.
func (p *page) serve(state string) {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /callback", func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if q.Get("state") != state || state == "" {
			http.Error(w, "This page belongs to another login.", http.StatusBadRequest)
			return
		}
		select {
		case p.answers <- q:
		default:
		}
		text := "You are logged in. You can close this window."
		if problem := q.Get("error"); problem != "" {
			text = "You are not logged in: " + problem
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "<!doctype html><title>zeph-acp</title><p>%s\n", html.EscapeString(text))
	})
	p.server = &http.Server{Handler: mux, ReadTimeout: pageTime, WriteTimeout: pageTime}
	p.served.Go(func() { _ = p.server.Serve(p.listener) })
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

// close ends the page after the browser has its answer.
func (p *page) close() {
	if p.server == nil {
		p.listener.Close()
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if p.server.Shutdown(ctx) != nil {
		p.server.Close()
	}
	p.served.Wait()
}
