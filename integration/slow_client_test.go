package integration

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// longStream streams an answer in very many small pieces, whose frames are many times
// their size.
type longStream struct {
	pieces int
	format string        // of a piece
	sent   atomic.Int64  // bytes that the agent or the network has accepted
	all    chan struct{} // closed when all were accepted
	gone   chan struct{} // closed when the agent abandoned the answer
}

func newTorrent() *longStream {
	s := &longStream{pieces: 150_000, format: "%06d ", all: make(chan struct{}), gone: make(chan struct{})}
	if raceEnabled() { // each piece costs ten times as much
		s.pieces, s.format = 15_000, "%0700d "
	}
	return s
}

func (s *longStream) text() string {
	var b strings.Builder
	for n := range s.pieces {
		fmt.Fprintf(&b, s.format, n)
	}
	return b.String()
}

func (s *longStream) answer(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	whole := fakemodel.Events([]fakemodel.Block{fakemodel.Say("")})
	end := strings.Index(whole, "event: content_block_stop")
	write := func(text string) bool {
		_, err := w.Write([]byte(text))
		s.sent.Add(int64(len(text)))
		return err == nil && r.Context().Err() == nil
	}
	var b bytes.Buffer
	b.WriteString(whole[:end])
	for n := range s.pieces {
		fmt.Fprintf(&b, "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\""+s.format+
			"\"}}\n\n", n)
		if b.Len() > 16<<10 {
			if !write(b.String()) {
				close(s.gone)
				return
			}
			b.Reset()
		}
	}
	b.WriteString(whole[end:] + fakemodel.Event("message_delta",
		`{"delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}}`) + fakemodel.Event("message_stop", `{}`))
	if !write(b.String()) {
		close(s.gone)
		return
	}
	close(s.all)
}

// stalled waits until the agent stops reading the answer. An agent that reads all of
// it while the client does not read would keep it in memory.
func (s *longStream) stalled(t *testing.T) {
	t.Helper()
	last, quiet := int64(-1), 0
	eventually(t, patience, "the agent to wait for its client", func() bool {
		select {
		case <-s.all:
			t.Fatal("the agent reads the whole answer while its client reads nothing")
		default:
		}
		now := s.sent.Load()
		if quiet++; now != last || now == 0 {
			last, quiet = now, 0
		}
		return quiet > 20
	})
}

// slowReader is a reader that can be slowed down to a byte a second.
type slowReader struct {
	io.Reader
	slow, fast chan struct{} // closed when that begins
}

func (d *slowReader) Read(p []byte) (int, error) {
	select {
	case <-d.slow:
	default:
		return d.Reader.Read(p)
	}
	select {
	case <-d.fast:
		return d.Reader.Read(p)
	case <-time.After(time.Second):
		return d.Reader.Read(p[:1])
	}
}

// slowClient starts an agent whose client stops reading at the first piece of the
// answer, or reads a byte a second from then on, until goOn is called.
func slowClient(t *testing.T, s *longStream, drips bool) (a *agent, session string, goOn func()) {
	t.Helper()
	p := fakemodel.NewAnthropic(t, s.answer)
	d := &slowReader{slow: make(chan struct{}), fast: make(chan struct{})}
	held := false
	a = launch(t, start{env: p.Env(), unchecked: true, wrapOutput: func(r io.Reader) io.Reader { d.Reader = r; return d }, afterLine: func(a *agent, n int) {
		if held {
			return
		}
		frames := a.agentFrames()
		if held = strings.Contains(frames[len(frames)-1].line, "agent_message_chunk"); held && drips {
			close(d.slow)
		} else if held {
			<-d.fast
		}
	}})
	t.Cleanup(func() { // before the agent is stopped
		select {
		case <-d.fast:
		default:
			close(d.fast)
		}
	})
	a.initialize()
	session = a.open()
	a.request(`1`, "session/prompt", promptParams(session, "tell me all"))
	s.stalled(t)
	return a, session, func() { close(d.fast) }
}

// said returns the agent's messages, joined.
func (a *agent) said() string {
	var b strings.Builder
	for _, f := range a.agentFrames() {
		var p struct {
			Update struct {
				Kind    string `json:"sessionUpdate"`
				Content struct{ Text string }
			}
		}
		if f.Method == "session/update" && json.Unmarshal(f.Params, &p) == nil && p.Update.Kind == "agent_message_chunk" {
			b.WriteString(p.Update.Content.Text)
		}
	}
	return b.String()
}

// TestSlowReader has a client that stops reading in the middle of an
// answer with 30 MiB of frames, or reads a byte a second. No text is lost, the memory is
// bounded, and the client can still cancel, close and hang up.
//
// Statement 133.
func TestSlowReader(t *testing.T) {
	t.Run("reads again", func(t *testing.T) {
		t.Parallel()
		s := newTorrent()
		a, _, goOn := slowClient(t, s, false)
		peak := statusKiB(t, a.cmd.Process.Pid, "VmHWM") >> 10
		goOn()
		a.ends(`1`)
		if said := a.said(); said != s.text() {
			t.Errorf("the client has %d bytes of %d", len(said), len(s.text()))
		}
		t.Logf("at most %d MiB resident while stalled", peak)
		if peak > 48 && !raceEnabled() {
			t.Errorf("%d MiB resident while stalled", peak)
		}
	})
	for name, method := range map[string]string{"cancels": "session/cancel", "closes": "session/close", "reads a byte a second": "session/cancel"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTorrent()
			a, session, goOn := slowClient(t, s, name == "reads a byte a second")
			if method == "session/close" {
				a.request(`2`, method, `{"sessionId":`+quote(session)+`}`)
			} else {
				a.notify(method, `{"sessionId":`+quote(session)+`}`)
			}
			within(t, promptly, "end of the model's answer, with a client that still does not read", s.gone)
			goOn()
			a.cancelledWithin(t, `1`)
			if said := a.said(); !strings.HasPrefix(s.text(), said) || said == "" {
				t.Errorf("the client has %d bytes, which are not the beginning of the answer", len(said))
			}
			if method == "session/close" {
				a.answer(`2`)
			}
			a.alive()
		})
	}
	t.Run("hangs up", func(t *testing.T) {
		t.Parallel()
		a, _, goOn := slowClient(t, newTorrent(), false)
		a.in.Close()
		eventually(t, promptly+time.Second, "the agent's exit", func() bool { return !alive(a.cmd.Process.Pid) })
		goOn()
		a.waitExit(patience)
		if a.status != 0 || a.stderr.String() != "" {
			t.Errorf("exit status %d, stderr %q", a.status, &a.stderr)
		}
	})
}
