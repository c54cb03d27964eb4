package code

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors/tools/files/search"
	"github.com/zeph-acp/zeph-acp/filter/text/rank"
)

// Query is a parsed query.
type Query struct {
	text   string   // in lower case, as written
	name   string   // of the symbol; "" if the query has several words
	within []string // the names that qualify it, outermost first
	words  []string // in lower case; the name if there is one
	kinds  []string // kinds of definition that the query names
	texts  search.Literals
}

// MaxQuery bounds a query, in bytes.
const MaxQuery = 300

// The errors of ParseQuery.
var (
	errEmpty = errors.New("the query has no word")
	errLarge = errors.New("the query is too long")
)

// kindWords are words before a name that say which kind of definition is meant.
var kindWords = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"func":      {"func", "method"},
		"function":  {"func", "method"},
		"fn":        {"func", "method"},
		"def":       {"func", "method"},
		"method":    {"func", "method"},
		"fun":       {"func", "method"},
		"class":     {"class", "struct", "object"},
		"struct":    {"struct"},
		"interface": {"interface", "trait", "protocol"},
		"trait":     {"trait"},
		"enum":      {"enum"},
		"type":      {"type", "struct", "interface", "class", "enum", "trait", "protocol"},
		"const":     {"const"},
		"constant":  {"const"},
		"var":       {"var"},
		"variable":  {"var"},
		"macro":     {"macro"},
		"field":     {"field"},
		"module":    {"module"},
		"heading":   {"heading"},
	}
})

// ParseQuery parses a query: a symbol, which may be qualified, or several words.
// "func Name" prefers a kind of definition.
func ParseQuery(text string) (Query, error) {
	if len(text) > MaxQuery {
		return Query{}, errLarge
	}
	text = strings.Trim(strings.TrimSpace(text), "`\"'?!.,;")
	q := Query{text: strings.ToLower(text)}
	fields := strings.Fields(text)
	if len(fields) > 1 {
		if kinds := kindWords()[strings.ToLower(fields[0])]; kinds != nil {
			q.kinds, fields = kinds, fields[1:]
			q.text = strings.ToLower(strings.Join(fields, " "))
		}
	}
	if len(fields) == 1 {
		q.symbol(fields[0])
	}
	if q.name == "" {
		q.words = wordsOf(fields)
	}
	if len(q.words) == 0 {
		return Query{}, errEmpty
	}
	q.texts = search.NewLiterals(q.words)
	return q, nil
}

// Symbol reports whether the query is one name, which may be qualified.
func (q *Query) Symbol() bool { return q.name != "" }

// symbol parses a name with its qualifiers: pkg.Name, (*Type).Method, a::b, A#b, a/b.Name.
func (q *Query) symbol(text string) {
	text, _, _ = strings.Cut(text, "()")
	parts := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(".:#/\\()[]{}<>*&,;", r) })
	if len(parts) == 0 {
		return
	}
	q.name = parts[len(parts)-1]
	q.within = parts[:len(parts)-1]
	q.words = []string{strings.ToLower(q.name)}
}

// wordsOf returns the words that a hit should contain, in lower case.
func wordsOf(fields []string) []string {
	var words, all []string
	for _, f := range fields {
		f = strings.ToLower(strings.TrimFunc(f, func(r rune) bool { return !isWord(r) }))
		if f == "" || slices.Contains(all, f) {
			continue
		}
		all = append(all, f)
		if !rank.IsFiller(f) {
			words = append(words, f)
		}
	}
	if len(words) == 0 {
		words = all
	}
	return words[:min(len(words), search.MaxLiterals)]
}

// mayMatch reports whether a file can hold a hit: each word is in it or in its path. One
// of three or more words may be missing.
func (q *Query) mayMatch(path string, found *search.Finder) bool {
	missing := 0
	for i, w := range q.words {
		if !found.Has(i) && (q.name != "" || !strings.Contains(strings.ToLower(path), w)) {
			missing++
		}
		if missing > 1 || missing == 1 && len(q.words) < 3 {
			return false
		}
	}
	return true
}

// containsAll reports whether each word is in a line or in the path of its file.
func (q *Query) containsAll(p *place, line []byte) bool {
	for i, w := range q.words {
		if q.texts.Index(i, line, 0) < 0 && (q.name != "" || !strings.Contains(p.lower, w)) {
			return false
		}
	}
	return true
}

// The ranks of definitions by their names, and of lines of text.
const (
	exactName  = 1000 // letter for letter
	foldedName = 900
	allOfName  = 850 // the words of the query make up the name
	nameStart  = 700
	wordInName = 600
	partOfName = 500
	nameInPath = 450 // the name has some of several words, its type and path the others
	inLine     = 150
)

// Additions to the rank of a line of text.
const (
	asWritten  = 100 // it has several words as the query has them
	beginsWord = 10  // it has the name at the beginning of a word,
	endsWord   = 20  // and also at its end
	sameCase   = 20
	qualified  = 50 // it has the name with its qualifiers
)

// bestText returns the rank of the best line of text.
func (q *Query) bestText() int {
	switch {
	case q.name == "":
		return inLine + asWritten
	case len(q.within) > 0:
		return inLine + beginsWord + endsWord + sameCase + qualified
	}
	return inLine + beginsWord + endsWord + sameCase
}

// nameScore returns the rank of a name; 0 means that it does not match.
func (q *Query) nameScore(name string) int {
	if q.name == "" {
		return q.wordsInName(name)
	}
	if name == q.name {
		return exactName
	}
	lower := strings.ToLower(name)
	at := strings.Index(lower, q.words[0])
	switch {
	case at < 0:
		return 0
	case len(lower) != len(name): // the offset in lower is not one in name
		return partOfName
	case len(lower) == len(q.words[0]):
		return foldedName
	case at == 0:
		return nameStart
	case startsWord(name, at):
		return wordInName
	}
	return partOfName
}

// matchesName reports whether a word of the query is in a name.
func (q *Query) matchesName(name string) bool {
	lower := strings.ToLower(name)
	return slices.ContainsFunc(q.words, func(w string) bool { return strings.Contains(lower, w) })
}

// wordsInName is nameScore for several words: all of them must be in the name.
func (q *Query) wordsInName(name string) int {
	lower := strings.ToLower(name)
	letters := 0
	for _, w := range q.words {
		if !strings.Contains(lower, w) {
			return 0
		}
		letters += len(w)
	}
	if letters >= len(lower)-strings.Count(lower, "_")-strings.Count(lower, "-") {
		return allOfName
	}
	return wordInName
}

// startsWord reports whether a word of a name in camel or snake case begins at the
// offset.
func startsWord(name string, at int) bool {
	r, _ := utf8.DecodeRuneInString(name[at:])
	before, _ := utf8.DecodeLastRuneInString(name[:at])
	return unicode.IsUpper(r) && !unicode.IsUpper(before) || !unicode.IsLetter(before)
}

// pathScore is nameScore for several words if only some of them are in the name, and the
// others in the type or the path.
func (q *Query) pathScore(p *place, container, name string) int {
	lower, around := strings.ToLower(name), strings.ToLower(container)
	some := false
	for _, w := range q.words {
		switch {
		case strings.Contains(lower, w):
			some = true
		case !strings.Contains(around, w) && !strings.Contains(p.lower, w):
			return 0
		}
	}
	if !some {
		return 0
	}
	return nameInPath
}

// lineScore returns the rank of a line of text; 0 means that it does not match.
func (q *Query) lineScore(p *place, line []byte) int {
	if q.name == "" {
		return q.wordsInLine(p, line)
	}
	score := 0
	for at := q.texts.Index(0, line, 0); at >= 0; at = q.texts.Index(0, line, at+1) {
		end := at + len(q.words[0])
		this := inLine
		if before, _ := utf8.DecodeLastRune(line[:at]); !isWord(before) {
			this += beginsWord
			if after, _ := utf8.DecodeRune(line[end:]); !isWord(after) {
				this += endsWord
			}
		}
		if string(line[at:end]) == q.name {
			this += sameCase
		}
		score = max(score, this)
	}
	if score > 0 && len(q.within) > 0 && bytes.Contains(bytes.ToLower(line), []byte(q.text)) {
		score += qualified
	}
	return score
}

// wordsInLine is lineScore for several words. A word in the path counts for less than one
// in the line.
func (q *Query) wordsInLine(p *place, line []byte) int {
	found, inPath := 0, 0
	for i, w := range q.words {
		switch {
		case q.texts.Index(i, line, 0) >= 0:
			found++
		case strings.Contains(p.lower, w):
			inPath++
		}
	}
	score := inLine * (10*found + 6*inPath) / (10 * len(q.words))
	if found == len(q.words) && bytes.Contains(bytes.ToLower(line), []byte(q.text)) {
		score += asWritten
	}
	return score
}

// isWord reports whether a rune may be part of a name. It is false for utf8.RuneError,
// which stands for the end of a line.
func isWord(r rune) bool {
	return r == '_' || r == '$' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
