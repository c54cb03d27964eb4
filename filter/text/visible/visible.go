// Package visible makes text safe to show to a person: a question shows what will run,
// and its characters never hide, reorder or move the rest.
//
// [Line] is for titles and labels, [Text] for longer text. Both spell out characters that clients do
// not show, count long runs of blanks, and mark letters that resemble another script's letters.
// Both are idempotent.
package visible

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// Hidden reports whether clients show nothing for a character, or a blank that is not the blank, or
// another order of the text around it: controls, format characters, variation selectors, tags, all
// separators but the blank. "\n" and "\t" are hidden too.
func Hidden(r rune) bool {
	switch r {
	case ' ':
		return false
	case '\u2800', '\u034f', '\U00016fe4', '\U0001d159': // an empty Braille pattern, a joiner, a filler, an empty note
		return true
	}
	return r > unicode.MaxASCII && unicode.In(r, unicode.Cf, unicode.Co, unicode.Z, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) ||
		unicode.IsControl(r)
}

// Limits on blanks that are shown as they are.
const (
	maxBlanks     = 3  // in a line
	maxTextBlanks = 40 // in a text, which may be indented
	maxBreaks     = 3  // line breaks in a row
)

// Line returns a text on one line, without removing anything.
func Line(text string) string {
	text = strings.ReplaceAll(strings.TrimFunc(text, isASCIISpace), "\r\n", "\n")
	return write(text, maxBlanks, func(b *strings.Builder, n int) {
		for range min(n, maxBreaks) {
			b.WriteString(" ⏎ ")
		}
		if n > maxBreaks {
			fmt.Fprintf(b, "<%d more line breaks> ", n-maxBreaks)
		}
	}, " ")
}

// Text returns a text of several lines, without removing anything.
func Text(text string) string {
	return write(strings.ReplaceAll(text, "\r\n", "\n"), maxTextBlanks, func(b *strings.Builder, n int) {
		b.WriteString(strings.Repeat("\n", min(n, maxBreaks)))
		if n > maxBreaks {
			fmt.Fprintf(b, "<%d more line breaks>\n", n-maxBreaks)
		}
	}, "\t")
}

func isASCIISpace(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' }

// write is Text with parameters: how many blanks may stand in a row, and how line breaks and tabs are
// written.
func write(text string, blanks int, breaks func(b *strings.Builder, n int), tab string) string {
	if isPlain(text, blanks) {
		return text
	}
	var b strings.Builder
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == '\n':
			n := len(text) - len(strings.TrimLeft(text, "\n"))
			breaks(&b, n)
			size = n
		case r == ' ' || r == '\t':
			n := len(text) - len(strings.TrimLeft(text, " \t"))
			if n > blanks {
				fmt.Fprintf(&b, "<%s>", quantity.Count(n, "blank"))
			} else {
				b.WriteString(strings.ReplaceAll(text[:n], "\t", tab))
			}
			size = n
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "<0x%02X>", text[0])
		case Hidden(r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		case unicode.IsLetter(r):
			size = len(text) - len(strings.TrimLeftFunc(text, func(r rune) bool { return unicode.IsLetter(r) && !Hidden(r) || unicode.IsMark(r) && !Hidden(r) }))
			writeWord(&b, text[:size])
		default:
			b.WriteRune(r)
		}
		text = text[size:]
	}
	return b.String()
}

// isPlain reports whether a text is ASCII that is written as it is.
func isPlain(text string, blanks int) bool {
	run := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c < ' ' || c >= 0x7f {
			return false
		}
		if run++; c != ' ' {
			run = 0
		}
		if run > blanks {
			return false
		}
	}
	return true
}

// lookalikes are scripts with letters that look like ASCII letters.
var lookalikes = []*unicode.RangeTable{
	unicode.Armenian, unicode.Cherokee, unicode.Coptic, unicode.Cyrillic, unicode.Deseret, unicode.Georgian, unicode.Greek, unicode.Lisu,
}

// writeWord writes a word. If it mixes ASCII letters with letters of a lookalike script, it spells
// the latter out: "ѕudo" is not "sudo".
func writeWord(b *strings.Builder, word string) {
	foreign := func(r rune) bool {
		return unicode.In(r, lookalikes...) || r >= 0xff21 && r <= 0xff5a || r >= 0x1d400 && r <= 0x1d7ff // full width, mathematical
	}
	ascii := strings.ContainsFunc(word, func(r rune) bool { return r <= unicode.MaxASCII })
	for _, r := range word {
		if ascii && foreign(r) {
			fmt.Fprintf(b, "<U+%04X>", r)
		} else {
			b.WriteRune(r)
		}
	}
}

// Count returns a list of the characters that hide something in text, such as "U+202E" and "U+200B (3 times)". It leaves
// out characters of ordinary text: non-breaking spaces, and the joiners and selectors of emoji.
func Count(text string) []string {
	var order []rune
	n := map[rune]int{}
	for _, r := range text {
		if !Hidden(r) || strings.ContainsRune("\n\r\t\f\u00a0\u202f\u3000\ufe0e\ufe0f\u200d\ufeff", r) {
			continue
		}
		if n[r]++; n[r] == 1 {
			order = append(order, r)
		}
	}
	out := make([]string, len(order))
	for i, r := range order {
		if out[i] = fmt.Sprintf("U+%04X", r); n[r] > 1 {
			out[i] += fmt.Sprintf(" (%s)", quantity.Count(n[r], "time"))
		}
	}
	return out
}
