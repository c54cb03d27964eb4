package testreport

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// lineSink keeps the first lines of one kind, the last lines of each run of them,
// and between them those that report problems. The frames of libraries in stack
// traces are dropped before.
type lineSink struct {
	traceFilter
	cut    bool // a line was left out
	active bool // within a run of lines
	left   int  // first lines that may still stay
	tail   int
	emit   func([]byte)
	ring   [][]byte
	first  int
	n      int // number of lines in ring
	kept   int // lines kept between the first and last
	behind int
	omits  int
}

// maxBetween limits the lines kept between the first and last.
const maxBetween = 150

func (s *lineSink) begin(emit func([]byte), head, tail int) {
	ring := s.ring
	*s = lineSink{traceFilter: s.traceFilter, cut: s.cut, emit: emit, left: head, tail: tail, ring: ring}
	s.traceFilter.emit = s.take
}

// line handles a line.
func (s *lineSink) line(l []byte) {
	s.active = true
	s.traceFilter.line(l)
}

// take handles a line after stack traces were shortened.
func (s *lineSink) take(l []byte) {
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

// put adds a line to the ring.
func (s *lineSink) put(i int, l []byte) {
	i = (s.first + i) % s.tail
	for len(s.ring) <= i {
		s.ring = append(s.ring, nil)
	}
	s.ring[i] = append(s.ring[i][:0], l...)
}

// between handles a line between the first and last.
func (s *lineSink) between(l []byte) {
	switch {
	case s.kept >= maxBetween:
		s.omit()
		return
	case saysWhy(l):
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

func (s *lineSink) omit() { s.omits, s.cut = s.omits+1, true }

func (s *lineSink) mark() {
	if s.omits > 0 {
		s.emit(text.Omission(s.omits))
		s.omits = 0
	}
}

// end ends a run of lines.
func (s *lineSink) end() {
	if !s.active {
		return
	}
	s.traceFilter.end()
	s.active = false
	s.mark()
	for i := range s.n {
		s.emit(s.ring[(s.first+i)%s.tail])
	}
	s.n, s.first, s.behind = 0, 0, 0
}

// saysWhy reports whether a line of a failure says why or where.
func saysWhy(l []byte) bool {
	if len(l) == 0 {
		return false
	}
	switch l[0] {
	case '>', 'E', '+', '-', '!': // lines of pytest or of a diff
		if len(l) > 1 && (l[1] == ' ' || l[1] == l[0]) {
			return true
		}
	}
	return text.Important(l) || expectations.Find(l) || beginsWithPlace(l)
}

var expectations = text.NewWords("expected", "received", "actual", "want ", "want:", "got ", "got:", "left:", "right:", "caused by", "reason:", "--> ")

// beginsWithPlace reports whether a line begins with a file and a line number:
// "x_test.go:12: ", or vitest's " ❯ f x.js:1:2".
func beginsWithPlace(l []byte) bool {
	l = bytes.TrimLeft(l, " \t")
	if begins(l, "❯ ") {
		l = l[bytes.LastIndexByte(l, ' ')+1:]
	}
	colon := bytes.IndexByte(l, ':')
	if colon < 3 || colon > 200 || bytes.IndexByte(l[:colon], ' ') >= 0 || bytes.IndexByte(l[:colon], '.') < 0 {
		return false
	}
	_, n := leadingNumber(l[colon+1:])
	return n > 0 && colon+1+n < len(l) && (l[colon+1+n] == ':' || l[colon+1+n] == ',')
}
