package text

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

// MaxLine is the longest line, in bytes, that is processed as a whole. A longer
// one is processed in pieces.
const MaxLine = 64 << 10

// Sanitizer turns the output of a command into lines of valid UTF-8 without
// escape sequences and other control characters. Only the last state of text
// overwritten in place stays, also if a tool draws several lines again, and runs of
// blank lines become one. It is an io.Writer; call End after the last write.
//
// An overwritten state that reports a problem becomes its own line, since some
// tools print errors between two states of their progress.
type Sanitizer struct {
	// Emit receives each line, without its line feed. The line is valid until
	// Emit returns.
	Emit func(line []byte)

	raw          []byte // the beginning of a line that has not ended
	rows         rows   // the last lines, which may change
	continued    bool   // raw continues a line whose beginning was emitted
	emitted      bool   // a line was emitted
	blankPending bool   // a blank line is emitted if another line follows
}

// Write sanitises more output. It never fails.
func (s *Sanitizer) Write(p []byte) (int, error) {
	n := len(p)
	if s.rows.emit == nil {
		s.rows.emit = s.emit
	}
	for len(p) > 0 {
		end := bytes.IndexByte(p, '\n')
		switch {
		case end >= 0 && len(s.raw) == 0:
			s.endLine(p[:end])
		case end >= 0:
			s.raw = append(s.raw, p[:end]...)
			s.endLine(s.raw)
			s.raw = s.raw[:0]
		default:
			s.raw = append(s.raw, p...)
			s.emitPieces()
			return n, nil
		}
		s.continued = false
		p = p[end+1:]
	}
	return n, nil
}

// End sanitises the last line.
func (s *Sanitizer) End() {
	if len(s.raw) > 0 {
		s.endLine(s.raw)
		s.raw = s.raw[:0]
	}
	s.continued = false
	s.rows.end()
}

// emitPieces emits the beginning of a line that is too long to wait for its end.
func (s *Sanitizer) emitPieces() {
	for len(s.raw) > MaxLine {
		n := s.pieceLength(s.raw[:MaxLine])
		s.line(s.raw[:n])
		s.continued = true
		s.raw = append(s.raw[:0], s.raw[n:]...)
	}
}

// endLine sanitises a line that has ended, or the last piece of it.
func (s *Sanitizer) endLine(line []byte) {
	for len(line) > MaxLine {
		n := s.pieceLength(line[:MaxLine])
		s.line(line[:n])
		s.continued = true
		line = line[n:]
	}
	if s.continued && len(line) == 0 {
		return
	}
	s.line(line)
}

// SafeCut returns how much of a long line can be cut off without cutting a
// credential: up to a separator of values, but not between a name and its
// value.
func SafeCut(line []byte) int {
	const around = 1 << 10 // bytes; longer values are rarely credentials
	from := max(0, len(line)-around)
	for to := len(line); to > from; {
		i := from + bytes.LastIndexAny(line[from:to], ",; \t&")
		if i < from {
			break
		}
		if i == 0 || line[i-1] != ':' && line[i-1] != '=' {
			return i + 1
		}
		to = i
	}
	return len(line)
}

// pieceLength returns how much of a long line can be cut off without cutting a rune
// or an escape sequence.
func (s *Sanitizer) pieceLength(line []byte) int {
	const longest = 256 // bytes; no meaningful sequence is longer
	n := SafeCut(line)
	if esc := bytes.LastIndexByte(line[n-longest:n], escape); esc >= 0 {
		at := n - longest + esc
		if _, whole := sequenceLength(line[at:n]); !whole {
			return at
		}
	}
	for i := 1; i < utf8.UTFMax; i++ {
		if utf8.RuneStart(line[n-i]) {
			if !utf8.FullRune(line[n-i : n]) {
				n -= i
			}
			break
		}
	}
	return n
}

// PlainByte reports the bytes that stay unchanged.
var PlainByte = func() (table [256]bool) {
	for b := range table {
		table[b] = b == '\t' || b >= ' ' && b != 0x7f
	}
	return table
}()

// line sanitises a line, or a piece of one.
func (s *Sanitizer) line(line []byte) {
	line = bytes.TrimSuffix(line, []byte("\r"))
	if isPlainASCII(line) {
		s.rows.add(line)
		return
	}
	if !utf8.Valid(line) { // first, so that removing bytes cannot form new runes
		line = bytes.ToValidUTF8(line, replacement)
	}
	for i, b := range line {
		if !PlainByte[b] || b == 0xc2 && i+1 < len(line) && line[i+1] < 0xa0 {
			s.lineWithControls(line, i)
			return
		}
	}
	s.rows.add(line)
}

// isPlainASCII reports whether a line is ASCII without control characters other
// than tabs.
func isPlainASCII(line []byte) bool {
	const each, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(line); i += 8 {
		// The highest bit of each byte is set if the byte is below a blank, is
		// DEL, or is not ASCII.
		x := binary.LittleEndian.Uint64(line[i:])
		if ((x-' '*each)|(x+each)|x)&high == 0 {
			continue
		}
		for _, b := range line[i : i+8] {
			if !PlainByte[b] || b >= utf8.RuneSelf {
				return false
			}
		}
	}
	for _, b := range line[i:] {
		if !PlainByte[b] || b >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

var replacement = []byte("\uFFFD")

const (
	escape = 0x1b
	bell   = 0x07
)

// lineWithControls sanitises a line whose first control character is at first.
func (s *Sanitizer) lineWithControls(line []byte, first int) {
	r := &s.rows
	if first > 0 {
		r.write(line[:first])
	}
	for i := first; i < len(line); {
		b := line[i]
		switch {
		case b == escape:
			n, _ := sequenceLength(line[i:])
			r.move(line[i : i+n])
			i += n
			continue
		case b == '\r':
			r.column = 0
		case b == '\b':
			r.back()
		case b == 0xc2 && i+1 < len(line) && line[i+1] >= 0x80 && line[i+1] < 0xa0: // a control character of Latin-1
			if line[i+1] == 0x9b {
				i += 2 + parametersLength(line[i+2:])
				continue
			}
			i++
		case PlainByte[b]:
			end := i + 1
			for end < len(line) && PlainByte[line[end]] && line[end] != 0xc2 {
				end++
			}
			r.write(line[i:end])
			i = end
			continue
		}
		i++
	}
	r.next()
}

// emit emits a sanitised line. Blank lines wait for the next line.
func (s *Sanitizer) emit(line []byte) {
	if isBlank(line) {
		s.blankPending = s.emitted
		return
	}
	if s.blankPending {
		s.Emit(nil)
		s.blankPending = false
	}
	s.emitted = true
	s.Emit(line)
}

// sequenceLength returns the length of the escape sequence that line begins with.
// whole reports whether more of the line cannot change it.
func sequenceLength(line []byte) (n int, whole bool) {
	if len(line) < 2 {
		return len(line), false
	}
	switch b := line[1]; {
	case b == '[':
		n = 2 + parametersLength(line[2:])
		return n, n > 2 && line[n-1] >= 0x40
	case b == ']', b == 'P', b == 'X', b == '^', b == '_': // a string up to BEL or ESC \
		// Without its end, only the introducer is one: the rest may be output.
		const introducer = 2
		for i := introducer; i < len(line); i++ {
			switch {
			case line[i] == bell:
				return i + 1, true
			case line[i] == escape && i+1 < len(line) && line[i+1] == '\\':
				return i + 2, true
			case line[i] == escape && i+1 < len(line) || line[i] == '\r':
				return introducer, true
			}
		}
		return introducer, false
	case b >= 0x20 && b < 0x30: // such as character sets: intermediate bytes and a final one
		for i := 2; i < len(line); i++ {
			switch b := line[i]; {
			case b >= 0x30 && b < 0x7f:
				return i + 1, true
			case b < 0x20 || b >= 0x7f:
				return i, true
			}
		}
		return len(line), false
	case b >= 0x30 && b < 0x7f:
		return 2, true
	}
	return 1, true
}

// parametersLength returns the length of the rest of a control sequence, its final
// byte included. An impossible byte ends it.
func parametersLength(line []byte) int {
	for i, b := range line {
		switch {
		case b >= 0x40 && b < 0x7f:
			return i + 1
		case b < 0x20 || b >= 0x7f:
			return i
		}
	}
	return len(line)
}

// Sanitize sanitises a text in memory. Each line of the result ends in a line
// feed.
func Sanitize(text []byte) []byte {
	var out []byte
	s := Sanitizer{Emit: func(line []byte) { out = append(append(out, line...), '\n') }}
	_, _ = s.Write(text) // never fails
	s.End()
	return out
}

// TextHasControls reports whether any line of a text has control characters.
// The carriage return of a CR LF does not count.
func TextHasControls(text string) bool {
	for line := range strings.Lines(text) {
		if HasControls(strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")) {
			return true
		}
	}
	return false
}

// HasControls reports whether a line has control characters other than tabs, so
// that a terminal shows something other than its bytes.
func HasControls[T string | []byte](line T) bool {
	for i := range len(line) {
		if b := line[i]; !PlainByte[b] || b == 0xc2 && i+1 < len(line) && line[i+1] >= 0x80 && line[i+1] < 0xa0 {
			return true
		}
	}
	return false
}

// WithoutControls returns a sanitised text. A text without control characters
// stays unchanged.
func WithoutControls(text string) string {
	if !strings.Contains(text, "\r") && !TextHasControls(text) {
		return text
	}
	clean := string(Sanitize([]byte(text)))
	if !strings.HasSuffix(text, "\n") {
		clean = strings.TrimSuffix(clean, "\n")
	}
	return clean
}
