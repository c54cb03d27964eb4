// Package linemark numbers the lines of a page that a model reads: a mark above each tenth line,
// such as "[line 20]", names the line below it. A number in each line would cost a fifth of the
// page's bytes and a third of its tokens.
//
// All other lines are exactly those of the text, so a model can copy them. Marks that it copies
// with them are taken away again: see [Strip] and [StripWhole].
package linemark

import (
	"strconv"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// every is the distance of marks.
const every = 10

// Mark returns what stands above line n of a text, from 1: a mark with a line feed, or "". The
// first line of a page has a mark unless it is the first one of the text.
func Mark(n int, first bool) string {
	if n%every != 0 && !(first && n > 1) {
		return ""
	}
	return "[line " + strconv.Itoa(n) + "]\n"
}

var mark = lazyregexp.New(`(?m)^\[line ([0-9]+)\](\n|$)`)

// Strip returns a text without the lines that are marks.
func Strip(text string) string {
	if !strings.Contains(text, "[line ") {
		return text
	}
	plain := mark.ReplaceAllString(text, "")
	if !strings.HasSuffix(text, "\n") { // the last line of the text was a mark
		plain = strings.TrimSuffix(plain, "\n")
	}
	return plain
}

// StripWhole returns a whole text without its marks if it has one above each tenth line and no
// others, as a page from the beginning has them; else the text as it is.
func StripWhole(text string) string {
	n, marks := 0, 0
	for line := range strings.Lines(text) {
		switch {
		case mark.MatchString(line) && strings.TrimSuffix(line, "\n") == strings.TrimSuffix(Mark(n+1, false), "\n"):
			marks++
		case mark.MatchString(line):
			return text
		default:
			n++
		}
	}
	if marks == 0 || marks != n/every {
		return text
	}
	return Strip(text)
}
