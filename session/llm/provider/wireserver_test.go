package provider

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/text/backoff"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
)

// wireServer is a server for a dialect.
type wireServer struct {
	*httptest.Server
	t       testing.TB
	dialect dialect
	hang    bool          // after the body of the first answer, the connection hangs
	mute    bool          // sends nothing, not even a status
	asked   chan struct{} // if not nil, closed when a request hangs
	gone    chan struct{} // closed when the client left a hanging answer

	mu     sync.Mutex
	bodies []string
}

// newWireServer answers with the fixtures in turn, and repeats the last one.
func newWireServer(t testing.TB, name string, d dialect, answers ...string) *wireServer {
	s := &wireServer{t: t, dialect: d, gone: make(chan struct{})}
	s.Server = llmtest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		header, value, _ := strings.Cut(d.auth, ": ")
		if err != nil || !json.Valid(body) || r.Method != http.MethodPost || r.URL.Path != d.path && d.aside[r.URL.Path] == "" || r.Header.Get(header) != value {
			t.Errorf("%s %s with %v: %v\n%s", r.Method, r.URL.Path, r.Header, err, body)
		}
		s.mu.Lock()
		file := d.aside[r.URL.Path]
		if file == "" {
			s.bodies = append(s.bodies, string(body))
			file = answers[min(len(s.bodies), len(answers))-1]
		}
		s.mu.Unlock()
		res := fixture(t, name, file)
		for key, values := range res.Header {
			w.Header()[key] = values
		}
		if !s.mute || r.URL.Path != d.path {
			w.WriteHeader(res.StatusCode)
			_, _ = io.Copy(w, res.Body)
		}
		if (s.hang || s.mute) && r.URL.Path == d.path {
			if s.hang {
				_ = http.NewResponseController(w).Flush()
			}
			if s.asked != nil {
				close(s.asked)
			}
			<-r.Context().Done()
			close(s.gone)
		}
	})
	return s
}

// model returns Select's model for the server.
func (s *wireServer) model() llm.Model {
	p := s.dialect.provider
	p.BaseURL = s.URL
	m, err := selectWith(Config{Providers: []Provider{p}, Retry: wireRetry}, func(name string) string {
		if name == s.dialect.keyEnv {
			return wireKey
		}
		return ""
	}, nil, "", wireClock(new(llmtest.IdleClock)))
	if err != nil {
		s.t.Fatal(err)
	}
	return m
}

// fixture returns a response as it was recorded.
func fixture(t testing.TB, dialect, name string) *http.Response {
	raw, err := os.ReadFile(filepath.Join("testdata", "wire", dialect, name+".txt"))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(raw)), nil)
	if err != nil {
		t.Fatalf("%s/%s: %v", dialect, name, err)
	}
	return res
}

func fixtureBody(t testing.TB, res *http.Response) string {
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func exists(dialect, name string) bool {
	_, err := os.Stat(filepath.Join("testdata", "wire", dialect, name+".txt"))
	return err == nil
}

// plain returns the events without the parts that differ between providers.
func plain(t *testing.T, events []llm.Event) (out []llm.Event) {
	ids := map[string]bool{}
	for _, ev := range events {
		switch {
		case ev.Usage != nil, ev.Opaque != nil:
			continue
		case ev.Wait != nil:
			ev.Wait = &llm.Wait{For: ev.Wait.For, Try: ev.Wait.Try, Of: ev.Wait.Of}
		case ev.Call != nil:
			if ev.Call.ID == "" || ids[ev.Call.ID] {
				t.Errorf("the ID of %+v is not its own", ev.Call)
			}
			ids[ev.Call.ID] = true
			var input any
			if err := json.Unmarshal(ev.Call.Input, &input); err != nil {
				t.Errorf("input %s: %v", ev.Call.Input, err)
			}
			raw, _ := json.Marshal(input)
			ev = wireCall(ev.Call.Name, string(raw))
		}
		n := len(out)
		switch {
		case n > 0 && ev.Text != "" && out[n-1].Text != "":
			out[n-1].Text += ev.Text
		case n > 0 && ev.Thought != "" && out[n-1].Thought != "":
			out[n-1].Thought += ev.Thought
		default:
			out = append(out, ev)
		}
	}
	return out
}

// blocksOf returns an answer in the form of the history.
func blocksOf(events []llm.Event) (blocks []llm.Block) {
	for _, ev := range events {
		switch n := len(blocks); {
		case ev.Text != "":
			blocks = append(blocks, llm.Block{Text: ev.Text})
		case ev.Thought != "":
			blocks = append(blocks, llm.Block{Thought: ev.Thought})
		case ev.Opaque != nil && n > 0 && blocks[n-1].Thought != "" && blocks[n-1].Opaque == nil:
			blocks[n-1].Opaque = ev.Opaque
		case ev.Opaque != nil:
			blocks = append(blocks, llm.Block{Opaque: ev.Opaque})
		case ev.Call != nil:
			blocks = append(blocks, llm.Block{Call: ev.Call})
		}
	}
	return blocks
}

func wireClock(c *llmtest.IdleClock) backoff.Clock {
	return backoff.Clock{Now: c.Now, Sleep: c.Sleep, Random: func() float64 { return 0 }}
}
