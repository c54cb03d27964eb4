package headless

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/layout"
	"github.com/zeph-acp/zeph-acp/executors"
)

const (
	tick  = 125 * time.Millisecond
	quiet = 300 * time.Millisecond // without output before the status appears
)

// frames are the states of the spinner.
var frames = []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")

// status is a line below the output that shows what the turn waits for. It is erased
// before each output, so it leaves no mark.
type status struct {
	columns int       // of the text on the screen; 0 if there is none
	wrote   time.Time // the last output
	phase   string    // what the turn waits for
	since   time.Time // when that began
	frame   int
}

// Spin shows a status with the elapsed time while the turn waits, until stop is called.
// The screen must be a styled terminal; otherwise Spin does nothing.
func (s *Screen) Spin() (stop func()) {
	if !s.styled || s.columns() <= 0 {
		return func() {}
	}
	done := make(chan struct{})
	var ticking sync.WaitGroup
	ticking.Go(func() {
		ticker := time.NewTicker(tick)
		defer ticker.Stop()
		for {
			select {
			case now := <-ticker.C:
				s.tick(now)
			case <-done:
				return
			}
		}
	})
	return sync.OnceFunc(func() {
		close(done)
		ticking.Wait()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.eraseStatus()
	})
}

// tick shows the next state of the status.
func (s *Screen) tick(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := &s.status
	phase, detail := s.waitsFor()
	if phase != st.phase || st.since.IsZero() {
		st.phase, st.since = phase, now
	}
	if s.midLine || s.idle || s.interrupted || now.Sub(st.wrote) < quiet {
		return
	}
	st.frame = (st.frame + 1) % len(frames)
	text := fmt.Sprintf("%c %4s ", frames[st.frame], Elapsed(now.Sub(st.since)))
	if detail != "" {
		text += layout.Cut(phase, s.columns()/3) + " · " + detail
	} else {
		text += phase
	}
	s.drawStatus(text)
}

// waitsFor returns the name of the work that the turn waits for, and its progress.
func (s *Screen) waitsFor() (phase, detail string) {
	if len(s.cards) > 0 {
		c := s.cards[0]
		if c.fold.seen > c.fold.head {
			detail = thousands(c.fold.seen) + " lines"
		}
		if line := strings.TrimSpace(overwritten(string(c.partial))); line != "" {
			detail = executors.WholeLine(shortened(line))
		}
		return c.title, detail
	}
	switch s.block {
	case acp.UpdateAgentMessage:
		return "writing", ""
	case acp.UpdateAgentThought:
		return "thinking", ""
	}
	return "waiting for the model", ""
}

// Elapsed returns a duration in few columns.
func Elapsed(d time.Duration) string {
	if d < 100*time.Second {
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}

// drawStatus shows a text below the output. If the user has begun to type after it, the
// typed text stays.
func (s *Screen) drawStatus(text string) {
	if s.status.columns >= s.columns() { // the terminal has become narrower
		s.eraseStatus()
	}
	text = layout.Cut(text, s.columns()-2)
	n := layout.Columns(text)
	if was := s.status.columns; was >= n { // it must not shrink: the typed text is after it
		text += strings.Repeat(" ", was-n)
		_, _ = io.WriteString(s.w, "\x1b7\r"+s.paint(dim, text)+"\x1b8")
		return
	}
	s.status.columns = n
	_, _ = io.WriteString(s.w, "\r\x1b[K"+s.paint(dim, text)+" ")
}

// eraseStatus removes the status from the screen. A terminal that has become narrower shows
// it in several rows.
func (s *Screen) eraseStatus() {
	n := s.status.columns
	if n == 0 {
		return
	}
	s.status.columns = 0
	erase := "\r\x1b[K"
	if width := s.columns(); width > 0 && n >= width {
		erase = fmt.Sprintf("\x1b[%dA\r\x1b[J", n/width)
	}
	_, _ = io.WriteString(s.w, erase)
}
