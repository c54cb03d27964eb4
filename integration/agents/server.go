package agents

import (
	"compress/gzip"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// A Model is a server on loopback that speaks the protocols of all agents. It answers
// immediately: with the calls of its script, one each, and then with a short text.
type Model struct {
	Base string // http://host:port
	Quit func() error

	mu       sync.Mutex
	answers  int
	script   *script
	received Received
}

// Received is what a model got.
type Received struct {
	Answered int // calls that were made
	Requests []*Request
	Bodies   [][]byte
	Unserved []string // requests that the server does not know
	Absent   []string // tools that were called, although the request did not offer them
}

// A script is the calls of a turn.
type script struct {
	steps     int
	translate func(n int) ToolCall
	ended     chan struct{} // closed when the model has nothing more to do
	end       sync.Once
}

// NewModel starts a model without a script.
func NewModel() (*Model, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	server := &http.Server{}
	m := &Model{Base: "http://" + l.Addr().String(), Quit: server.Close, script: &script{ended: make(chan struct{})}}
	server.Handler = m
	go server.Serve(l)
	return m, nil
}

// Script sets the calls of the next turn, and forgets what the model received. The model calls
// translate with 0 to steps-1 when a request arrives that it answers with a call. The returned
// channel is closed when it has answered with text after the calls.
func (m *Model) Script(steps int, translate func(n int) ToolCall) (ended <-chan struct{}) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.received = Received{}
	m.script = &script{steps: steps, translate: translate, ended: make(chan struct{})}
	return m.script.ended
}

// Received returns what the model received since the last Script.
func (m *Model) Received() Received {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.received
}

func (m *Model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	protocol, streams := protocolOf(r.URL.Path, r.URL.RawQuery)
	if protocol == nil || r.Method != http.MethodPost {
		m.mu.Lock()
		m.received.Unserved = append(m.received.Unserved, r.Method+" "+r.URL.Path)
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
func (m *Model) answer(body []byte) (a answer, streamed bool, err error) {
	r, err := Parse(body)
	if err != nil {
		return answer{}, false, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	in, s := &m.received, m.script
	in.Requests = append(in.Requests, r)
	in.Bodies = append(in.Bodies, body)
	m.answers++
	a.id = m.answers
	for _, it := range r.Items {
		a.tokens += len(it.Text) / 4
	}
	streamed = strings.Contains(string(body), `"stream":true`) || strings.Contains(string(body), `"stream": true`)
	a.text = "Done."
	if len(r.Tools) == 0 { // a title or a summary
		return a, streamed, nil
	}
	if in.Answered == s.steps {
		s.end.Do(func() { close(s.ended) })
		return a, streamed, nil
	}
	a.text, a.call = "", s.translate(in.Answered)
	in.Answered++
	if !slices.Contains(r.Tools, a.call.Tool) && !slices.Contains(in.Absent, a.call.Tool) {
		in.Absent = append(in.Absent, a.call.Tool)
	}
	return a, streamed, nil
}
