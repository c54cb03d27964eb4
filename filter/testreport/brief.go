package testreport

import (
	"bytes"
	"strconv"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// briefFailures shortens the failures after the first ones to their names and reasons.
type briefFailures struct {
	text      []byte // a line for each failure that ended
	count     int    // those failures, including ones without a line
	name      []byte // of the current failure
	reason    []byte // of the current failure
	firstLine []byte // of the current failure; stands for a missing reason
	place     []byte // the last file and line of the current failure
}

func (s *briefFailures) begin(name []byte) {
	s.name = append(s.name[:0], bytes.TrimSpace(name)...)
	s.reason, s.firstLine, s.place = s.reason[:0], s.firstLine[:0], s.place[:0]
}

func (s *briefFailures) line(l []byte, reason bool) {
	l = bytes.TrimSpace(l)
	if beginsWithPlace(l) {
		s.place = append(s.place[:0], l[:placeLen(l)]...)
	}
	switch {
	case len(l) == 0:
	case reason && len(s.reason) == 0, len(s.reason) > 0 && s.reason[len(s.reason)-1] == ':' && len(s.reason) < 500:
		if len(s.reason) > 0 {
			s.reason = append(s.reason, ' ')
		}
		s.reason = append(s.reason, l...)
	case len(s.reason) > 0 && len(s.reason) < 300 && reasonWords.Find(l):
		s.reason = append(append(s.reason, ' '), l...)
	case len(s.firstLine) == 0:
		s.firstLine = append(s.firstLine, l...)
	}
}

func (s *briefFailures) end() {
	s.count++
	if s.count > maxNamedFailures {
		return
	}
	s.text = append(append(s.text, "  "...), s.name...)
	if len(s.place) > 0 && !bytes.Contains(s.reason, s.place) && !bytes.Contains(s.name, s.place) {
		s.text = append(append(s.text, ": "...), s.place...)
	}
	if why := s.reason; len(why) > 0 || len(s.firstLine) > 0 {
		if len(why) == 0 {
			why = s.firstLine
		}
		s.text = append(append(s.text, ": "...), clipText(why, 400)...)
	}
	s.text = append(s.text, '\n')
}

// placeLen returns the length of the file and line at the beginning of a line that has them.
func placeLen(l []byte) int {
	skip := 0
	if begins(l, "❯ ") {
		skip = bytes.LastIndexByte(l, ' ') + 1
	}
	colon := skip + bytes.IndexByte(l[skip:], ':')
	_, n := leadingNumber(l[colon+1:])
	return colon + 1 + n
}

func (s *briefFailures) write(out *text.Lines) {
	if s.count == 0 {
		return
	}
	out.Write(append(strconv.AppendInt([]byte(briefPrefix), int64(s.count), 10), briefSuffix...))
	for line := range bytes.Lines(s.text) {
		out.Write(bytes.TrimSuffix(line, []byte("\n")))
	}
	if s.count > maxNamedFailures {
		out.Write(append(strconv.AppendInt([]byte("  and "), int64(s.count-maxNamedFailures), 10), " more"...))
	}
	s.count, s.text = 0, s.text[:0]
}

const briefPrefix, briefSuffix = "... and ", " more failures:"
