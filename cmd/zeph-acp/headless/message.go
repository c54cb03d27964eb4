package headless

import (
	"bytes"
	"strings"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/layout"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/markdown"
)

// message is the message that is being streamed. A stream shows its pieces as they come,
// a terminal shows whole lines.
type message struct {
	id     string
	clean  cleaner
	gutter gutter
	style  style

	newline string // held back: newlines at the end of a message leave no gap

	partial partialLine      // of a terminal
	blank   bool             // of a terminal: an empty line comes before the next row
	started bool             // of a terminal: it has a row
	layout  *markdown.Stream // lays out the message; nil means that its lines are shown as they are
}

// chunk prints a piece of a message or a thought.
func (s *Screen) chunk(c acp.MessageChunk) {
	text := BlockText(c.Content)
	if s.block != c.Update || c.MessageID != s.message.id {
		if strings.Trim(text, "\r\n") == "" {
			return // nothing yet
		}
		s.beginBlock(c.Update)
		s.message = s.newMessage(c)
	}
	m := &s.message
	text = strings.ReplaceAll(m.clean.clean(text), "\r", "")
	if s.columns() > 0 {
		for _, line := range m.partial.add(text) {
			s.line(line)
		}
		return
	}
	if !s.midLine && m.newline == "" {
		text = strings.TrimLeft(text, "\n")
	}
	text = m.newline + text
	rest := strings.TrimRight(text, "\n")
	m.newline = text[len(rest):]
	if m.gutter.prefix == "" {
		s.write(rest)
		return
	}
	var b bytes.Buffer
	m.gutter.format(&b, rest, func(t string) string { return s.paint(m.style, t) })
	s.write(b.String())
}

// newMessage returns the message that a chunk begins.
func (s *Screen) newMessage(c acp.MessageChunk) message {
	m := message{id: c.MessageID}
	switch c.Update {
	case acp.UpdateAgentThought:
		m.gutter, m.style = s.gutter("┊ ", dim), dim
	case acp.UpdateUserMessage:
		m.gutter, m.style = s.gutter("> ", cyan), bold
	default:
		if columns := s.columns(); columns > 0 && s.styled {
			m.layout = markdown.New(columns)
			m.layout.Backquotes = s.Colourless
		}
	}
	return m
}

// line prints a complete line of a message.
func (s *Screen) line(line string) {
	m := &s.message
	switch {
	case m.layout != nil:
		s.printRows(m.layout.Line(line))
	case strings.TrimSpace(line) == "":
		m.blank = m.started
	default:
		if m.blank {
			s.write(strings.TrimRight(m.gutter.prefix, " ") + "\n")
		}
		m.blank, m.started = false, true
		s.write(s.rows(m.gutter.edge, m.gutter.edge, layout.Span{Text: layout.ExpandTabs(line), Style: m.style}))
	}
}

// printRows prints rows of the layout.
func (s *Screen) printRows(rows []markdown.Row) {
	for _, row := range rows {
		s.write(s.paintAll(row) + "\n")
	}
}

// finish prints the rest of the streamed message.
func (s *Screen) finish() {
	m := &s.message
	if m.partial != "" {
		s.line(string(m.partial))
	}
	if m.layout != nil {
		s.printRows(m.layout.End())
	}
	m.partial, m.layout, m.id = "", nil, ""
}

// BlockText returns the text of a content block, or a name in place of other content.
func BlockText(c acp.ContentBlock) string {
	switch {
	case c.Text != nil:
		return *c.Text
	case c.Type == "resource" && c.Resource != nil:
		return "@" + c.Resource.URI
	case c.Type == "resource_link":
		return "@" + c.URI
	case c.Type != "":
		return "(" + c.Type + ")"
	}
	return ""
}
