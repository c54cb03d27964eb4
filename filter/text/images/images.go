// Package images rewrites Markdown so that showing it requests nothing from the net. A model that
// follows a stranger's text could otherwise send what it knows in the address of an image.
//
// [Links] is for whole texts, [Stream] for texts that come in pieces. An image that points to the net
// becomes a link, "[image: alt](address)". An HTML tag that would load something gets a space after its
// "<", which makes it text. A definition that an earlier image refers to gets a space before its colon.
// Images in files and data URLs stay, and so do code and all other text.
//
// Renderers differ in what they take for code. So code stays only where it is code for all of them;
// in doubt an image is rewritten.
package images

import "strings"

// Links returns a whole text.
func Links(text string) string {
	if !strings.Contains(text, "![") && strings.IndexByte(text, '<') < 0 {
		return text
	}
	var s Stream
	head := s.Write(text)
	return head + s.End()
}

// maxHeld bounds the text that is held back, in bytes. What could still be an image then is one.
const maxHeld = 4 << 10

// Stream rewrites a text that comes in pieces. It holds back what may be the beginning of an image.
// The result does not depend on where the pieces are cut. The zero value is ready.
type Stream struct {
	held string
	last byte // of what was written
	text lines
	refs references
}

// Write returns what can be shown after the next piece.
func (s *Stream) Write(piece string) string {
	if s.held != "" {
		piece = s.held + piece
	}
	out, held := s.rewrite(piece, false)
	s.held = held
	return out
}

// End returns the rest of the text. The stream is then ready for another text.
func (s *Stream) End() string {
	out, _ := s.rewrite(s.held, true)
	*s = Stream{text: lines{head: s.text.head[:0]}}
	return out
}

// verdict is what becomes of the text at one place: it stays unless wait or with is set.
type verdict struct {
	wait bool
	with string // replaces the first n bytes
	n    int
}

// rewrite returns the text as shown, and the rest that is held back.
func (s *Stream) rewrite(text string, final bool) (shown, held string) {
	var out []byte // the text before from, if anything in it was changed
	from := 0
	for i := 0; i < len(text); {
		c := text[i]
		s.text.before(c)
		n := 1
		if c == '!' || c == '<' || c == ':' && s.refs.defines {
			full := len(text)-i >= maxHeld
			v := s.decide(window{text[i:min(len(text), i+maxHeld)], final && !full, full})
			if v.wait {
				held = text[i:]
				text = text[:i]
				break
			}
			if v.n > 0 {
				out = append(append(out, text[from:i]...), v.with...)
				from, n = i+v.n, v.n
			}
			for k := i; k < i+n; k++ {
				if k > i {
					s.text.before(text[k])
				}
				s.step(text[k])
			}
			if v.n > 0 {
				s.last = v.with[len(v.with)-1]
			}
			i += n
			continue
		}
		s.step(c)
		i++
	}
	if out == nil {
		return text, held
	}
	return string(append(out, text[from:]...)), held
}

func (s *Stream) step(c byte) {
	s.refs.step(c, &s.text)
	s.text.step(c)
	s.last = c
}

// window is the text at one place as far as it may be looked at.
type window struct {
	text  string
	final bool // nothing follows
	full  bool // no more will be looked at
}

// open reports whether more text may come into the window.
func (w window) open() bool { return !w.final && !w.full }

// decide looks at the text at a "!", a "<", or the colon after a "]".
func (s *Stream) decide(w window) verdict {
	if len(w.text) == 1 && w.open() {
		return verdict{wait: true}
	}
	next := byte(0)
	if len(w.text) > 1 {
		next = w.text[1]
	}
	switch w.text[0] {
	case '!':
		if next != '[' || s.text.escaped {
			return verdict{}
		}
	case '<':
		if !isLetter(next) {
			s.text.mayBeTag(next)
			return verdict{}
		}
	}
	switch s.text.code(w) {
	case yes:
		return verdict{}
	case unknown:
		return verdict{wait: true}
	}
	switch w.text[0] {
	case '!':
		return s.image(w)
	case '<':
		return s.tag(w)
	}
	return s.definition(w)
}

// answer is that to a question about a text of which only a part has come.
type answer int8

const (
	no answer = iota
	yes
	unknown
)

// image checks "![" outside of code.
func (s *Stream) image(w window) verdict {
	found, label, end := s.refs.remoteImage(w)
	switch {
	case found == unknown:
		return verdict{wait: true}
	case found == no:
		return verdict{}
	}
	with := "[image: "
	if s.last == '!' { // "![" must not come out again
		with = " [image: "
	}
	if end > 0 { // a reference without text of its own
		return verdict{with: with + label + "][" + label + "]", n: end}
	}
	if len(w.text) > 2 && w.text[2] == ']' {
		with = strings.TrimSuffix(with, ": ")
	}
	return verdict{with: with, n: 2}
}

// tag checks "<" and a letter outside of code.
func (s *Stream) tag(w window) verdict {
	found := loads(w)
	if found == unknown {
		return verdict{wait: true}
	}
	s.text.loose = true // its attributes may have backquotes
	if found == yes {
		return verdict{with: "< ", n: 1}
	}
	return verdict{}
}

// definition checks the colon of "[label]:".
func (s *Stream) definition(w window) verdict {
	switch remoteAddress(w, 1, false) {
	case unknown:
		return verdict{wait: true}
	case yes:
		if s.refs.define() {
			return verdict{with: " :", n: 1}
		}
	}
	return verdict{}
}

func isLetter(c byte) bool { c |= 0x20; return 'a' <= c && c <= 'z' }

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

func isSpace(c byte) bool { return isBlank(c) || c == '\n' || c == '\f' }
