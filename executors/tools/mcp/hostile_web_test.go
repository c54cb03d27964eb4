package mcp

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
)

// hostileWeb is a server on the web with one bad habit.
type hostileWeb struct {
	habit   string
	hanging atomic.Int32 // answers to its requests that it never accepts
	most    atomic.Int32 // the most at once
	status  int          // of the answer to the first call
	refused atomic.Bool  // a call was answered with that status
	opened  atomic.Int32 // sessions
}

func (h *hostileWeb) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h.habit == "hangs at "+r.Method {
		<-r.Context().Done()
		return
	}
	if h.habit == "fails at "+r.Method {
		w.WriteHeader(http.StatusNotImplemented)
		return
	}
	if r.Method != http.MethodPost {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	var m struct {
		ID            json.RawMessage
		Method        string
		Result, Error json.RawMessage
	}
	_ = json.NewDecoder(r.Body).Decode(&m) // an empty frame is accepted below
	answer := func(result string) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
	}
	switch {
	case m.Result != nil || m.Error != nil:
		h.most.Store(max(h.most.Load(), h.hanging.Add(1)))
		<-r.Context().Done()
		h.hanging.Add(-1)
	case m.Method == "initialize":
		h.opened.Add(1)
		w.Header().Set("Mcp-Session-Id", "1")
		answer(`{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"x","version":"1"}}`)
	case m.Method == "tools/list":
		answer(`{"tools":[{"name":"call","inputSchema":{"type":"object"}}]}`)
	case m.Method == "tools/call" && h.habit == "asks and accepts no answer":
		w.Header().Set("Content-Type", "text/event-stream")
		for n := 0; r.Context().Err() == nil; n++ {
			if _, err := fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":\"p%d\",\"method\":\"ping\"}\n\n", n); err != nil {
				return
			}
		}
	case m.Method == "tools/call" && h.refused.CompareAndSwap(false, true):
		w.WriteHeader(h.status)
	case m.Method == "tools/call":
		answer(`{"content":[{"type":"text","text":"ok"}]}`)
	case m.ID != nil:
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"no such method"}}`, m.ID)
	default:
		w.WriteHeader(http.StatusAccepted)
	}
}

// TestHostileWebServers calls a tool of each hostile server. The number of connections
// stays bounded, and the end of this process waits for none of them.
func TestHostileWebServers(t *testing.T) {
	for habit, want := range map[string]string{
		"asks and accepts no answer": "did not answer in time",
		"hangs at GET":               "ok",
		"hangs at DELETE":            "ok",
		"fails at GET":               "ok",
	} {
		t.Run(habit, func(t *testing.T) {
			t.Parallel()
			h := &hostileWeb{habit: habit}
			h.refused.Store(true)
			server := httptest.NewServer(h)
			t.Cleanup(server.Close)
			f := newFixture(t)
			e := NewServer()
			e.Name, e.URL = "bad", server.URL
			if want != "ok" {
				e.TimeoutSecs = 2
			}
			s := f.open(e)
			if got := f.call(s, "bad__call", `{}`).ForModel(); !strings.Contains(got, want) {
				t.Errorf("the call: %.500s", got)
			}
			if most := h.most.Load(); most > maxAnswers {
				t.Errorf("%d answers at once", most)
			}
			closed := make(chan struct{})
			go func() {
				defer close(closed)
				f.Close()
			}()
			select {
			case <-closed:
			case <-time.After(time.Minute):
				t.Error("the end waits for the server")
			}
		})
	}
}

// TestRefusedCall checks that a status of one call fails that call, and that the connection
// goes on.
func TestRefusedCall(t *testing.T) {
	for status, want := range map[int]executors.Category{
		400: executors.PermanentFailure, 403: executors.PermanentFailure, 422: executors.PermanentFailure, 500: executors.ServerError,
		501: executors.ServerError, 503: executors.ServerError,
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			t.Parallel()
			h := &hostileWeb{status: status}
			server := httptest.NewServer(h)
			t.Cleanup(server.Close)
			f := newFixture(t)
			e := NewServer()
			e.Name, e.URL = "web", server.URL
			s := f.open(e)
			res := f.call(s, "web__call", `{}`)
			if res.Category() != want || res.Denied() {
				t.Errorf("the refused call: category %q, want %q; denied %t: %s", res.Category(), want, res.Denied(), res.ForModel())
			}
			if got := f.call(s, "web__call", `{}`).ForModel(); !strings.HasSuffix(got, "\nok") || h.opened.Load() != 1 {
				t.Errorf("the next call: %q in session %d, want ok in session 1", got, h.opened.Load())
			}
		})
	}
}

// TestIsAnswer distinguishes answers from requests by the beginning of their frames.
func TestIsAnswer(t *testing.T) {
	for frame, want := range map[string]bool{
		`{"jsonrpc":"2.0","id":1,"result":{}}`:                     true,
		`{"jsonrpc":"2.0","id":"a","error":{"code":1}}`:            true,
		`{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":[1]}}`: false,
		`{"jsonrpc":"2.0","method":"result"}`:                      false,
		`[]`:                                                       false,
		``:                                                         false,
	} {
		req := httptest.NewRequest(http.MethodPost, "/", nil)
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(frame)), nil }
		if got := isAnswer(req); got != want {
			t.Errorf("%s: %t", frame, got)
		}
	}
}
