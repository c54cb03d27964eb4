package memory

import (
	"slices"
	"strings"
	"sync"
	"unicode"
)

// stopWords are words without information about the subject of a text.
var stopWords = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(`a about above after again all also am an and any are as at be been before being but by can could did do does
		doing don down for from get had has have having he her here how i if in into is it its just let like made make me more most must my no nor not now of
		off on once only or other our out over own same she should so some such tell than that the their them then there these they this those to too under
		until up use used uses using very was we were what when where which while who whom whose why will with would you your
		please know remember recall find show say said work works way thing things project user
		der die das den dem des ein eine und oder ist sind war was wie wo wer wann warum welche welcher mit für von zu auf im in`) {
		set[w] = true
	}
	return set
})

// synonyms are groups of words that mean the same in texts about software.
var synonyms = [][]string{
	{"db", "database"},
	{"auth", "authentication", "login", "authenticate"},
	{"config", "configuration", "settings", "setting"},
	{"repo", "repository"},
	{"env", "environment"},
	{"deps", "dependencies", "dependency"},
	{"docs", "documentation"},
	{"k8s", "kubernetes"},
	{"postgres", "postgresql", "pg"},
	{"js", "javascript"},
	{"ts", "typescript"},
	{"dir", "directory", "folder"},
	{"prod", "production"},
	{"perf", "performance"},
	{"spec", "specification"},
	{"app", "application"},
	{"lib", "library"},
	{"msg", "message"},
	{"err", "error"},
	{"admin", "administrator"},
	{"ci", "pipeline"},
	{"delete", "remove"},
	{"create", "add"},
	{"begin", "start"},
	{"fix", "repair"},
	{"pwd", "password"},
	{"prefer", "favour", "favor"},
	{"ship", "release", "deploy"},
}

// wordsOf returns the words of text in lower case, without stop words. An identifier such as
// createIssue is split into words. Every character of a script without spaces is a word.
func wordsOf(text string) []string {
	var out []string
	separates := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r) }
	for _, piece := range strings.FieldsFunc(text, separates) {
		for _, w := range append([]string{piece}, identifier(piece)...) {
			if w = strings.ToLower(w); !stopWords()[w] && !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	return out
}

// identifier returns the parts of a name such as createIssue or HTTPServer, and the pairs of
// adjacent characters of a script without spaces; nil if the word has no parts.
func identifier(word string) (out []string) {
	runes, from := []rune(word), 0
	for i := 1; i < len(runes); i++ {
		lower := i+1 < len(runes) && unicode.IsLower(runes[i+1])
		if unicode.IsUpper(runes[i]) && (unicode.IsLower(runes[i-1]) || unicode.IsUpper(runes[i-1]) && lower) {
			out, from = append(out, string(runes[from:i])), i
		}
		if unspaced(runes[i-1]) && unspaced(runes[i]) {
			out = append(out, string(runes[i-1:i+1]))
		}
	}
	if from > 0 {
		out = append(out, string(runes[from:]))
	}
	return out
}

// unspaced reports whether a character belongs to a script without spaces.
func unspaced(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// Parts returns further words to index for a text: the parts of its identifiers.
func Parts(text string) string {
	var out []string
	for _, piece := range strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		out = append(out, identifier(piece)...)
	}
	return strings.Join(out, " ")
}

// stem returns a word without its usual endings.
func stem(w string) string {
	for _, ending := range []string{"ations", "ation", "ings", "ing", "ions", "ion", "ies", "es", "ed", "ly", "s", "e"} {
		if rest, ok := strings.CutSuffix(w, ending); ok && len(rest) >= 3 {
			return rest
		}
	}
	return w
}

// stems returns the set of the stems of a text's words.
func stems(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range wordsOf(text) {
		set[stem(w)] = true
	}
	return set
}

// maxTerms limits the words of a query.
const maxTerms = 24

// term is a word of a query.
type term struct {
	exact string // an expression of FTS5: the word, or a synonym of it
	begin string // the same for words that begin with it; "" means none
}

// terms returns the words of a query.
func terms(query string) (out []term) {
	for _, w := range wordsOf(query) {
		if len(out) == maxTerms {
			break
		}
		t := term{exact: quoted(w)}
		if len([]rune(w)) >= 4 {
			t.begin = quoted(w) + "*"
		}
		for _, s := range synonymsOf(w) {
			t.exact += " OR " + quoted(s)
		}
		out = append(out, t)
	}
	return out
}

// synonymsOf returns the other words of the groups of synonyms with a word, by its stem.
func synonymsOf(word string) (out []string) {
	for _, group := range synonyms {
		if slices.ContainsFunc(group, func(s string) bool { return s == word || stem(s) == stem(word) }) {
			out = append(out, group...)
		}
	}
	return slices.DeleteFunc(out, func(s string) bool { return s == word })
}

// quoted returns a word of letters and digits as a string of FTS5.
func quoted(word string) string { return `"` + word + `"` }
