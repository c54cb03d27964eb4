package headless

import (
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/highlight"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/layout"
)

// diffLine is a line of a diff.
type diffLine struct {
	text     string
	language highlight.Language // of the file

	code    []highlight.Piece // the text without its sign
	changed []bool            // the bytes of code that differ from the line that it replaces
}

// style returns the style of a line's sign and edge, and of the whole line if nothing is known of its
// language.
func (l *diffLine) style() style {
	switch {
	case strings.HasPrefix(l.text, "+"):
		return green
	case strings.HasPrefix(l.text, "-"):
		return red
	case strings.HasPrefix(l.text, "@"):
		return cyan
	}
	return plainText
}

// diffSpans lays out the lines of a diff. Code has the colours of its language. If as many lines
// were added as removed, the words that differ are reversed.
func diffSpans(lines []diffLine) [][]layout.Span {
	for from := 0; from < len(lines); {
		var text []string
		language := lines[from].language
		for _, l := range lines[from:] {
			if l.language != language {
				break
			}
			text = append(text, l.text)
		}
		for i, pieces := range language.Diff(text) {
			lines[from+i].code = pieces
		}
		from += len(text)
	}
	for i := 0; i < len(lines); {
		removed := signedLines(lines[i:], '-')
		added := signedLines(lines[i+removed:], '+')
		if removed == added {
			for k := i; k < i+removed; k++ {
				was, is := &lines[k], &lines[k+removed]
				if a, b, ok := changedWords(was.text[1:], is.text[1:]); ok {
					was.changed, is.changed = a, b
				}
			}
		}
		i += max(removed+added, 1)
	}
	var all [][]layout.Span
	for _, l := range lines {
		all = append(all, l.spans())
	}
	return all
}

// spans lays out a line.
func (l *diffLine) spans() []layout.Span {
	st := l.style()
	if !highlight.IsDiffCode(l.text) {
		return []layout.Span{{Text: l.text, Style: st}}
	}
	spans := []layout.Span{{Text: l.text[:1], Style: st}}
	at := 0
	for _, p := range l.code {
		inCode := st
		if !l.language.IsPlain() {
			inCode = p.Class.Style()
		}
		for from := 0; from < len(p.Text); {
			to := from + 1
			for to < len(p.Text) && l.isChanged(at+to) == l.isChanged(at+from) {
				to++
			}
			span := layout.Span{Text: p.Text[from:to], Style: inCode}
			if l.isChanged(at + from) {
				span.Style = st + ";" + reversed
			}
			spans, from = append(spans, span), to
		}
		at += len(p.Text)
	}
	return spans
}

// isChanged reports whether a byte of the code belongs to a word that differs.
func (l *diffLine) isChanged(i int) bool { return i < len(l.changed) && l.changed[i] }

// signedLines returns the number of lines at the beginning that start with a sign.
func signedLines(lines []diffLine, sign byte) int {
	n := 0
	for n < len(lines) && lines[n].text != "" && lines[n].text[0] == sign {
		n++
	}
	return n
}
