package executors

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Quoted returns s, one line, as a Markdown code span. Clients show titles as
// Markdown, and some of them cut a title at a colon outside of a span.
func Quoted(s string) string {
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " " // Markdown drops one space at both ends
	}
	return fence + s + fence
}

// Titled returns s, a path or a pattern, for a title. It quotes s only if a client
// could show it differently.
func Titled(s string) string {
	if strings.ContainsAny(s, ":`") {
		return Quoted(s)
	}
	return s
}

// OneLine returns a name as it is, or quoted if it would not stay on one line or
// would change the direction of the text.
func OneLine(name string) string {
	odd := func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) } // Cf: changes of direction
	if strings.IndexFunc(name, odd) >= 0 || !utf8.ValidString(name) {
		return strconv.Quote(name)
	}
	return name
}
