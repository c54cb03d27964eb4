package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
)

// model is a server of Chat Completions on loopback. It answers immediately:
// with the calls that were set, then with a short text.
type model struct {
	base string // its base_url
	quit func() error

	mu      sync.Mutex
	calls   []string // yet to be made, as "name arguments"
	id      int
	arrived func() // called for each request; nil is not called
}

// newModel starts a model.
func newModel() (*model, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{}
	m := &model{base: "http://" + l.Addr().String() + "/v1", quit: server.Close}
	server.Handler = m
	go server.Serve(l)
	return m, nil
}

// script sets the calls of the next turn.
func (m *model) script(calls []string, arrived func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.calls, m.arrived = calls, arrived
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.URL.Path, "/chat/completions") {
		http.NotFound(w, r)
		return
	}
	_, _ = io.Copy(io.Discard, r.Body) // an agent that has exited is noticed on its pipes
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, m.next())
}

// next returns the next answer as a stream of events.
func (m *model) next() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.arrived != nil {
		m.arrived()
	}
	m.id++
	delta, reason := `"content":"Done."`, "stop"
	if len(m.calls) > 0 {
		name, arguments, _ := strings.Cut(m.calls[0], " ")
		m.calls = m.calls[1:]
		delta = fmt.Sprintf(`"tool_calls":[{"index":0,"id":"call_%d","type":"function","function":{"name":%q,"arguments":%q}}]`, m.id, name, arguments)
		reason = "tool_calls"
	}
	const event = `data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,%s}]}` + "\n\n"
	return fmt.Sprintf(event, `"delta":{"role":"assistant",`+delta+`},"finish_reason":null`) +
		fmt.Sprintf(event, `"delta":{},"finish_reason":"`+reason+`"`) + "data: [DONE]\n\n"
}
