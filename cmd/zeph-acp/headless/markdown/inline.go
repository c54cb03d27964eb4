package markdown

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/layout"
)

// maxInline limits the text whose markup is read, in bytes: the end of a mark is searched in
// the rest of the text.
const maxInline = 16 << 10

// inline lays out the text of a block in a style: code, emphasis, links and escapes.
func inline(text, style string) Row {
	if len(text) > maxInline {
		return Row{{Text: text, Style: style}}
	}
	var row Row
	add := func(text, style string) {
		if text != "" {
			row = append(row, layout.Span{Text: text, Style: style})
		}
	}
	plain := func(text string) { add(html.UnescapeString(text), style) }
	from := 0
	for i := 0; i < len(text); {
		inner, n := span(text, i, style)
		if n == 0 {
			_, size := utf8.DecodeRuneInString(text[i:])
			i += size
			continue
		}
		plain(text[from:i])
		row = append(row, inner...)
		i += n
		from = i
	}
	plain(text[from:])
	return row
}

// span returns the markup that begins at text[i], laid out, and its length in bytes; 0 if
// there is none.
func span(text string, i int, style string) (Row, int) {
	rest := text[i:]
	switch text[i] {
	case '\\':
		if len(rest) > 1 && strings.IndexByte("\\`*_{}[]()#+-.!|~<>", rest[1]) >= 0 {
			return Row{{Text: rest[1:2], Style: style}}, 2
		}
	case '`':
		return codeSpan(rest, style)
	case '*', '_':
		return emphasis(text, i, style)
	case '~':
		if end := strings.Index(rest[min(2, len(rest)):], "~~"); strings.HasPrefix(rest, "~~") && end > 0 {
			return inline(rest[2:2+end], with(style, struck)), end + 4
		}
	case '!':
		if strings.HasPrefix(rest, "![") {
			if row, n := linkSpan(rest[1:], style); n > 0 {
				return row, n + 1
			}
		}
	case '[':
		return linkSpan(rest, style)
	case '<':
		if end := strings.IndexByte(rest, '>'); end > 0 && isAddress(rest[1:end]) {
			return Row{{Text: rest[1:end], Style: with(style, link)}}, end + 1
		}
	}
	return nil, 0
}

// codeSpan lays out `code` between equal runs of backquotes. A run without its end is text.
func codeSpan(text, style string) (Row, int) {
	n := len(text) - len(strings.TrimLeft(text, "`"))
	for at := n; at < len(text); {
		next := strings.IndexByte(text[at:], '`')
		if next < 0 {
			break
		}
		at += next
		run := len(text[at:]) - len(strings.TrimLeft(text[at:], "`"))
		if run == n {
			inner := text[n:at]
			if len(inner) > 2 && inner[0] == ' ' && inner[len(inner)-1] == ' ' {
				inner = inner[1 : len(inner)-1]
			}
			return Row{{Text: inner, Style: with(style, code)}}, at + n
		}
		at += run
	}
	return Row{{Text: text[:n], Style: style}}, n
}

// emphasis lays out *emphasis*, **strong** and ***both***. A mark next to a space, and an
// underscore inside a word, are text.
func emphasis(text string, i int, style string) (Row, int) {
	mark := text[i : i+1]
	rest := text[i:]
	n := min(len(rest)-len(strings.TrimLeft(rest, mark)), 3)
	fence := rest[:n]
	inner := rest[n:]
	if inner == "" || inner[0] == ' ' || mark == "_" && insideWord(text[:i]) {
		return Row{{Text: fence, Style: style}}, n
	}
	for at := 1; at <= len(inner)-n; at++ {
		closes := strings.HasPrefix(inner[at:], fence) && inner[at-1] != ' ' && inner[at-1] != '\\' &&
			!strings.HasPrefix(inner[at+n:], mark) && (n > 1 || inner[at-1] != mark[0])
		after, _ := utf8.DecodeRuneInString(inner[at:][min(n, len(inner)-at):])
		if closes && !(mark == "_" && isWord(after)) && !openCode(inner[:at]) {
			return inline(inner[:at], with(style, [...]string{italic, bold, bold + ";" + italic}[n-1])), at + 2*n
		}
	}
	return Row{{Text: fence, Style: style}}, n
}

// openCode reports whether a text ends inside a code span.
func openCode(text string) bool { return strings.Count(text, "`")%2 == 1 }

func insideWord(before string) bool {
	r, _ := utf8.DecodeLastRuneInString(before)
	return isWord(r)
}

func isWord(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// linkSpan lays out [text](address): both are shown, so that the address is never hidden.
func linkSpan(text, style string) (Row, int) {
	end := closing(text, '[', ']')
	if end < 0 || !strings.HasPrefix(text[end+1:], "(") {
		return nil, 0
	}
	to := closing(text[end+1:], '(', ')')
	if to < 0 {
		return nil, 0
	}
	address, _, _ := strings.Cut(strings.TrimSpace(text[end+2:end+1+to]), ` "`)
	label, n := text[1:end], end+1+to+1
	row := inline(label, with(style, link))
	if address != "" && address != label && "mailto:"+label != address {
		row = append(row, layout.Span{Text: " (" + address + ")", Style: with(style, dim)})
	}
	return row, n
}

// closing returns the index of the bracket that closes the one at the beginning, or -1.
func closing(text string, open, end byte) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case open:
			depth++
		case end:
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// isAddress reports whether the text between < and > is an address and no HTML.
func isAddress(text string) bool {
	return !strings.ContainsAny(text, " <") && (strings.Contains(text, "://") || strings.HasPrefix(text, "mailto:"))
}

// with adds a style to another.
func with(style, more string) string {
	if style == "" {
		return more
	}
	return style + ";" + more
}
