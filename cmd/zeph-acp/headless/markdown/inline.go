package markdown

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/layout"
)

// maxDepth limits markup inside markup. Deeper markup stays unchanged, so that the time
// is proportional to the length of the text.
const maxDepth = 8

// inline lays out the text of a block in a style: code, emphasis, links and escapes.
func inline(text, style string) Row { return inlineAt(0, text, style) }

// inlineAt is inline for a text inside of depth marks.
func inlineAt(depth int, text, style string) Row {
	if depth > maxDepth {
		return Row{{Text: text, Style: style}}
	}
	var row Row
	plain := func(text string) {
		if text != "" {
			row = append(row, layout.Span{Text: html.UnescapeString(text), Style: style})
		}
	}
	r := reader{text: text, style: style, depth: depth}
	from := 0
	for i := 0; i < len(text); {
		inner, n, ok := r.span(i)
		switch {
		case ok:
			plain(text[from:i])
			row = append(row, inner...)
			from = i + n
		case n == 0:
			_, n = utf8.DecodeRuneInString(text[i:])
		}
		i += n
	}
	plain(text[from:])
	return row
}

// reader reads the markup of one text, from its beginning to its end.
type reader struct {
	text, style string
	depth       int
	marks       *marks // nil before the first mark
	noStruck    bool   // no "~~" is left
}

// markPlaces returns the places of marks in the text, which are found at the first call.
func (r *reader) markPlaces() *marks {
	if r.marks == nil {
		r.marks = newMarks(r.text)
	}
	return r.marks
}

// inner lays out a text inside of a mark.
func (r *reader) inner(text, style string) Row {
	return inlineAt(r.depth+1, text, addStyle(r.style, style))
}

// span returns the markup that begins at i, laid out, and its length in bytes. If there is
// none, n bytes are text without markup.
func (r *reader) span(i int) (row Row, n int, ok bool) {
	rest := r.text[i:]
	switch rest[0] {
	case '\\':
		if len(rest) > 1 && strings.IndexByte("\\`*_{}[]()#+-.!|~<>", rest[1]) >= 0 {
			return Row{{Text: rest[1:2], Style: r.style}}, 2, true
		}
	case '`':
		return r.codeSpan(i)
	case '*', '_':
		return r.emphasis(i)
	case '~':
		return r.struck(rest)
	case '!':
		if strings.HasPrefix(rest, "![") {
			row, n, ok = r.linkSpan(i + 1)
			return row, n + 1, ok
		}
	case '[':
		return r.linkSpan(i)
	case '<':
		if end := strings.IndexAny(rest[1:], " <>") + 1; end > 0 && rest[end] == '>' && isAddress(rest[1:end]) {
			return Row{{Text: rest[1:end], Style: addStyle(r.style, link)}}, end + 1, true
		}
	}
	return nil, 0, false
}

// codeSpan lays out `code` between equal runs of backquotes. A run without its end is text.
func (r *reader) codeSpan(i int) (Row, int, bool) {
	n := runLength(r.text[i:])
	end := r.markPlaces().nextCode(n, i+n)
	if end < 0 {
		return nil, n, false
	}
	inner := r.text[i+n : end]
	if len(inner) > 2 && inner[0] == ' ' && inner[len(inner)-1] == ' ' {
		inner = inner[1 : len(inner)-1]
	}
	return Row{{Text: inner, Style: addStyle(r.style, code)}}, end + n - i, true
}

// emphasis lays out *emphasis*, **strong** and ***both***. A mark next to a space, and an
// underscore inside a word, are text.
func (r *reader) emphasis(i int) (Row, int, bool) {
	mark := r.text[i]
	n := min(runLength(r.text[i:]), 3)
	from := i + n
	if from == len(r.text) || r.text[from] == ' ' || mark == '_' && insideWord(r.text[:i]) {
		return nil, n, false
	}
	end := r.markPlaces().nextClosing(mark, n, from)
	if end < 0 {
		return nil, n, false
	}
	return r.inner(r.text[from:end], [...]string{italic, bold, bold + ";" + italic}[n-1]), end + n - i, true
}

// struck lays out ~~struck~~ text.
func (r *reader) struck(rest string) (Row, int, bool) {
	if r.noStruck || !strings.HasPrefix(rest, "~~") {
		return nil, 0, false
	}
	end := strings.Index(rest[2:], "~~")
	r.noStruck = end < 0
	if end <= 0 {
		return nil, 0, false
	}
	return r.inner(rest[2:2+end], struck), end + 4, true
}

func insideWord(before string) bool {
	r, _ := utf8.DecodeLastRuneInString(before)
	return isWord(r)
}

func isWord(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// linkSpan lays out [text](address): both are shown, so that the address is never hidden.
func (r *reader) linkSpan(i int) (Row, int, bool) {
	m := r.markPlaces()
	end, ok := m.brackets[i]
	if !ok || !strings.HasPrefix(r.text[end+1:], "(") {
		return nil, 0, false
	}
	to, ok := m.brackets[end+1]
	if !ok {
		return nil, 0, false
	}
	address, _, _ := strings.Cut(strings.TrimSpace(r.text[end+2:to]), ` "`)
	label := r.text[i+1 : end]
	row := r.inner(label, link)
	if address != "" && address != label && "mailto:"+label != address {
		row = append(row, layout.Span{Text: " (" + address + ")", Style: addStyle(r.style, dim)})
	}
	return row, to + 1 - i, true
}

// isAddress reports whether the text between < and > is an address and no HTML.
func isAddress(text string) bool {
	return strings.Contains(text, "://") || strings.HasPrefix(text, "mailto:")
}

// addStyle combines two styles.
func addStyle(style, more string) string {
	if style == "" {
		return more
	}
	return style + ";" + more
}
