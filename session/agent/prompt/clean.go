package prompt

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// maxPath bounds a path that is shown, in characters.
const maxPath = 500

// element is the name of the mark around what is not ours.
const element = "project_file"

// marks are what a model could take for the beginning or the end of an element,
// also as it is written by those who would like that.
var marks = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)[<＜﹤‹]([\s/\\／]*project[\s_-]*file)`)
})

// clean makes a foreign text one that ends no element, and that has nothing in it
// which a person would not see: no control characters, no changes of direction, no
// characters without width or of the block of tags, in which words can be hidden.
func clean(s string) string {
	s = strings.ToValidUTF8(strings.ReplaceAll(s, "\r\n", "\n"), string(utf8.RuneError))
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return r
		case r == '\r', r == '\v', r == '\f', r == '\u0085', r == '\u2028', r == '\u2029':
			return '\n'
		case unseen(r):
			return -1
		}
		return r
	}, s)
	return marks().ReplaceAllString(s, "&lt;$1")
}

// unseen reports whether a character shows nothing by itself.
func unseen(r rune) bool {
	switch {
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r), unicode.Is(unicode.Co, r):
		return true
	case 0xE0100 <= r && r <= 0xE01EF, 0xFE00 <= r && r <= 0xFE0E: // variation selectors, of which any number may follow a character
		return true
	}
	return false
}

// oneLine makes a foreign text one line of at most max characters, that ends no
// element and no attribute.
func oneLine(s string, max int) string {
	s = strings.Join(strings.Fields(clean(s)), " ")
	s = strings.NewReplacer(`"`, "'", "<", "&lt;", ">", "&gt;").Replace(s)
	if utf8.RuneCountInString(s) > max {
		s = string([]rune(s)[:max-1]) + "…"
	}
	return s
}
