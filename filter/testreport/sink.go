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
	omittedAny  bool // a line was left out
	open        bool // within a run of lines
	headLeft    int  // first lines that may still stay
	tailSize    int  // last lines that stay
	emit        func([]byte)
	ring        [][]byte // the last lines
	oldest      int      // index in ring
	ringCount   int      // lines in ring
	keptBetween int      // lines kept between the first and last
	contextLeft int      // lines that still stay after a kept one
	omitted     int      // lines omitted since the last kept one
}

// maxBetween limits the lines kept between the first and last.
const maxBetween = 150

func (s *lineSink) begin(emit func([]byte), head, tail int) {
	ring := s.ring
	*s = lineSink{traceFilter: s.traceFilter, omittedAny: s.omittedAny, emit: emit, headLeft: head, tailSize: tail, ring: ring}
	s.traceFilter.emit = s.handle
}

// line handles a line.
func (s *lineSink) line(l []byte) {
	s.open = true
	s.traceFilter.line(l)
}

// handle handles a line after stack traces were shortened.
func (s *lineSink) handle(l []byte) {
	switch {
	case s.headLeft > 0:
		s.headLeft--
		s.emit(l)
	case s.tailSize == 0:
		s.handleBetween(l)
	case s.ringCount < s.tailSize:
		s.setRing(s.ringCount, l)
		s.ringCount++
	default:
		s.handleBetween(s.ring[s.oldest])
		s.setRing(0, l)
		s.oldest = (s.oldest + 1) % s.tailSize
	}
}

// setRing adds a line to the ring.
func (s *lineSink) setRing(i int, l []byte) {
	i = (s.oldest + i) % s.tailSize
	for len(s.ring) <= i {
		s.ring = append(s.ring, nil)
	}
	s.ring[i] = append(s.ring[i][:0], l...)
}

// handleBetween handles a line between the first and last.
func (s *lineSink) handleBetween(l []byte) {
	switch {
	case s.keptBetween >= maxBetween:
		s.omit()
		return
	case showsReason(l):
		s.keptBetween++
		s.contextLeft = 1
	case s.contextLeft > 0 && len(l) > 0:
		s.contextLeft--
	default:
		s.contextLeft = 0
		s.omit()
		return
	}
	s.writeOmission()
	s.emit(l)
}

func (s *lineSink) omit() { s.omitted, s.omittedAny = s.omitted+1, true }

func (s *lineSink) writeOmission() {
	if s.omitted > 0 {
		s.emit(text.Omission(s.omitted))
		s.omitted = 0
	}
}

// end ends a run of lines.
func (s *lineSink) end() {
	if !s.open {
		return
	}
	s.traceFilter.end()
	s.open = false
	s.writeOmission()
	for i := range s.ringCount {
		s.emit(s.ring[(s.oldest+i)%s.tailSize])
	}
	s.ringCount, s.oldest, s.contextLeft = 0, 0, 0
}

// showsReason reports whether a line of a failure says why or where.
func showsReason(l []byte) bool {
	if len(l) == 0 {
		return false
	}
	switch l[0] {
	case '>', 'E', '+', '-', '!': // lines of pytest or of a diff
		if len(l) > 1 && (l[1] == ' ' || l[1] == l[0]) {
			return true
		}
	}
	return text.Important(l) || reasonWords.Find(l) || beginsWithPlace(l)
}

var reasonWords = text.NewWords(
	"expected", "received", "actual", "want ", "want:", "got ", "got:", "left:", "right:", "caused by",
	"reason:", "--> ",
)

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
