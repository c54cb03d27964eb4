package testreport

import (
	"bytes"
	"strconv"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// shortFailures are the failures after the first ones.
type shortFailures struct {
	text   []byte // one line each
	name   []byte
	reason []byte
	first  []byte
	n      int
}

func (s *shortFailures) begin(name []byte) {
	s.name = append(s.name[:0], bytes.TrimSpace(name)...)
	s.reason, s.first = s.reason[:0], s.first[:0]
}

func (s *shortFailures) line(l []byte, reason bool) {
	l = bytes.TrimSpace(l)
	switch {
	case len(l) == 0:
	case reason && len(s.reason) == 0, len(s.reason) > 0 && s.reason[len(s.reason)-1] == ':' && len(s.reason) < 500:
		if len(s.reason) > 0 {
			s.reason = append(s.reason, ' ')
		}
		s.reason = append(s.reason, l...)
	case len(s.reason) > 0 && len(s.reason) < 300 && expectations.Find(l):
		s.reason = append(append(s.reason, ' '), l...)
	case len(s.first) == 0:
		s.first = append(s.first, l...)
	}
}

func (s *shortFailures) end() {
	s.n++
	if s.n > toldFailures {
		return
	}
	s.text = append(append(s.text, "  "...), s.name...)
	if why := s.reason; len(why) > 0 || len(s.first) > 0 {
		if len(why) == 0 {
			why = s.first
		}
		s.text = append(append(s.text, ": "...), clipText(why, 400)...)
	}
	s.text = append(s.text, '\n')
}

func (s *shortFailures) write(out *text.Lines) {
	if s.n == 0 {
		return
	}
	out.Write(append(strconv.AppendInt([]byte(moreHead), int64(s.n), 10), moreTail...))
	for line := range bytes.Lines(s.text) {
		out.Write(bytes.TrimSuffix(line, []byte("\n")))
	}
	if s.n > toldFailures {
		out.Write(append(strconv.AppendInt([]byte("  and "), int64(s.n-toldFailures), 10), " more"...))
	}
	s.n, s.text = 0, s.text[:0]
}

const moreHead, moreTail = "... and ", " more failures:"

func begins(l []byte, with string) bool { return len(l) >= len(with) && string(l[:len(with)]) == with }

func ends(l []byte, with string) bool {
	return len(l) >= len(with) && string(l[len(l)-len(with):]) == with
}

func contains(l []byte, text string) bool { return bytes.Contains(l, []byte(text)) }

// beginsAny reports whether a line begins with one of several texts.
func beginsAny(l []byte, texts ...string) bool {
	for _, t := range texts {
		if begins(l, t) {
			return true
		}
	}
	return false
}

// testKey returns the key of a test's name.
func testKey(name []byte) string { return string(name[:min(len(name), 300)]) }

// clipText cuts a text to about n bytes.
func clipText(l []byte, n int) []byte {
	if len(l) <= n {
		return l
	}
	cut := bytes.ToValidUTF8(l[:n], nil)
	return append(cut[:len(cut):len(cut)], "..."...)
}

// leadingNumber parses a leading number. n is the number of digits.
func leadingNumber(l []byte) (value, n int) {
	for n < len(l) && n < 15 && l[n] >= '0' && l[n] <= '9' {
		value = value*10 + int(l[n]-'0')
		n++
	}
	return value, n
}

// heldLines are lines that stay unless a better line replaces them.
type heldLines struct {
	text []byte
	n    int
}

// add holds a line. If there are too many, it writes all.
func (h *heldLines) add(l []byte, write func([]byte)) {
	h.text = append(append(h.text, l...), '\n')
	if h.n++; len(h.text) > 1<<20 {
		h.write(write)
	}
}

// forget drops the lines that contain a name.
func (h *heldLines) forget(name []byte) {
	if h.n == 0 {
		return
	}
	at := bytes.Index(h.text, name)
	if at < 0 {
		return
	}
	begin := bytes.LastIndexByte(h.text[:at], '\n') + 1
	end := at + bytes.IndexByte(h.text[at:], '\n') + 1
	h.text = append(h.text[:begin], h.text[end:]...)
	h.n--
}

// drop drops all lines.
func (h *heldLines) drop() { h.text, h.n = h.text[:0], 0 }

func (h *heldLines) write(write func([]byte)) {
	for line := range bytes.Lines(h.text) {
		write(bytes.TrimSuffix(line, []byte("\n")))
	}
	h.drop()
}
