package charset

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/filter/text/align"
)

// MissingError reports a character that the encoding lacks.
type MissingError struct {
	Encoding string
	Char     rune // U+FFFD: it stands for invalid bytes, and is not where the file had such bytes
	Line     int  // 1-based, of the new text
}

func (e *MissingError) Error() string {
	if e.Char == utf8.RuneError {
		return fmt.Sprintf("line %d: U+FFFD stands for bytes that are not valid %s, and no such bytes were there", e.Line, e.Encoding)
	}
	return fmt.Sprintf("line %d: %s has no character %s", e.Line, e.Encoding, Describe(e.Char))
}

// Describe returns a character with its code point.
func Describe(r rune) string { return fmt.Sprintf("%q (%U)", r, r) }

// errMerged reports that the bytes around a change form another text than they should.
var errMerged = errors.New("invalid bytes of the file would merge with the change")

// EncodeNew returns the bytes of a new file. The text has a byte order mark only if the encoding asks for it.
func (e *Encoding) EncodeNew(text string) (string, error) {
	text = strings.TrimPrefix(text, markUTF8)
	if e.mark {
		text = markUTF8 + text
	}
	return e.Encode("", text)
}

// Encode returns the bytes of a file after its text, the result of Decode for content, was replaced. Lines whose text
// stays keep their bytes; in other lines the characters that stay do. The error is a [*MissingError] if a
// new character cannot be encoded.
func (e *Encoding) Encode(content, text string) (string, error) {
	w := &writer{Encoding: e, line: 1}
	err := w.lines(content, text)
	if missing, ok := errors.AsType[*MissingError](err); ok && missing.Char == utf8.RuneError {
		w = &writer{Encoding: e, line: 1} // equal lines with invalid bytes may have been paired in another way
		if w.changed(content, text) == nil {
			err = nil
		}
	}
	if err != nil {
		return "", err
	}
	out := w.out.String()
	if e.Decode(out) != text {
		return "", errMerged
	}
	return out, nil
}

// writer writes the bytes of a changed text.
type writer struct {
	*Encoding
	out  strings.Builder
	line int // of the new text
}

// lines writes the text line by line.
func (w *writer) lines(content, text string) error {
	w.out.Grow(len(content) + len(text)/4)
	old := slices.Collect(w.Encoding.lines(content))
	shown := make([]string, len(old))
	d := w.decoder()
	for i, line := range old {
		var b strings.Builder
		d.line(&b, line)
		shown[i] = b.String()
	}
	lines := slices.Collect(strings.Lines(text))
	atOld, atNew := 0, 0
	for _, p := range append(align.Common(shown, lines), align.Pair{len(old), len(lines)}) {
		if err := w.block(old[atOld:p[0]], lines[atNew:p[1]]); err != nil {
			return err
		}
		if p[0] < len(old) {
			w.out.WriteString(old[p[0]])
			w.line++
		}
		atOld, atNew = p[0]+1, p[1]+1
	}
	return nil
}

// maxBlock is the most characters of changed lines that are compared as a whole.
const maxBlock = 1 << 10

// block writes new lines that replace old ones. Long blocks are compared line by line.
func (w *writer) block(old, lines []string) error {
	for len(old) > 1 && len(lines) > 1 && totalLen(old)+totalLen(lines) > maxBlock {
		if err := w.changed(old[0], lines[0]); err != nil {
			return err
		}
		old, lines = old[1:], lines[1:]
	}
	return w.changed(strings.Join(old, ""), strings.Join(lines, ""))
}

func totalLen(lines []string) int {
	n := 0
	for _, line := range lines {
		n += len(line)
	}
	return n
}

// changed writes text that replaces a piece of the file. It keeps the bytes of equal characters at both ends, and of
// those that it can pair between them.
func (w *writer) changed(old, text string) error {
	shown := w.Decode(old)
	head, tail := commonEnds(shown, text)
	units, from, to := w.between(old, head, len(shown)-tail)
	w.out.WriteString(old[:from.bytes])
	w.line += strings.Count(text[:from.text], "\n")
	tail = len(shown) - to.text
	if err := w.paired(units, text[from.text:len(text)-tail]); err != nil {
		return err
	}
	w.out.WriteString(old[to.bytes:])
	w.line += strings.Count(text[len(text)-tail:], "\n")
	return nil
}

// commonEnds returns the lengths of the longest prefix and suffix of whole characters that a and b share; they do not overlap.
func commonEnds(a, b string) (prefix, suffix int) {
	for prefix < min(len(a), len(b)) && a[prefix] == b[prefix] {
		prefix++
	}
	for prefix > 0 && prefix < len(a) && !utf8.RuneStart(a[prefix]) || prefix > 0 && prefix < len(b) && !utf8.RuneStart(b[prefix]) {
		prefix--
	}
	for suffix < min(len(a), len(b))-prefix && a[len(a)-1-suffix] == b[len(b)-1-suffix] {
		suffix++
	}
	for suffix > 0 && !utf8.RuneStart(a[len(a)-suffix]) {
		suffix--
	}
	return prefix, suffix
}

// place is an offset in a piece of a file and in its text.
type place struct{ bytes, text int }

// between returns the units of a piece of a file between two offsets of its text, and where they begin and end. A unit that
// reaches over an offset is one of them.
func (w *writer) between(content string, first, last int) (units []unit, from, to place) {
	d := w.decoder()
	var at place
	for line := range w.Encoding.lines(content) {
		for line != "" {
			u := d.first(line)
			line = line[len(u.bytes):]
			next := place{at.bytes + len(u.bytes), at.text + len(u.text)}
			switch {
			case next.text <= first:
				from = next
			case at.text < last:
				units = append(units, u)
			default:
				return units, from, at
			}
			at = next
		}
	}
	return units, from, at
}

// paired writes text that replaces units.
func (w *writer) paired(units []unit, text string) error {
	if len(units) == 0 {
		return w.encode(text)
	}
	var before []rune
	var codes []string // for each character before its bytes, empty for the second one of a unit
	for _, u := range units {
		code := u.bytes
		for _, r := range u.text {
			before, codes = append(before, r), append(codes, code)
			code = ""
		}
	}
	chars := []rune(text)
	at := 0
	pairs := append(align.Common(before, chars), align.Pair{len(before), len(chars)})
	for i := 0; i < len(pairs); i++ {
		p, size := pairs[i], 1
		if p[0]+1 < len(codes) && codes[p[0]+1] == "" { // both or none
			size = 2
		}
		if p[0] < len(codes) && (codes[p[0]] == "" || size == 2 && pairs[i+1] != align.Pair{p[0] + 1, p[1] + 1}) {
			continue
		}
		if err := w.encode(string(chars[at:p[1]])); err != nil {
			return err
		}
		if p[0] < len(codes) {
			w.out.WriteString(codes[p[0]])
			w.line += strings.Count(string(chars[p[1]]), "\n")
		}
		at = p[1] + size
		i += size - 1
	}
	return nil
}

// encode writes new text.
func (w *writer) encode(text string) error {
	codec := w.codec.NewEncoder()
	for line := range strings.Lines(text) {
		if !w.wide && isASCII(line) {
			w.out.WriteString(line)
		} else if encoded, err := codec.String(line); err == nil && !strings.ContainsRune(line, utf8.RuneError) && w.Decode(encoded) == line {
			w.out.WriteString(encoded)
		} else if r, ok := w.missing(line); ok {
			return &MissingError{Encoding: w.name, Char: r, Line: w.line}
		} else {
			return errMerged // not reached
		}
		w.line += strings.Count(line, "\n")
	}
	return nil
}

// missing returns the first character that cannot be encoded.
func (w *writer) missing(text string) (r rune, ok bool) {
	codec := w.codec.NewEncoder()
	for _, r := range text {
		encoded, err := codec.String(string(r))
		if err != nil || r == utf8.RuneError || w.Decode(encoded) != string(r) {
			return r, true
		}
	}
	return 0, false
}
