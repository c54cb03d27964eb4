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

// diffSpans lays out the lines of a diff. Code has the colours of its language, and words that
// differ are reversed.
func diffSpans(lines []diffLine) (all [][]layout.Span) {
	for len(lines) > 0 {
		var text []string
		language := lines[0].language
		for _, l := range lines {
			if l.language != language {
				break
			}
			text = append(text, l.text)
		}
		for i, pieces := range language.Diff(text) {
			all = append(all, lines[i].spans(pieces))
		}
		lines = lines[len(text):]
	}
	return all
}

// spans lays out a line whose code, after its sign, has the given pieces.
func (l *diffLine) spans(code []highlight.Piece) []layout.Span {
	st := l.style()
	if !highlight.IsDiffCode(l.text) {
		return []layout.Span{{Text: l.text, Style: st}}
	}
	spans := []layout.Span{{Text: l.text[:1], Style: st}}
	for _, p := range code {
		span := layout.Span{Text: p.Text, Style: st}
		switch {
		case p.Changed:
			span.Style = st + ";" + reversed
		case !l.language.IsPlain():
			span.Style = p.Class.Style()
		}
		spans = append(spans, span)
	}
	return spans
}
