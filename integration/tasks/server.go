package main

import (
	"compress/gzip"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
)

// A model is a server that answers requests for answers in any protocol with the calls of a
// task, one each, and then with a text.
type model struct {
	base string // http://host:port
	quit func() error

	mu        sync.Mutex
	answered  int
	requests  []*request
	bodies    [][]byte
	unserved  []string // requests that the server does not know
	translate func(n int) toolCall
	steps     int
	ended     chan struct{} // closed when the model has nothing more to do
	end       sync.Once
}

// A toolCall is a call in the names of an agent.
type toolCall struct {
	tool  string
	input any
}

func newModel(steps int, translate func(n int) toolCall) (*model, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{}
	m := &model{base: "http://" + l.Addr().String(), quit: server.Close, steps: steps, translate: translate, ended: make(chan struct{})}
	server.Handler = m
	go server.Serve(l)
	return m, nil
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	protocol, streams := protocolOf(r.URL.Path, r.URL.RawQuery)
	if protocol == nil || r.Method != http.MethodPost {
		m.mu.Lock()
		m.unserved = append(m.unserved, r.Method+" "+r.URL.Path)
		m.mu.Unlock()
		http.NotFound(w, r)
		return
	}
	body, err := readBody(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	a, streamed, err := m.answer(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if streams || streamed {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, protocol.stream(a))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, protocol.whole(a))
}

func readBody(r *http.Request) ([]byte, error) {
	switch r.Header.Get("Content-Encoding") {
	case "":
		return io.ReadAll(r.Body)
	case "gzip":
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			return nil, err
		}
		return io.ReadAll(z)
	}
	return nil, errors.New("unknown encoding " + r.Header.Get("Content-Encoding"))
}

// answer records a request and returns its answer.
func (m *model) answer(body []byte) (a answer, streamed bool, err error) {
	r, err := parse(body)
	if err != nil {
		return answer{}, false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, r)
	m.bodies = append(m.bodies, body)
	a.id = len(m.requests)
	for _, it := range r.items {
		a.tokens += len(it.text) / 4
	}
	streamed = strings.Contains(string(body), `"stream":true`) || strings.Contains(string(body), `"stream": true`)
	a.text = "Done."
	if len(r.tools) == 0 { // a title or a summary
		return a, streamed, nil
	}
	if m.answered == m.steps {
		m.end.Do(func() { close(m.ended) })
		return a, streamed, nil
	}
	a.text, a.call = "", m.translate(m.answered)
	m.answered++
	return a, streamed, nil
}
