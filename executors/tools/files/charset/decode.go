package charset

import (
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/transform"
)

// Decode returns the text of a file: UTF-8, with a byte order mark if the file has one.
// Each invalid sequence becomes U+FFFD.
func (e *Encoding) Decode(content string) string {
	var out strings.Builder
	out.Grow(len(content) + len(content)/4)
	d := e.decoder()
	for line := range e.lines(content) {
		d.line(&out, line)
	}
	return out.String()
}

// NewReader returns a reader of the text of a file too large for Decode.
func (e *Encoding) NewReader(r io.Reader) io.Reader {
	return transform.NewReader(r, e.codec.NewDecoder())
}

// lines returns the lines of a file with their line feeds. No other character has the
// byte of a line feed in it, except in UTF-16.
func (e *Encoding) lines(content string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for content != "" {
			n := e.lineLen(content)
			if !yield(content[:n]) {
				return
			}
			content = content[n:]
		}
	}
}

// lineLen returns the length of the first line.
func (e *Encoding) lineLen(content string) int {
	at := 0
	for {
		n := strings.IndexByte(content[at:], '\n')
		if n < 0 {
			return len(content)
		}
		at += n
		switch {
		case !e.wide:
			return at + 1
		case e.big && at%2 == 1 && content[at-1] == 0:
			return at + 1
		case !e.big && at%2 == 0 && at+1 < len(content) && content[at+1] == 0:
			return at + 2
		}
		at++
	}
}

// decoder decodes one piece after the other.
type decoder struct {
	codec transform.Transformer
	wide  bool
	utf8  bool
	buf   []byte
}

func (e *Encoding) decoder() *decoder {
	return &decoder{codec: e.codec.NewDecoder().Transformer, wide: e.wide, utf8: e.name == UTF8}
}

// line appends the text of a line.
func (d *decoder) line(out *strings.Builder, line string) {
	if !d.wide && isASCII(line) {
		out.WriteString(line)
		return
	}
	if d.utf8 {
		for _, r := range line { // U+FFFD for an invalid byte
			out.WriteRune(r)
		}
		return
	}
	d.codec.Reset()
	d.buf = append(d.buf[:0], line...)
	src := d.buf
	var dst [512]byte
	for len(src) > 0 {
		nDst, nSrc, err := d.codec.Transform(dst[:], src, true)
		out.Write(dst[:nDst])
		src = src[nSrc:]
		if err == nil || nSrc > 0 || nDst > 0 {
			continue
		}
		out.WriteString("\uFFFD") // not reached: a decoder replaces what it cannot decode
		src = src[1:]
	}
}

// unit is one character of a file, or one invalid sequence.
type unit struct {
	bytes string
	text  string // U+FFFD if it is invalid; two characters for a few of Big5
}

// maxUnit is the most bytes that a character has, in a file and in UTF-8.
const maxUnit = 4

// first returns the first character of a line. A decoder stops when its room is full, so the least
// room that is enough holds one character.
func (d *decoder) first(line string) unit {
	if d.utf8 {
		r, size := utf8.DecodeRuneInString(line)
		return unit{line[:size], string(r)}
	}
	d.buf = append(d.buf[:0], line[:min(len(line), maxUnit)]...)
	var dst [2 * maxUnit]byte
	for room := 1; room <= len(dst); room++ {
		d.codec.Reset()
		nDst, nSrc, _ := d.codec.Transform(dst[:room], d.buf, true)
		if nSrc == 0 {
			continue
		}
		return unit{line[:nSrc], string(dst[:nDst])}
	}
	return unit{line[:1], "\uFFFD"} // not reached
}

// isASCII reports whether s has only ASCII characters, no NUL among them.
func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf || s[i] == 0 {
			return false
		}
	}
	return true
}
