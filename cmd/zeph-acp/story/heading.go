package story

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

// heading returns the title of the session as a sentence. The title of a session is the beginning of its first
// prompt: if it was cut off there, or if that prompt is a command, the page has the first line of a
// prompt.
func (s *Story) heading() string {
	title := s.Title
	begin, isCut := strings.CutSuffix(title, "…")
	if isCut || strings.HasPrefix(title, "/") {
		for _, t := range s.Turns {
			first := line.First(t.prompt())
			if isCut && strings.HasPrefix(first, begin) || !isCut && t.Number > 0 && first != "" && first[0] != '/' {
				title = shortLine(first)
				break
			}
		}
	}
	if title == "" {
		return "Session " + s.Session.ID
	}
	return sentence(title)
}

// prompt returns the first text of the user.
func (t *Turn) prompt() string {
	for _, i := range t.Items {
		if i.Speaker == User {
			return i.Text
		}
	}
	return ""
}

// sentence returns a line that begins with a capital letter, unless it begins with something other than a word.
func sentence(text string) string {
	word, _, _ := strings.Cut(text, " ")
	if strings.ContainsFunc(strings.TrimRight(word, ",:"), func(r rune) bool { return !unicode.IsLower(r) }) {
		return text
	}
	first, n := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[n:]
}
