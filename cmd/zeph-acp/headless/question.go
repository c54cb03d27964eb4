package headless

import (
	"fmt"
	"io"
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/layout"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/visible"
)

// cardFor returns the open card of a call, or opens one for a question alone.
func (s *Screen) cardFor(t acp.ToolCall) *card {
	c := s.card(t.ToolCallID)
	if c == nil {
		c = s.open(t)
		c.onlyAsked = true
	}
	return c
}

// shows reports whether the call has an open card.
func (s *Screen) shows(t acp.ToolCall) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.card(t.ToolCallID) != nil
}

// note prints a line about a call.
func (s *Screen) note(t acp.ToolCall, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.cardFor(t)
	c.line(yellow, executors.WholeLine(text))
	if c.onlyAsked {
		c.end("asked", dim)
	}
	s.flush()
}

// question prints what will happen, the details that a person needs to check a call, and the options.
func (s *Screen) question(p acp.RequestPermissionRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.cardFor(p.ToolCall)
	s.focus(c)
	s.showQuestion(c, p)
	if !strings.HasSuffix(c.title, "?") { // else the title is the question
		c.line(bold, "Allow this?")
	}
	for i, o := range p.Options {
		c.line(plainText, fmt.Sprintf("  %d  %s", i+1, executors.WholeLine(o.Name)))
	}
	s.flush()
}

// showQuestion prints what will happen, and the details.
func (s *Screen) showQuestion(c *card, p acp.RequestPermissionRequest) {
	if title := executors.WholeLine(p.ToolCall.Title); title != c.title {
		c.spans(layout.Span{Text: title, Style: bold})
	}
	var diffs []acp.ToolContent
	for _, content := range p.ToolCall.Content {
		switch {
		case content.Type == "diff":
			diffs = append(diffs, content)
		case content.Content != nil && content.Content.Text != nil:
			c.showDiffs(diffs, false)
			diffs = nil
			c.showDetails(unfence(*content.Content.Text))
		}
	}
	c.showDiffs(diffs, false)
}

// details prints a text of a question.
func (s *Screen) details(t acp.ToolCall, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.cardFor(t)
	s.focus(c)
	c.showDetails(text)
	s.flush()
}

// showDetails shows a text by which the user decides, unless it is the title. It is not folded.
func (c *card) showDetails(text string) {
	if executors.WholeLine(text) == c.title {
		return
	}
	for l := range strings.SplitSeq(visible.Text(text), "\n") {
		c.spans(layout.Span{Text: layout.ExpandTabs(l)})
	}
}

// unfence removes the fence from a text that is a code block.
func unfence(text string) string {
	fence := text[:len(text)-len(strings.TrimLeft(text, "`"))]
	_, inside, ok := strings.Cut(text, "\n")
	inside, closed := strings.CutSuffix(strings.TrimRight(inside, "\n"), "\n"+fence)
	if len(fence) < 3 || !ok || !closed {
		return text
	}
	return inside
}

// prompt asks for an answer, which is typed after it.
func (s *Screen) prompt(t acp.ToolCall, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.cardFor(t)
	c.print(bold, text)
	s.focus(c)
}

// entered records that the person has ended a line. If it was typed after the status,
// only the line remains.
func (s *Screen) entered(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status.columns > 0 {
		s.status.columns = 0
		_, _ = io.WriteString(s.w, "\x1b[A\r\x1b[J"+Visible(strings.TrimSpace(line))+"\n")
	}
	s.lineEnded()
}

// answered continues after a question.
func (s *Screen) answered(t acp.ToolCall, how string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.breakLine()
	s.status.phase = "" // the call begins now
	if c := s.cardFor(t); c.onlyAsked {
		c.end(how, dim)
		s.flush()
	}
}

// Steered shows the outcome of a text for the turn.
func (s *Screen) Steered(line, outcome string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.beginBlock("steered")
	s.write(s.paint(dim, outcome+": "+executors.WholeLine(Visible(line))) + "\n")
}

// Interrupted starts a new line, once, after the person pressed Ctrl-C, which a
// terminal shows as ^C.
func (s *Screen) Interrupted() {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.interrupted:
	case s.status.columns > 0:
		s.eraseStatus()
	default:
		s.midLine = true
		s.breakLine()
	}
	s.interrupted = true
}
