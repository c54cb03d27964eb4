package textcalls

import (
	"strings"
)

// block is a piece of a text that may be a tool call.
type block struct {
	fence
	body   string // without the fences and their indent
	closed bool
	first  bool // nothing stands before it in the answer
}

// scanner splits a text, which arrives in chunks of any length, into blocks and markup that may be
// tool calls and the text around them. Only blocks at the top level count. Text is
// passed on as soon as it cannot begin a call.
type scanner struct {
	isCall func(lang string) bool // reports whether blocks of that language are calls
	// answer is set for the answer of a model; models, unlike people, also call by markup and by JSON.
	answer *answerReader

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
	first bool            // that block is the first text of the answer
	begun bool            // there was text that is not blank
	body  strings.Builder // of the held block
	raw   strings.Builder // text of a held block or of markup, in case it is not a call

	token   string   // the end of the text so far, which may begin a token
	gap     bool     // line breaks are dropped that follow a token
	inCode  bool     // between backticks in the current line
	dirty   bool     // the current line has more than blanks
	width   int      // of the blanks at its beginning
	thought bool     // an opening tag of reasoning was read as text
	markup  bool     // raw is markup that may become a call
	bare    bool     // the markup is JSON alone
	until   []string // what the markup must have before it is worth reading; nil: anything
}

// feed reads the next piece of the text.
func (s *scanner) feed(text string) {
	for text != "" {
		switch {
		case s.markup:
			text = s.feedMarkup(text)
		case s.answer != nil && s.open.size == 0:
			text = s.feedTokens(text)
		default:
			text = s.feedLine(text)
		}
	}
}

// feedTokens reads text up to the end of the line, or up to a token.
func (s *scanner) feedTokens(text string) (rest string) {
	text, s.token = s.token+text, ""
	if s.gap {
		if text = strings.TrimLeft(text, "\r\n"); text == "" {
			return ""
		}
		s.gap = false
	}
	end := strings.IndexByte(text, '\n') + 1
	if end == 0 {
		end = len(text)
	}
	blank := !s.dirty
	for i := range end {
		switch c := text[i]; {
		case c == '`':
			s.inCode = !s.inCode
		case s.inCode:
		case tokens()[c] != nil || c == '{':
			t, found, partial := tokenAt(text[i:end], blank)
			bare := (c == '{' || c == '[') && blank && s.answer.takesJSON(s.begun)
			if !found && !partial && !bare {
				s.inCode = c == '>' && blank // a quotation
				break
			}
			s.feedLine(text[:i])
			if s.dirty = !blank; blank {
				s.width += i
			}
			switch {
			case partial:
				s.token = text[i:]
				return ""
			case found:
				return s.readToken(t, text[i:], blank, false)
			}
			s.release()
			s.markup, s.bare = true, true
			return text[i:]
		}
		blank = blank && strings.IndexByte(" \t\r", text[i]) >= 0
	}
	if s.dirty = !blank; blank {
		s.width += end
	}
	s.feedLine(text[:end])
	return text[end:]
}

// codeIndent is how far code is indented that has no fence.
const codeIndent = 4

// readToken reads a token at the beginning of a text, and returns the text after it.
func (s *scanner) readToken(t token, text string, lineStart, ended bool) (rest string) {
	rest = text[len(t.text):]
	switch t.kind {
	case special:
		s.gap = strings.HasSuffix(t.text, "begin|>") || strings.HasSuffix(t.text, "begin｜>")
		return rest
	case ending:
		if s.answer.hasCalls() {
			s.release()
			s.answer.addSource(t.text)
			return rest
		}
	case opener:
		if s.answer.takesMarkup(t, lineStart) && (!lineStart || s.width < codeIndent) {
			s.release()
			s.markup, s.bare = true, false
			return text
		}
	case thinking:
		s.thought = true
	case thought:
		switch {
		case s.thought:
		case rest == "" && !lineStart && !ended:
			s.token = text
			return ""
		case lineStart || strings.HasPrefix(rest, "\n") || strings.HasPrefix(rest, "\r"):
			s.release()
			s.answer.reasoned(t.text)
			s.gap = true
			return rest
		}
	}
	s.pass(t.text)
	return rest
}

// pass passes text on that is not looked at again.
func (s *scanner) pass(text string) {
	s.dirty = true
	s.feedLine(text)
}

// feedMarkup adds text to the markup. It returns the text that is to be read again.
func (s *scanner) feedMarkup(text string) (rest string) {
	before := s.raw.Len()
	s.raw.WriteString(text)
	all := s.raw.String()
	if s.until != nil {
		if at, _ := firstOf(all[max(0, before-maxCloser):], s.until); at < 0 {
			return ""
		}
	}
	return s.readMarkup(all, false)
}

// maxCloser is longer than any closer of a form, in bytes.
const maxCloser = 64

// readMarkup reads the markup so far.
func (s *scanner) readMarkup(all string, ended bool) (rest string) {
	read := s.answer.readMarkup
	if s.bare {
		read = s.answer.readBare
	}
	calls, rest, until, v := read(all, ended)
	switch {
	case v == isOpen && (until != nil || len(all) < maxOpening):
		s.until = until
		return ""
	case v == isCall:
		s.raw.Reset()
		s.markup, s.until, s.begun = false, nil, true
		s.answer.addCalls(calls, all[:len(all)-len(rest)], s.bare)
		s.next()
		return rest
	}
	s.raw.Reset()
	s.markup, s.until = false, nil
	n := 1
	for n < len(all) && all[n]&0xC0 == 0x80 {
		n++
	}
	s.begun = true
	s.pass(all[:n])
	return all[n:]
}

// feedLine reads text up to the end of the line.
func (s *scanner) feedLine(text string) (rest string) {
	if text == "" {
		return ""
	}
	end := strings.IndexByte(text, '\n') + 1
	whole := end > 0
	if !whole {
		end = len(text)
	}
	piece := text[:end]
	if s.plain {
		s.emit(piece)
		if whole {
			s.next()
		}
	} else if s.line = append(s.line, piece...); whole {
		s.endLine()
	} else {
		s.midLine()
	}
	return text[end:]
}

// finish ends the text. A block that is still open is passed on as not closed.
func (s *scanner) finish() {
	for s.token != "" || s.markup {
		text := s.token
		s.token = ""
		if s.markup {
			all := s.raw.String()
			if _, _, _, v := s.answer.readMarkup(all, false); v == isOpen && !s.bare && s.answer.cutOff && !s.answer.namesTool(all) {
				s.raw.Reset()
				s.markup = false
				continue // cut off before the name of a tool
			}
			text = s.readMarkup(all, true)
		} else if t, found, _ := tokenAt(text, !s.dirty); found {
			text = s.readToken(t, text, !s.dirty, true)
			if s.markup {
				s.raw.WriteString(text)
				continue
			}
		} else {
			s.pass(text[:1])
			text = text[1:]
		}
		s.feed(text)
	}
	if len(s.line) > 0 {
		s.endLine()
	}
	if s.held {
		s.endBlock(notClosed)
	}
}

// midLine passes on the part of a line so far, unless it may begin a block.
func (s *scanner) midLine() {
	line := string(s.line)
	matters := mayBeFence(line)
	switch {
	case s.held && (matters || s.isCall(s.open.lang) || s.mayBeCall(s.body.String()+line)):
		return
	case s.held:
		s.giveUp()
	}
	if s.open.size == 0 && matters {
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
		s.first = s.open.size > 0 && !s.begun
		if s.held = s.open.size > 0 && (s.isCall(s.open.lang) || s.mayBeCall("")); s.held {
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
		s.raw.WriteString(line)
		if !s.isCall(s.open.lang) && !s.mayBeCall(s.body.String()) {
			s.giveUp()
		}
	}
	if s.open.size > 0 {
		s.begun = true
	}
	s.next()
}

// giveUp passes on a held block that is no call.
func (s *scanner) giveUp() {
	s.text(s.raw.String())
	s.held = false
	s.body.Reset()
	s.raw.Reset()
}

// flushToken passes on the beginning of a token: an event of another kind follows.
func (s *scanner) flushToken() {
	if text := s.token; text != "" && !s.markup {
		s.token = ""
		s.pass(text)
	}
}

// next begins a line.
func (s *scanner) next() {
	s.line, s.sent, s.plain = s.line[:0], 0, false
	s.dirty, s.width, s.inCode = false, 0, false
	s.n++
}

// release passes on the part of the line so far.
func (s *scanner) release() {
	if s.sent < len(s.line) {
		s.emit(string(s.line[s.sent:]))
		s.sent = len(s.line)
	}
}

// emit passes text on.
func (s *scanner) emit(text string) {
	s.begun = s.begun || strings.TrimSpace(text) != ""
	s.text(text)
}

// Values of the parameter closed of endBlock.
const isClosed, notClosed = true, false

// endBlock ends a held block.
func (s *scanner) endBlock(closed bool) {
	b := block{fence: s.open, body: s.body.String(), closed: closed, first: s.first}
	raw := s.raw.String()
	s.open, s.held = fence{}, false
	s.body.Reset()
	s.raw.Reset()
	if !s.block(b) {
		s.text(raw)
	}
}

// mayBeCall reports whether the open block may be a call although its language is not a
// tool's.
func (s *scanner) mayBeCall(body string) bool {
	return s.answer != nil && s.answer.takesBlock(s.open.lang, s.first) && s.answer.mayBeCall(body)
}
