package headless

import (
	"math"
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/layout"
	"github.com/zeph-acp/zeph-acp/executors"
)

// Still shows what the screen has kept back, for a picture of a turn that goes on: the open end of a message, and the last
// lines of each running call. No update may follow.
func (s *Screen) Still() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.cards) > 0 {
		c := s.cards[0]
		c.endOutput()
		c.breakLine()
		c.ended = true
		s.flush()
	}
	s.finish()
	s.breakLine()
}

// Rest returns what Still would print, and whether lines were left out so far or there. The screen stays as it is, so that
// updates may follow.
func (s *Screen) Rest() (text string, folded bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	still := NewScreen(&b, s.styled)
	still.Full, still.Colourless, still.Unfolded, still.More, still.Columns, still.Config = s.Full, s.Colourless, s.Unfolded, s.More, s.Columns, s.Config
	still.session, still.block, still.midLine, still.folded, still.message = s.session, s.block, s.midLine, s.folded, s.message
	if s.message.layout != nil {
		still.message.layout = s.message.layout.Clone()
	}
	for _, c := range s.cards {
		still.cards = append(still.cards, c.clone(still))
	}
	still.Still()
	return b.String(), still.folded
}

// Question shows the details that a person needs to answer a permission request. What will happen and the options are left
// to the caller.
func (s *Screen) Question(p acp.RequestPermissionRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.cardFor(p.ToolCall)
	c.title = executors.WholeLine(p.ToolCall.Title)
	s.showQuestion(c, p)
	s.flush()
}

// Outcome shows a line of the client about the end of a turn or of a question.
func (s *Screen) Outcome(text string, failed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := dim
	if failed {
		st = red
	}
	s.beginBlock("outcome")
	s.write(s.rows(layout.Span{}, layout.Span{}, layout.Span{Text: Visible(text), Style: st}))
}

// extent returns how much is shown of a long text.
func (s *Screen) extent(e extent) extent {
	if s.Unfolded {
		return extent{head: math.MaxInt}
	}
	return e
}

// PlainTitle returns the title of a call in one line, without the marks of a code span.
func PlainTitle(title string) string { return executors.WholeLine(withoutCodeMarks(title)) }

// OneLine returns a text of the agent in one line, without control characters.
func OneLine(text string) string { return executors.WholeLine(Visible(text)) }

// Clean returns a text without control characters, but with its lines.
func Clean(text string) string { return new(cleaner).clean(text) }

// Added reports whether the outcome of a [Steer] is that the model will see the text.
func Added(outcome string) bool { return outcome == added }
