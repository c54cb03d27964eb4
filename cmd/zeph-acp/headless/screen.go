package headless

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/layout"
	"github.com/zeph-acp/zeph-acp/executors"
)

// Screen shows a turn to a person: the text as it streams, and a card for every
// tool call. Output of concurrent calls is not mixed: the first card prints, the
// others buffer their output until their turn. Create it with NewScreen.
type Screen struct {
	// Full shows long texts and diffs in full. Otherwise the screen shows their
	// beginning, and the tool's own notes at the end.
	Full bool
	// Colourless leaves the colours out of a styled screen. Bold and dim text stays.
	Colourless bool
	// Unfolded shows long texts and diffs in full too, but laid out for the terminal, and without the notes for models.
	Unfolded bool
	// More tells the person where the rest of a folded text is; empty names the command that shows the session.
	More string
	// Columns returns the width of the terminal. Nil, or 0 columns, is a stream: text
	// appears as it comes, and lines are not wrapped.
	Columns func() int
	// Config is the file for the user's permission rules; empty means that
	// hints do not name it.
	Config string
	// Footer returns a line about the turn that ended, shown in place of the stop reason
	// "end_turn"; nil if there is none.
	Footer func() string

	w      io.Writer
	styled bool // escape sequences, and Markdown laid out

	mu          sync.Mutex
	session     string  // the id of the session
	block       string  // the kind of the last printed update, or ""
	midLine     bool    // the cursor is inside a line
	interrupted bool    // see Interrupted
	message     message // the message or thought that is being streamed
	cards       []*card // the running calls; the first one prints
	terminals   map[string]*screenTerminal
	status      status
	idle        bool // no turn runs, see Idle
	folded      bool // lines were left out
}

// NewScreen returns a Screen that prints to w; a styled one uses escape sequences.
// Write errors are left to w.
func NewScreen(w io.Writer, styled bool) *Screen {
	return &Screen{w: w, styled: styled, terminals: map[string]*screenTerminal{}}
}

// screenTerminal is the output of a terminal.
type screenTerminal struct {
	clean   cleaner
	card    *card  // of the terminal's call; nil until an update names that call
	pending string // output before that update
}

// Update shows a session/update. It ignores unknown kinds.
func (s *Screen) Update(params json.RawMessage) {
	session, kind, update, ok := Parts(params)
	if !ok {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.session = session
	switch kind {
	case acp.UpdateUserMessage, acp.UpdateAgentMessage, acp.UpdateAgentThought:
		var m acp.MessageChunk
		if json.Unmarshal(update, &m) == nil {
			s.chunk(m)
		}
	case acp.UpdateToolCall, acp.UpdateToolCallPatch:
		var t acp.ToolCall
		if json.Unmarshal(update, &t) == nil {
			s.toolCall(t)
		}
	case acp.UpdatePlan:
		var plan struct {
			Entries []acp.PlanEntry `json:"entries"`
		}
		if json.Unmarshal(update, &plan) == nil {
			s.plan(plan.Entries)
		}
	case acp.UpdateNotice:
		var n acp.Notice
		if json.Unmarshal(update, &n) == nil && n.Severity != "info" { // hints are for editors
			s.printOutcome(yellow, n.Title)
		}
	case acp.UpdateCompaction: // the first text reports the compaction, the next is the summary
		var c acp.CompactionUpdate
		if json.Unmarshal(update, &c) == nil && c.Status == acp.CompactionCompleted && len(c.Summary) > 0 {
			s.printOutcome(dim, BlockText(c.Summary[0]))
		}
	}
}

// plan shows the current plan as a list.
func (s *Screen) plan(entries []acp.PlanEntry) {
	s.beginBlock(acp.UpdatePlan)
	for _, e := range entries {
		mark, text := layout.Span{Text: "[ ] "}, layout.Span{Text: executors.WholeLine(e.Content)}
		switch e.Status {
		case "completed":
			mark, text.Style = layout.Span{Text: "[x] ", Style: green}, dim
		case "in_progress":
			mark, text.Style = layout.Span{Text: "[>] ", Style: yellow}, bold
		}
		s.write(s.rows(mark, layout.Span{Text: "    "}, text))
	}
}

// Output shows a terminal's output inside the card of its call.
func (s *Screen) Output(terminal string, text []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.terminal(terminal)
	clean := o.clean.clean(string(text))
	if o.card == nil {
		o.pending += clean
		return
	}
	o.card.showOutput(clean)
	s.flush()
}

// terminal returns the output of a terminal.
func (s *Screen) terminal(terminal string) *screenTerminal {
	o := s.terminals[terminal]
	if o == nil {
		o = &screenTerminal{}
		s.terminals[terminal] = o
	}
	return o
}

// End shows the end of the turn: the stop reason, unless the model ended the turn by itself,
// and the footer. An error is left to the caller.
func (s *Screen) End(stop acp.StopReason, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endCards()
	s.finish()
	s.breakLine()
	switch {
	case err != nil:
	case s.Footer == nil && stop != acp.StopEndTurn:
		s.printOutcome(dim, stop.Sentence())
	case s.Footer != nil:
		if stop != acp.StopEndTurn {
			s.printOutcome(yellow, stop.Sentence())
		}
		s.printOutcome(dim, s.Footer())
	}
}

// EndLine ends an unfinished line, so that another writer may begin one.
func (s *Screen) EndLine() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.cards) == 0 {
		s.finish()
		s.breakLine()
	}
}

// Idle shows that a turn has ended and that the next prompt is awaited. The reason is shown
// unless the model ended the turn by itself.
func (s *Screen) Idle(stop acp.StopReason, failure string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.idle {
		return
	}
	s.endCards()
	s.finish()
	switch {
	case failure != "":
		s.printOutcome(red, failure)
	case stop != "" && stop != acp.StopEndTurn:
		s.printOutcome(yellow, stop.Sentence())
	}
	if s.block != "" {
		s.write("\n")
	}
	s.block, s.idle = "", true // the next output needs no empty line before it
}

// Busy shows that a prompt was sent, which the user may have just typed.
func (s *Screen) Busy(typed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle, s.status.phase = false, ""
	if typed {
		s.block = "prompt"
	}
}

// Say shows a text of the client itself.
func (s *Screen) Say(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.beginBlock("said")
	for line := range strings.SplitSeq(text, "\n") {
		s.write(s.rows(layout.Span{}, layout.Span{}, layout.Span{Text: layout.ExpandTabs(line), Style: dim}))
	}
}

// Markdown shows a document, laid out like an answer of the model.
func (s *Screen) Markdown(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.chunk(acp.MessageChunk{Update: acp.UpdateAgentMessage, Content: acp.TextBlock(text)})
	s.finish()
	s.breakLine()
}

// Ended shows how a past turn ended: by a stop reason, unless the model ended it by itself,
// or with an error. Unlike after End, more turns may follow.
func (s *Screen) Ended(stop acp.StopReason, failure string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endCards()
	s.finish()
	s.breakLine()
	switch stop {
	case acp.StopEndTurn:
	case "":
		s.printOutcome(red, failure)
	default:
		s.printOutcome(dim, stop.Sentence())
	}
}

// endCards ends the cards of calls that have no result.
func (s *Screen) endCards() {
	for len(s.cards) > 0 {
		s.cards[0].end("not finished", yellow)
		s.flush()
	}
}

// printOutcome prints a line about the end of a turn.
func (s *Screen) printOutcome(st style, how string) {
	s.beginBlock("end")
	s.write(s.rows(layout.Span{}, layout.Span{}, layout.Span{Text: executors.WholeLine(how), Style: st}))
}

// toolCall opens a card, or updates it.
func (s *Screen) toolCall(t acp.ToolCall) {
	c := s.card(t.ToolCallID)
	if c == nil {
		if t.Update != acp.UpdateToolCall {
			return
		}
		c = s.open(t)
	}
	c.update(t)
	s.flush()
}

// card returns the open card of a call; nil if there is none.
func (s *Screen) card(id string) *card {
	i := slices.IndexFunc(s.cards, func(c *card) bool { return c.id == id })
	if i < 0 {
		return nil
	}
	return s.cards[i]
}

// open appends a card to the open ones.
func (s *Screen) open(t acp.ToolCall) *card {
	c := newCard(s, t)
	s.cards = append(s.cards, c)
	return c
}

// focus moves a card to the front, so that it prints.
func (s *Screen) focus(c *card) {
	if i := slices.Index(s.cards, c); i > 0 {
		s.breakLine()
		copy(s.cards[1:], s.cards[:i])
		s.cards[0] = c
	}
	s.flush()
}

// flush prints the buffered output of the first card. If that card has ended, the
// next one becomes the first.
func (s *Screen) flush() {
	for len(s.cards) > 0 {
		c := s.cards[0]
		if c.out.Len() > 0 {
			if s.block != acp.UpdateToolCall {
				s.beginBlock(acp.UpdateToolCall)
			}
			s.write(c.out.String())
			c.out.Reset()
		}
		if !c.ended {
			return
		}
		s.cards = s.cards[1:]
	}
}

// beginBlock starts a block of a kind, with an empty line before it.
func (s *Screen) beginBlock(block string) {
	s.finish()
	s.breakLine()
	if s.block != "" {
		s.write("\n")
	}
	s.block = block
}

// breakLine ends an unfinished line.
func (s *Screen) breakLine() {
	if !s.midLine {
		return
	}
	s.write("\n")
	s.lineEnded()
}

// lineEnded records that the cursor is at the beginning of a line.
func (s *Screen) lineEnded() {
	s.midLine = false
	s.message.newline, s.message.gutter.midLine = "", false
	if len(s.cards) > 0 {
		s.cards[0].gutter.midLine = false
	}
}

// write prints a text after erasing the status.
func (s *Screen) write(text string) {
	if text == "" {
		return
	}
	s.eraseStatus()
	s.status.wrote = time.Now()
	s.midLine = !strings.HasSuffix(text, "\n")
	_, _ = io.WriteString(s.w, text)
}
