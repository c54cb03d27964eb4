package textcalls

import (
	"strings"
)

// The markup in which some models were trained to call tools.
const (
	xmlOpen  = "<tool_call>"
	xmlClose = "</tool_call>"
)

// block is a piece of a text that may be a tool call.
type block struct {
	fence         // of a block in xmlOpen, only lang is set
	body   string // without the fences and their indent
	closed bool
}

// scanner splits a text, which arrives in chunks of any length, into blocks that may be
// tool calls and the text around them. Only blocks at the top level count. Text is
// passed on as soon as it cannot begin such a block.
type scanner struct {
	isCall func(lang string) bool // reports whether blocks of that language are calls
	// Models, unlike people, may also call by xmlOpen, and by a block of JSON that
	// looks like a call.
	model bool

	// text receives everything but calls, in pieces that never split a character.
	text func(string)
	// block receives a possible call and reports whether it is one; otherwise it goes
	// to text.
	block func(block) bool

	n     int             // number of complete lines
	line  []byte          // the current line so far; empty while plain
	sent  int             // bytes of line that were passed to text
	plain bool            // the rest of the current line cannot begin a block
	open  fence           // of the block around the current line; size 0 if there is none
	held  bool            // that block may be a call
	xml   bool            // inside of a block of xmlOpen
	body  strings.Builder // of the held block, or the text after xmlOpen
	raw   strings.Builder // text of a held block, in case it is not a call
}

// feed reads the next piece of the text.
func (s *scanner) feed(text string) {
	for text != "" {
		if s.xml {
			text = s.feedXML(text)
			continue
		}
		end := strings.IndexByte(text, '\n') + 1
		whole := end > 0
		if !whole {
			end = len(text)
		}
		piece := text[:end]
		text = text[end:]
		if s.plain {
			s.text(piece)
			if whole {
				s.next()
			}
			continue
		}
		s.line = append(s.line, piece...)
		if rest, ok := s.opensXML(); ok {
			text = rest + text
		} else if whole {
			s.endLine()
		} else {
			s.midLine()
		}
	}
}

// finish ends the text. A block that is still open is passed on as not closed.
func (s *scanner) finish() {
	if len(s.line) > 0 {
		s.endLine()
	}
	switch {
	case s.xml:
		s.endXML(s.body.String(), notClosed)
	case s.held:
		s.endBlock(notClosed)
	}
}

// midLine passes on the part of a line so far, unless it may begin a call.
func (s *scanner) midLine() {
	if s.held {
		return
	}
	line := string(s.line)
	matters := mayBeFence(line)
	if s.open.size == 0 && (matters || s.mayBeXML(line)) {
		return
	}
	s.release()
	if !matters {
		s.line, s.sent, s.plain = s.line[:0], 0, true
	}
}

// endLine reads the complete current line.
func (s *scanner) endLine() {
	line := string(s.line)
	bare := strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
	switch {
	case s.open.size == 0:
		s.open = openFence(bare)
		s.open.line = s.n + 1
		if s.held = s.open.size > 0 && (s.isCall(s.open.lang) || s.mayBeJSON("")); s.held {
			s.raw.WriteString(line)
		} else {
			s.release()
		}
	case !s.held:
		s.release()
		if s.open.closedBy(bare) {
			s.open = fence{}
		}
	case s.open.closedBy(bare):
		s.raw.WriteString(line)
		s.endBlock(isClosed)
	default:
		s.body.WriteString(cutIndent(bare, s.open.indent))
		s.body.WriteByte('\n')
		if s.isCall(s.open.lang) {
			break
		}
		s.raw.WriteString(line)
		if !s.mayBeJSON(s.body.String()) {
			s.text(s.raw.String())
			s.held = false
			s.body.Reset()
			s.raw.Reset()
		}
	}
	s.next()
}

// next begins a line.
func (s *scanner) next() {
	s.line, s.sent, s.plain = s.line[:0], 0, false
	s.n++
}

// release passes on the part of the line so far.
func (s *scanner) release() {
	if s.sent < len(s.line) {
		s.text(string(s.line[s.sent:]))
		s.sent = len(s.line)
	}
}

// Values of the parameter closed of endBlock and endXML.
const isClosed, notClosed = true, false

// endBlock ends a held block.
func (s *scanner) endBlock(closed bool) {
	b := block{fence: s.open, body: s.body.String(), closed: closed}
	raw := s.raw.String()
	s.open, s.held = fence{}, false
	s.body.Reset()
	s.raw.Reset()
	if !s.block(b) {
		s.text(raw)
	}
}

// mayBeJSON reports whether the open block may be a call although its language is not a
// tool's: it is JSON that begins like a call.
func (s *scanner) mayBeJSON(body string) bool {
	if !s.model || s.open.lang != "json" {
		return false
	}
	if len(body) > maxOpening {
		body = body[:maxOpening]
	}
	if body = strings.TrimLeft(body, " \t\n"); body == "" {
		return true
	}
	body, ok := strings.CutPrefix(body, "{")
	if !ok {
		return false
	}
	body = strings.TrimLeft(body, " \t\n")
	return body == "" || strings.HasPrefix(body, `"name"`) || strings.HasPrefix(body, `"tool_id"`)
}

// mayBeXML reports whether a line can still become one with xmlOpen.
func (s *scanner) mayBeXML(line string) bool {
	rest := strings.TrimLeft(line, " ")
	return s.model && len(line)-len(rest) <= 3 && strings.HasPrefix(xmlOpen, rest)
}

// opensXML begins a block of xmlOpen if the line does, and returns the rest of the
// line.
func (s *scanner) opensXML() (rest string, ok bool) {
	if !s.model || s.open.size > 0 {
		return "", false
	}
	line := string(s.line)
	rest = strings.TrimLeft(line, " ")
	if len(line)-len(rest) > 3 || !strings.HasPrefix(rest, xmlOpen) {
		return "", false
	}
	s.line, s.sent, s.xml = s.line[:0], 0, true
	return rest[len(xmlOpen):], true
}

// feedXML adds text to the block of xmlOpen. It returns the text after the block, which
// begins a new line.
func (s *scanner) feedXML(text string) (rest string) {
	from := max(0, s.body.Len()-len(xmlClose)+1)
	s.body.WriteString(text)
	body := s.body.String()
	i := strings.Index(body[from:], xmlClose)
	if i < 0 {
		return ""
	}
	rest = body[from+i+len(xmlClose):]
	s.endXML(body[:from+i], isClosed)
	return rest
}

func (s *scanner) endXML(body string, closed bool) {
	s.xml = false
	s.body.Reset()
	s.block(block{fence: fence{lang: toolCallTag}, body: body, closed: closed})
}
