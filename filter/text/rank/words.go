package rank

import (
	_ "embed"
	"iter"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Words returns the words of a text in lower case, without accents and without stop words. The
// parts of an identifier such as createIssue follow it, as do the pairs of characters of a script without
// spaces.
func Words(text string) (words []string) {
	for w := range written(text) {
		if w = fold(w); !vocabulary().stop[w] {
			words = append(words, w)
		}
	}
	return words
}

// Subject returns the words of a question that an answer to it should have, each once, in lower case.
func Subject(question string) (words []string) {
	v := vocabulary()
	for w := range written(question) {
		w = strings.ToLower(w)
		if plain := fold(w); v.stop[plain] || v.fillers[plain] || v.asking[plain] || slices.Contains(words, w) {
			continue
		}
		words = append(words, w)
	}
	return words
}

// IsFiller reports whether a word, in lower case, makes up questions: an answer need not contain it.
func IsFiller(word string) bool { return vocabulary().fillers[word] }

// Split returns the words of a text as they are.
func Split(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.Mn, r) })
}

// written yields the words of a text as they are, each before its parts.
func written(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, w := range Split(text) {
			if !yield(w) {
				return
			}
			for _, part := range identifier(w) {
				if !yield(part) {
					return
				}
			}
		}
	}
}

// Parts returns the parts of the identifiers of a text: words to index besides the text.
func Parts(text string) string {
	var parts []string
	for _, w := range Split(text) {
		parts = append(parts, identifier(w)...)
	}
	return strings.Join(parts, " ")
}

// identifier returns the parts of a name such as createIssue or HTTPServer, and the pairs of
// adjacent characters of a script without spaces; nil if the word has no parts.
func identifier(word string) (parts []string) {
	runes, from := []rune(word), 0
	for i := 1; i < len(runes); i++ {
		lower := i+1 < len(runes) && unicode.IsLower(runes[i+1])
		if unicode.IsUpper(runes[i]) && (unicode.IsLower(runes[i-1]) || unicode.IsUpper(runes[i-1]) && lower) {
			parts, from = append(parts, string(runes[from:i])), i
		}
		if unspaced(runes[i-1]) && unspaced(runes[i]) {
			parts = append(parts, string(runes[i-1:i+1]))
		}
	}
	if from > 0 {
		parts = append(parts, string(runes[from:]))
	}
	return parts
}

// unspaced reports whether a character belongs to a script without spaces.
func unspaced(r rune) bool {
	return r >= utf8.RuneSelf && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
}

// fold returns a word in lower case without accents.
func fold(word string) string {
	word = strings.ToLower(word)
	if strings.IndexFunc(word, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return word
	}
	var b strings.Builder
	for _, r := range word {
		if plain, ok := unaccented()[r]; ok {
			b.WriteString(plain)
		} else if !unicode.Is(unicode.Mn, r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// unaccented are the letters without their accents.
var unaccented = sync.OnceValue(func() map[rune]string {
	letters := map[rune]string{'ß': "ss", 'æ': "ae", 'œ': "oe"}
	for plain, accented := range map[string]string{"a": "àáâãäå", "c": "ç", "e": "èéêë", "i": "ìíîï", "n": "ñ", "o": "òóôõöø", "u": "ùúûü", "y": "ýÿ"} {
		for _, r := range accented {
			letters[r] = plain
		}
	}
	return letters
})

// stem removes the ending of an English word in simple cases.
func stem(w string) string {
	for _, ending := range []string{"ing", "ed", "ies", "s"} {
		if rest, ok := strings.CutSuffix(w, ending); ok && len(rest) >= 3 && !strings.HasSuffix(rest, "s") {
			if ending == "ies" {
				return rest + "y"
			}
			w = rest
			if n := len(w); n > 3 && w[n-1] == w[n-2] && ending != "s" { // running
				w = w[:n-1]
			}
			break
		}
	}
	if rest, ok := strings.CutSuffix(w, "e"); ok && len(rest) >= 3 {
		return rest
	}
	return w
}

// Terms returns the terms by which a word is compared: the word without its ending, and "=" and a name
// for each meaning.
func Terms(word string) []string {
	v := vocabulary()
	terms := []string{stem(word)}
	for _, name := range v.words[word] {
		terms = append(terms, "="+name)
	}
	for n := 3; n <= len(word); n++ {
		for _, name := range v.prefixes[word[:n]] {
			terms = append(terms, "="+name)
		}
	}
	return terms
}

// isMeaning reports whether a term is a meaning.
func isMeaning(term string) bool { return strings.HasPrefix(term, "=") }

// words.txt lists words by meaning.
//
//go:embed words.txt
var wordsText string

// table is the parsed words.txt.
type table struct {
	stop, fillers, asking map[string]bool     // stop words; words of questions; words of questions about notes
	words, prefixes       map[string][]string // words, and beginnings of words, to their meanings
}

var vocabulary = sync.OnceValue(func() table {
	t := table{map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string][]string{}, map[string][]string{}}
	for line := range strings.Lines(wordsText) {
		meaning, words, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		for _, w := range strings.Fields(words) {
			begin, isBegin := strings.CutSuffix(w, "*")
			switch {
			case meaning == "-":
				t.stop[w] = true
			case meaning == "?":
				t.fillers[w] = true
			case meaning == "!":
				t.asking[w] = true
			case isBegin:
				t.prefixes[begin] = append(t.prefixes[begin], meaning)
			default:
				t.words[w] = append(t.words[w], meaning)
			}
		}
	}
	return t
})
