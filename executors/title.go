package executors

import "strings"

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

// Titled returns s, a path or a pattern, for a title: quoted only where a client
// could show another text.
func Titled(s string) string {
	if strings.ContainsAny(s, ":`") {
		return Quoted(s)
	}
	return s
}
