package oauth

import (
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestPage(t *testing.T) {
	p, err := listen(0)
	if err != nil {
		t.Fatal(err)
	}
	p.serve("s1")
	idle, err := net.Dial("tcp", p.listener.Addr().String()) // browsers connect ahead
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	for _, tt := range []struct {
		method, path string
		status       int
		text         string
	}{
		{"GET", "/favicon.ico", http.StatusNotFound, "no such page"},
		{"POST", "/callback?state=s1&code=c", http.StatusMethodNotAllowed, "only be read"},
		{"GET", "/callback?code=c", http.StatusBadRequest, "another login"},
		{"GET", "/callback?state=s2&code=c", http.StatusBadRequest, "another login"},
		{"GET", "/callback?state=s1&error=%3Cb%3E", http.StatusOK, "not logged in: &lt;b&gt;"},
	} {
		req, err := http.NewRequestWithContext(t.Context(), tt.method, strings.TrimSuffix(p.url, "/callback")+tt.path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != tt.status || !strings.Contains(string(body), tt.text) {
			t.Errorf("%s %s: %s, %q, %v; want %d with %q", tt.method, tt.path, res.Status, body, err, tt.status, tt.text)
		}
	}
	p.close() // does not wait for the idle connection
	if got := <-p.answers; got.Get("error") != "<b>" {
		t.Errorf("the login got %v, want the answer with its state", got)
	}
	if _, err := http.Get(p.url + "?" + url.Values{"state": {"s1"}}.Encode()); err == nil {
		t.Error("a closed page answers")
	}
}
