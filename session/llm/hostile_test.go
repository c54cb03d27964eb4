package llm

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// endless is a body that repeats a piece for ever, after a head.
type endless struct {
	head  io.Reader
	piece string
	read  int
}

func (e *endless) Read(p []byte) (int, error) {
	if n, _ := e.head.Read(p); n > 0 {
		return n, nil
	}
	n := 0
	for n+len(e.piece) <= len(p) {
		n += copy(p[n:], e.piece)
	}
	if n == 0 {
		n = copy(p, e.piece[e.read%len(e.piece):])
	}
	e.read += n
	return n, nil
}

func (e *endless) Close() error { return nil }

// TestEndless gets streams that never say anything whole, or never stop. They are
// given up before they fill the memory.
func TestEndless(t *testing.T) {
	block := `data: {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"read"}}` + "\n\n"
	for name, tt := range map[string]struct {
		head, piece string
		most        int
	}{
		"an event of many lines": {"", "data: x\n", maxEvent},
		"one line":               {"data: ", "x", maxEvent},
		"nothing but comments":   {"", ": still here\n\n", maxEvent},
		"arguments of a call": {block, `data: {"type":"content_block_delta","index":0,"delta":{"partial_json":"` +
			strings.Repeat("x", 16<<10) + `"}}` + "\n\n", maxStream},
	} {
		t.Run(name, func(t *testing.T) {
			body := &endless{head: strings.NewReader(tt.head), piece: tt.piece}
			e := &endpoint{provider: "p"}
			open := func(context.Context) (*http.Response, error) {
				return &http.Response{Header: http.Header{}, Body: body}, nil
			}
			var last error
			for _, err := range e.stream(t.Context(), open, sseChunks, func() answer { return new(claudeAnswer) }) {
				last = err
			}
			if f, ok := errors.AsType[*Error](last); !ok || f.Again {
				t.Errorf("error %v, want one that tells not to try again", last)
			}
			if body.read > tt.most+1<<20 {
				t.Errorf("read %d MiB, want %d at most", body.read>>20, tt.most>>20)
			}
		})
	}
}

// TestEndlessList bounds a list of models, which the SDKs read to its end.
func TestEndlessList(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"data":[{"id":"`)
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, strings.Repeat("a", 64<<10))
		}
	})
	for _, kind := range []string{TypeClaude, TypeCompatible} {
		m, err := Provider{Type: kind, Name: "p", Model: "m", BaseURL: s.URL}.open(func(string) string { return wireKey })
		if err != nil {
			t.Fatal(err)
		}
		l, _ := capability[lister](m)
		if list, err := l.List(t.Context()); err == nil || len(list) > 0 {
			t.Errorf("%s: %d models, error %v, want an error", kind, len(list), err)
		}
	}
}

// TestTokenCounts reads counts that cannot be. They never cost the answer, and what
// comes of them can be shown.
func TestTokenCounts(t *testing.T) {
	for count, want := range map[string]int{
		"7": 7, "7.5": 7, "1e3": 1000, "-7": 0, "null": 0, `"7"`: 0, "[]": 0,
		"9223372036854775807": mostCounted, "18446744073709551616": mostCounted, "1e400": mostCounted,
	} {
		var u chatUsage
		if err := json.Unmarshal([]byte(`{"prompt_tokens":`+count+`,"completion_tokens":`+count+`}`), &u); err != nil {
			t.Errorf("%s: %v", count, err)
		}
		if diff := cmp.Diff(Event{Usage: &Usage{Input: want, Output: want}}, u.event()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", count, diff)
		}
	}
}

// TestFailureIsClean gets messages with the key, and with what steers a terminal.
func TestFailureIsClean(t *testing.T) {
	e := &endpoint{provider: "p", apiKey: func() string { return wireKey }}
	for message, want := range map[string]string{
		"bad " + wireKey: "bad [key]",
		strings.Repeat("y", maxMessage-10) + wireKey: strings.Repeat("y", maxMessage-10) + "[key]",
		"\x1b[31mred\x00\u009b1m \r\n end":           "[31mred 1m end",
	} {
		f, _ := errors.AsType[*Error](e.failure(&statusError{status: 400, message: message}))
		if f.Message != want {
			t.Errorf("%q: %q, want %q", message, f.Message, want)
		}
		for kind, err := range map[string]error{
			"a body that is no JSON": newStatusError(&http.Response{StatusCode: 400}, []byte(message)),
			"a fault in a stream":    streamFault([]byte(message)),
		} {
			if f, _ := errors.AsType[*Error](e.failure(err)); f.Message != want {
				t.Errorf("%s, %q: %q, want %q", kind, message, f.Message, want)
			}
		}
	}
}
