// Package fakemodel plays the servers of model providers, for tests of the built
// binary.
//
// [Anthropic] answers by a script of Go values, [Ollama] by a script of JSON
// messages, and [Recorded] plays recordings of each protocol. A request that
// they do not expect is an error of the test.
package fakemodel

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

// Alone is an environment that keeps the binary from asking an Ollama that runs
// on this machine, and from asking providers for a list of their models.
var Alone = []string{"ZEPH_LLM_FIND_OLLAMA=false", "ZEPH_LLM_LIST_MODELS=false"}

// Anthropic is a fake Anthropic server on loopback. It answers requests in
// the order of its script.
type Anthropic struct {
	*httptest.Server
	t testing.TB
	// Choose, if not nil, answers instead of the script.
	Choose func(Request) Reply
	// Forget keeps no request, for tests with more than fit in memory.
	Forget bool

	mu     sync.Mutex
	script []Reply
	bodies []string
}

// NewAnthropic starts the server. A request after the end of the script is an
// error of t.
func NewAnthropic(t testing.TB, script ...Reply) *Anthropic {
	p := &Anthropic{t: t, script: script}
	p.Server = httptest.NewServer(p)
	t.Cleanup(func() { p.CloseClientConnections(); p.Close() })
	return p
}

// Env returns an environment in which the binary asks this server.
func (p *Anthropic) Env() []string {
	return append([]string{"ANTHROPIC_API_KEY=test", "ANTHROPIC_BASE_URL=" + p.URL}, Alone...)
}

// Then adds to the script.
func (p *Anthropic) Then(script ...Reply) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.script = append(p.script, script...)
}

// Drop removes the replies that are left.
func (p *Anthropic) Drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.script = nil
}

// Requests returns the bodies of the requests so far.
func (p *Anthropic) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.bodies)
}

// Request returns the nth request, from 0.
func (p *Anthropic) Request(n int) Request {
	p.t.Helper()
	var r Request
	p.decode(n, &r)
	return r
}

// decode decodes the nth request into v.
func (p *Anthropic) decode(n int, v any) {
	p.t.Helper()
	all := p.Requests()
	if n >= len(all) {
		p.t.Fatalf("the model was asked %d times, want %d", len(all), n+1)
	}
	if err := json.Unmarshal([]byte(all[n]), v); err != nil {
		p.t.Fatalf("request %d: %v", n, err)
	}
}

func (p *Anthropic) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the agent went away
	}
	switch key := r.Header.Get("X-Api-Key"); {
	case r.URL.Path == "/v1/models" && key != "" && key != "test": // login checks a key
		Refuse(http.StatusUnauthorized, "authentication_error", "invalid x-api-key")(w, r)
		return
	case slices.Contains([]string{"/props", "/v1/models", "/api/show"}, r.URL.Path): // Anthropic has no facts about a model of another name
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if r.URL.Path != "/v1/messages" || r.Header.Get("X-Api-Key") != "test" {
		p.t.Errorf("%s %s with key %q", r.Method, r.URL.Path, r.Header.Get("X-Api-Key"))
	}
	var req Request
	if err := json.Unmarshal(body, &req); err != nil {
		p.t.Errorf("request: %v", err)
	}
	req.Size = len(body)
	p.mu.Lock()
	if !p.Forget {
		p.bodies = append(p.bodies, string(body))
	}
	var answer Reply
	if p.Choose == nil && len(p.script) > 0 {
		answer, p.script = p.script[0], p.script[1:]
	}
	p.mu.Unlock()
	if p.Choose != nil {
		answer = p.Choose(req)
	}
	if answer == nil {
		p.t.Errorf("a request that the script does not know: %.500s", body)
		answer = Refuse(400, "invalid_request_error", "the script has ended")
	}
	answer(w, r)
}
