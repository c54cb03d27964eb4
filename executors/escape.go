package executors

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
)

// EscapeJSON returns a JSON text in which the characters that escaped reports are
// escaped, such as those that control a terminal or are invisible: encoding/json escapes
// only some of them. Such characters must occur only in strings of the text.
func EscapeJSON(text string, escaped func(rune) bool) string {
	if strings.IndexFunc(text, escaped) < 0 {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case !escaped(r):
			b.WriteRune(r)
		case r > 0xFFFF:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// TOMLString returns s as a basic string of TOML. It escapes all characters that an
// editor would not show literally.
func TOMLString(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case unicode.IsPrint(r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
