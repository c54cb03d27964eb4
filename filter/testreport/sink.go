package testreport

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// sink takes lines of one kind, of which the first ones stay, the last of each
// run of them, and what tells of errors between; of stack traces the frames of
// libraries go before that.
type sink struct {
	traces
	cut    bool // anything was left out
	active bool // a run of lines has begun
	left   int  // lines that stay at the begin
	tail   int
	emit   func([]byte)
	ring   [][]byte
	first  int
	n      int // of ring
	kept   int // lines between begin and end that stayed
	behind int
	omits  int
}

// maxBetween bounds the lines that stay between begin and end.
const maxBetween = 150

func (s *sink) begin(emit func([]byte), head, tail int) {
	ring := s.ring
	*s = sink{traces: s.traces, cut: s.cut, emit: emit, left: head, tail: tail, ring: ring}
	s.traces.emit = s.take
}

// line takes a line.
func (s *sink) line(l []byte) {
	s.active = true
	s.traces.line(l)
}

// take takes a line that is left of the traces.
func (s *sink) take(l []byte) {
	switch {
	case s.left > 0:
		s.left--
		s.emit(l)
	case s.tail == 0:
		s.between(l)
	case s.n < s.tail:
		s.put(s.n, l)
		s.n++
	default:
		s.between(s.ring[s.first])
		s.put(0, l)
		s.first = (s.first + 1) % s.tail
	}
}

// put puts a line into the ring.
func (s *sink) put(i int, l []byte) {
	i = (s.first + i) % s.tail
	for len(s.ring) <= i {
		s.ring = append(s.ring, nil)
	}
	s.ring[i] = append(s.ring[i][:0], l...)
}

// between judges a line that is neither of the begin nor of the end.
func (s *sink) between(l []byte) {
	switch {
	case s.kept >= maxBetween:
		s.omit()
		return
	case telling(l):
		s.kept++
		s.behind = 1
	case s.behind > 0 && len(l) > 0:
		s.behind--
	default:
		s.behind = 0
		s.omit()
		return
	}
	s.mark()
	s.emit(l)
}

func (s *sink) omit() { s.omits, s.cut = s.omits+1, true }

func (s *sink) mark() {
	if s.omits > 0 {
		s.emit(text.Omission(s.omits))
		s.omits = 0
	}
}

// end ends a run of lines.
func (s *sink) end() {
	if !s.active {
		return
	}
	s.traces.end()
	s.active = false
	s.mark()
	for i := range s.n {
		s.emit(s.ring[(s.first+i)%s.tail])
	}
	s.n, s.first, s.behind = 0, 0, 0
}

// telling reports whether a line of a failure tells why, or where.
func telling(l []byte) bool {
	if len(l) == 0 {
		return false
	}
	switch l[0] {
	case '>', 'E', '+', '-', '!': // pytest's lines, those of a diff
		if len(l) > 1 && (l[1] == ' ' || l[1] == l[0]) {
			return true
		}
	}
	return text.Important(l) || expectations.Find(l) || place(l)
}

var expectations = text.NewWords("expected", "received", "actual", "want ", "want:", "got ", "got:", "left:", "right:", "caused by", "reason:", "--> ")

// place reports whether a line begins with a file and a line in it:
// "x_test.go:12: ", or is vitest's of one: " ❯ f x.js:1:2".
func place(l []byte) bool {
	l = bytes.TrimLeft(l, " \t")
	if begins(l, "❯ ") {
		l = l[bytes.LastIndexByte(l, ' ')+1:]
	}
	colon := bytes.IndexByte(l, ':')
	if colon < 3 || colon > 200 || bytes.IndexByte(l[:colon], ' ') >= 0 || bytes.IndexByte(l[:colon], '.') < 0 {
		return false
	}
	_, n := digits(l[colon+1:])
	return n > 0 && colon+1+n < len(l) && (l[colon+1+n] == ':' || l[colon+1+n] == ',')
}
