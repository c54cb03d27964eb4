// Package llmtest is the shared code of the tests of models: servers that play a
// provider, requests, and events in a readable form. The binary does not contain
// it.
package llmtest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// Status returns a handler that answers with the status, body and headers.
func Status(code int, body string, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		for i := 0; i < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

// Collect reads a whole answer, and joins adjacent texts and thoughts.
func Collect(m llm.Model, ctx context.Context, req llm.Request) (events []llm.Event, err error) {
	for e, err := range m.Stream(ctx, req) {
		if err != nil {
			return events, err
		}
		if n := len(events); n > 0 && e.Text != "" && events[n-1].Text != "" {
			events[n-1].Text += e.Text
		} else if n > 0 && e.Thought != "" && events[n-1].Thought != "" {
			events[n-1].Thought += e.Thought
		} else {
			events = append(events, e)
		}
	}
	return events, nil
}

// Hello returns the simplest request.
func Hello() llm.Request { return llm.Request{Messages: []llm.Message{UserText("hello")}} }

// UserText returns a message of the user.
func UserText(text string) llm.Message { return UserBlocks(llm.Block{Text: text}) }

// Golden returns a file in testdata.
func Golden(t *testing.T, name string) []byte {
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Tools returns tools with schemas of every kind.
func Tools() []llm.Tool {
	return []llm.Tool{
		{Name: "bash", Aliases: "run_command", Invocation: llm.Invocation{Tag: "bash", Param: "command", Example: "ls", Also: "sh console"}, Schema: json.RawMessage(`{"type":"object","properties":{"command":{"type":"string","description":"What to\n run."},"background":{"type":"boolean"}},"required":["command"]}`)},
		{Name: "read", Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}`)},
		{Name: "write", Schema: json.RawMessage(`{"type":"object","properties":{"content":{"type":"string"},"path":{"type":"string"}},"required":["path","content"]}`)},
		{Name: "sleep", Schema: json.RawMessage(`{"type":"object","properties":{"seconds":{"type":"integer"},"why":true},"required":["seconds"]}`)},
		{Name: "list", Schema: json.RawMessage(`{}`)},
		{Name: "web_scrape", Invocation: llm.Invocation{Tag: "scrape"}, Schema: json.RawMessage(`{"type":"object","properties":{"url":{"type":"string"},"select":{"type":"string"}},"required":["url","select"]}`)},
	}
}

// UserBlocks returns a message of the user with these blocks.
func UserBlocks(blocks ...llm.Block) llm.Message { return llm.Message{Role: llm.User, Blocks: blocks} }

// Picture returns an image of that many bytes.
func Picture(size int) llm.Block {
	return llm.Block{Image: &llm.Image{MIME: "image/png", Data: bytes.Repeat([]byte{1}, size)}}
}

// Serve runs a server until the test ends.
func Serve(t testing.TB, answer http.HandlerFunc) *httptest.Server {
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s
}

// IsProgram reports whether a name is one of two programs.
func IsProgram(name string) bool { return name == "mkdir" || name == "rm" }
