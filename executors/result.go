package executors

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Category returns the category of the failure; it is empty for a success and for
// an ordinary exit code.
func (r Result) Category() Category {
	if r.Failure == nil {
		return ""
	}
	return r.Failure.Category
}

// Below adds a line below the text. It does not change the notes of copies of r.
func (r *Result) Below(line string) {
	if line != "" {
		r.Notes = append(slices.Clip(r.Notes), line)
	}
}

// ForModel returns the whole text of the result as a model reads it: the failure
// as a [tool_error] block, the text, and the notes.
func (r Result) ForModel() string {
	if r.Failure == nil {
		return r.below("")
	}
	return r.below(r.Failure.block())
}

// ForPeople returns the text of the result as people read it: a sentence in
// place of the [tool_error] block, which is for models.
func (r Result) ForPeople() string {
	if r.Failure == nil {
		return r.below("")
	}
	return r.below(cmp.Or(r.Failure.UserText, sentence(r.Failure.Message)))
}

// below returns a heading with the text and the notes below it.
func (r Result) below(heading string) string {
	if heading == "" && len(r.Notes) == 0 {
		return r.Text
	}
	return JoinLines(append([]string{heading, r.Text}, r.Notes...)...)
}

// block returns the failure as a [tool_error] block: a heading and four lines. The
// last line says whether the same call may succeed later.
func (f *Failure) block() string {
	return fmt.Sprintf("[tool_error]\ncategory: %s\nerror: %s\nsuggestion: %s\nretryable: %t",
		f.Category, f.Message, f.Suggestion, f.Category.Infrastructure())
}

// openers are the words that begin a sentence; any other may be a name.
var openers = []string{"a", "an", "exit", "it", "no", "not", "nothing", "only", "stopped", "that", "the", "there", "this"}

// sentence begins a text with a capital letter and ends it with a full stop.
func sentence(s string) string {
	if word, _, _ := strings.Cut(s, " "); slices.Contains(openers, strings.TrimSuffix(word, ":")) {
		first, size := utf8.DecodeRuneInString(s)
		s = string(unicode.ToUpper(first)) + s[size:]
	}
	if !strings.HasSuffix(s, ".") && !strings.HasSuffix(s, "?") && !strings.HasSuffix(s, "!") {
		s += "."
	}
	return s
}
