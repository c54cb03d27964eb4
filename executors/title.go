package executors

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/filter/text/visible"
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

// Titled returns s, a path or a pattern, for a title. It quotes s only if a
// client could render it differently.
func Titled(s string) string {
	if strings.ContainsAny(s, ":`") {
		return Quoted(s)
	}
	return s
}

// unseen reports whether a character controls how a text is shown, or is itself not visible. The
// Hangul fillers and the empty Braille pattern are letters and symbols for Unicode, and look like
// spaces.
func unseen(r rune) bool {
	return unicode.IsControl(r) || r == '\u2800' ||
		unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point)
}

// OneLine returns a name unchanged. It quotes a name that contains line breaks, invisible
// characters, or characters that change the text direction.
func OneLine(name string) string {
	if strings.IndexFunc(name, unseen) >= 0 || !utf8.ValidString(name) {
		return EscapeJSON(strconv.Quote(name), unseen)
	}
	return name
}

// WholeLine returns a script or another text on one line, without removing anything: see [visible.Line].
func WholeLine(text string) string { return visible.Line(text) }
