package reports

import (
	"bytes"
	"regexp"
	"sync"
)

// stampedLines is how many of the first lines begin with a time if a CI system or "ts" wrote it, and not
// the program itself.
const stampedLines = 10

// stamp matches the time before each line of a log of GitHub Actions, GitLab (with the section and stream
// of the line), Jenkins, and "ts" with a date.
var stamp = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\x{FEFF}?\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]\d\d:?\d\d)?\]?( \d\d[EO][ +]| |$)`)
})

// Stamps removes a time that begins each line, since rules know the lines without it. The first of these
// times is written once. Its methods are Line for each line and End after the last.
type Stamps struct {
	// Emit receives the lines. A line is valid until Emit returns.
	Emit func(line []byte)
	// Removed reports that there were such times.
	Removed bool

	decided bool
	first   [][]byte // lines before the decision
}

// Line handles the next line, without its line feed.
func (s *Stamps) Line(l []byte) {
	switch {
	case s.Removed:
		s.Emit(l[len(stamp().Find(l)):])
	case s.decided:
		s.Emit(l)
	case len(l) > 0 && (l[0] < '0' || l[0] > '9') && l[0] != '[' && l[0] != 0xef || stamp().Find(l) == nil && len(l) > 0:
		s.decide(false)
		s.Emit(l)
	default:
		if s.first = append(s.first, bytes.Clone(l)); len(s.first) == stampedLines {
			s.decide(len(s.first[0]) > 0)
		}
	}
}

// End handles the end of the output.
func (s *Stamps) End() {
	if !s.decided {
		s.decide(false)
	}
}

func (s *Stamps) decide(remove bool) {
	s.decided, s.Removed = true, remove
	if remove {
		s.Emit(append([]byte("from "), bytes.TrimSpace(stamp().Find(s.first[0]))...))
	}
	for _, l := range s.first {
		if remove {
			l = l[len(stamp().Find(l)):]
		}
		s.Emit(l)
	}
	s.first = nil
}
