package prompt

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

// maxPath limits a path that is shown, in characters.
const maxPath = 500

// The names of the elements around [Context], and around foreign text in it.
const (
	contextName = "zeph_context"
	elementName = "project_file"
)

// markPattern matches text that a model could read as the beginning or end of an
// element, including attempts to disguise it.
var markPattern = lazyregexp.New(`(?i)[<＜﹤‹]([\s/\\／]*(?:project[\s_-]*file|zeph[\s_-]*context))`)

// clean returns a foreign text that cannot end an element and has no invisible characters.
// Control characters, changes of direction, characters without width and the tags block can
// hide words.
func clean(s string) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\r\n", "\n"), string(utf8.RuneError))
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case r == '\r', r == '\v', r == '\f', r == '\u0085', r == '\u2028', r == '\u2029':
			return '\n'
		case isInvisible(r):
			return -1
		}
		return r
	}, s)
	return markPattern.ReplaceAllString(s, "&lt;$1")
}

// isInvisible reports whether a character is invisible by itself.
func isInvisible(r rune) bool {
	switch {
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
		return true
	case 0xE0100 <= r && r <= 0xE01EF, 0xFE00 <= r && r <= 0xFE0E: // variation selectors; any number of them may follow a character
		return true
	}
	return false
}

// oneLine returns a foreign text as one line of at most limit characters that
// ends no element and no attribute.
func oneLine(s string, limit int) string {
	s = line.Join(clean(s))
	s = strings.NewReplacer(`"`, "'", "<", "&lt;", ">", "&gt;").Replace(s)
	if utf8.RuneCountInString(s) > limit {
		s = string([]rune(s)[:limit-1]) + "…"
	}
	return s
}
