package mcp

import (
	"strings"
	"unicode/utf8"
)

// legible returns a text of a server without the characters that would change how a
// terminal or an editor shows it. Control characters other than tab and newline become
// their symbols, such as ␛. Overrides of the writing direction and tag characters, which
// only models read, are removed.
func legible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < ' ':
			return '␀' + r
		case r == 0x7F:
			return '␡'
		case r >= 0x80 && r <= 0x9F, r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069, r >= 0xE0000 && r <= 0xE007F:
			return -1
		}
		return r
	}, strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), string(utf8.RuneError)))
}
