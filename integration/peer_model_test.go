package integration

import (
	"compress/gzip"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// wholeAnswer is the body of a complete answer.
var wholeAnswer = fakemodel.Events([]fakemodel.Block{fakemodel.Say("Größe ☂ 🎉.")}) +
	fakemodel.Event("message_delta", `{"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}}`) + fakemodel.Event("message_stop", `{}`)

// inPieces returns a reply that sends a body in pieces, each in a chunk of its own.
func inPieces(body string, size int, wait time.Duration) fakemodel.Reply {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for piece := range slices.Chunk([]byte(body), size) {
			if _, err := w.Write(piece); err != nil || r.Context().Err() != nil {
				return
			}
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-time.After(wait):
			}
		}
	}
}

// sends returns a reply with a body of some type.
func sends(contentType, body string) fakemodel.Reply {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write([]byte(body)) // the agent may be gone
	}
}

// TestOddModel has models whose answers have other forms than usual. The turn has the
// text of the answer, or an error that names the cause, and the next one works.
func TestOddModel(t *testing.T) {
	const text = "Größe ☂ 🎉."
	openAI := `data: {"id":"x","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"hi"},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	ollama := `{"model":"m","message":{"role":"assistant","content":"hi"},"done":true,"done_reason":"stop"}` + "\n"
	for name, tt := range map[string]struct {
		script []fakemodel.Reply
		want   string // the answer, or a part of the error
	}{
		"byte by byte":        {[]fakemodel.Reply{inPieces(wholeAnswer, 1, 0)}, text},
		"seven bytes at once": {[]fakemodel.Reply{inPieces(wholeAnswer, 7, time.Millisecond)}, text},
		"CRLF":                {[]fakemodel.Reply{inPieces(strings.ReplaceAll(wholeAnswer, "\n", "\r\n"), 64, 0)}, text},
		"no end": {
			[]fakemodel.Reply{
				sends("text/event-stream", fakemodel.Events([]fakemodel.Block{fakemodel.Say("I was")})),
				sends("text/event-stream", wholeAnswer),
			},
			text,
		},
		"never an end":           {slices.Repeat([]fakemodel.Reply{sends("text/event-stream", fakemodel.Events(nil))}, 2), "claude"},
		"nothing":                {slices.Repeat([]fakemodel.Reply{sends("text/event-stream", "")}, 2), "claude"},
		"gzip":                   {[]fakemodel.Reply{zipped(len(wholeAnswer))}, text},
		"gzip, broken":           {slices.Repeat([]fakemodel.Reply{zipped(100)}, 2), "claude"},
		"OpenAI's protocol":      {slices.Repeat([]fakemodel.Reply{sends("text/event-stream", openAI)}, 2), "claude"},
		"Ollama's protocol":      {slices.Repeat([]fakemodel.Reply{sends("application/x-ndjson", ollama)}, 2), "claude"},
		"flaps":                  {[]fakemodel.Reply{sends("text/event-stream", openAI), sends("text/event-stream", wholeAnswer)}, ""},
		"redirects to itself":    {slices.Repeat([]fakemodel.Reply{redirects("/v1/messages")}, 12), "redirects"},
		"redirects to a file":    {slices.Repeat([]fakemodel.Reply{redirects("file:///etc/passwd")}, 2), "redirects"},
		"an error with status 0": {slices.Repeat([]fakemodel.Reply{hijacked("HTTP/1.1 000 \r\n\r\n")}, 2), "claude"},
		"no HTTP":                {slices.Repeat([]fakemodel.Reply{hijacked("SSH-2.0-OpenSSH_9\r\n")}, 2), "claude"},
		"a wrong length": {
			slices.Repeat([]fakemodel.Reply{hijacked("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 9\r\n\r\ndata: {}")}, 2),
			"claude",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakemodel.NewAnthropic(t, tt.script...)
			a := connect(t, start{env: slices.Concat(oneRetry, p.Env())})
			s := a.open()
			a.request(`1`, "session/prompt", promptParams(s, "one"))
			f := a.answer(`1`)
			switch {
			case f.Error == nil && !strings.Contains(a.said(), tt.want):
				t.Errorf("the user reads %q", a.said())
			case f.Error != nil && (tt.want == text || f.Error.Code != -32603 || !strings.Contains(f.Error.Message, tt.want)):
				t.Errorf("%s", f.line)
			}
			p.Drop()
			p.Then(fakemodel.Answer(fakemodel.Say("Here again.")))
			a.request(`2`, "session/prompt", promptParams(s, "two"))
			if f := a.answer(`2`); !strings.Contains(string(f.Result), "end_turn") || !strings.Contains(a.said(), "Here again.") {
				t.Errorf("the next turn: %s", f.line)
			}
		})
	}
}

// zipped returns a reply that sends the first bytes of the answer with gzip.
func zipped(n int) fakemodel.Reply {
	return func(w http.ResponseWriter, _ *http.Request) {
		var b strings.Builder
		z := gzip.NewWriter(&b)
		_, _ = z.Write([]byte(wholeAnswer)) // a Builder has no errors
		_ = z.Close()
		w.Header().Set("Content-Type", "text/event-stream")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write([]byte(b.String()[:min(n, b.Len())])) // the agent may be gone
	}
}

func redirects(to string) fakemodel.Reply {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusTemporaryRedirect)
	}
}

// hijacked returns a reply that writes raw text and closes the connection.
func hijacked(text string) fakemodel.Reply {
	return func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		fmt.Fprint(conn, text)
	}
}

// TestModelOfOneByteASecond cancels a turn whose model sends a byte a second.
func TestModelOfOneByteASecond(t *testing.T) {
	p := fakemodel.NewAnthropic(t, inPieces(wholeAnswer, 1, time.Second))
	a := connect(t, start{env: p.Env()})
	s := a.open()
	a.request(`1`, "session/prompt", promptParams(s, "one"))
	eventually(t, patience, "the request", func() bool { return len(p.Requests()) == 1 })
	a.notify("session/cancel", `{"sessionId":`+quote(s)+`}`)
	a.cancelledWithin(t, `1`)
	p.Then(fakemodel.Answer(fakemodel.Say("Here.")))
	a.runTurn(s, "two")
}
