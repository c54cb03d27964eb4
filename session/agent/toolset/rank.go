package toolset

import (
	_ "embed"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// lexicon ranks tools by words for tool_search. It uses BM25
// (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009)
// without the correction for length, since a longer description is no less
// relevant. A word counts as itself without its ending, and by its meanings in
// words.txt, so that "remove", "löschen" and "supprime" find tools that delete.
// An unknown word counts as the one spelt most like it.
type lexicon struct {
	tools   []llm.Tool           // the indexed tools
	weights []map[string]float64 // by tool, then by term
	idf     map[string]float64   // how rare a term is among the tools (inverse document frequency)
	terms   []string             // of all tools, sorted
	grams   map[string][]int     // three characters -> indexes of terms
}

// Weights of a word by its position.
const (
	nameWeight        = 3
	descriptionWeight = 1
	parameterWeight   = 1
)

// minSimilarity is the least similarity of an unknown word to a known one.
const minSimilarity = 0.55

// rank scores the tools with these indexes; the best of all scores 1. It
// returns false if no word of the prompt distinguishes tools.
func (l *lexicon) rank(prompt string, all []llm.Tool, rest []int) ([]float64, bool) {
	if !sameTools(l.tools, all) {
		l.index(all)
	}
	query := map[string]float64{}
	for _, w := range wordsOf(excerpt(prompt)) {
		terms := termsOf(w)
		known := len(terms) > 1 // it has a meaning, even if no tool has it
		for _, term := range terms {
			if l.idf[term] > 0 {
				query[term], known = 1, true
			}
		}
		if !known && len(w) > 3 {
			if term, similarity := l.nearest(stem(w)); similarity >= minSimilarity {
				query[term] = max(query[term], similarity/2)
			}
		}
	}
	scores, best := make([]float64, len(rest)), 0.0
	terms := slices.Sorted(maps.Keys(query)) // sums must not depend on map order
	for i, tool := range rest {
		for _, term := range terms {
			if w := l.weights[tool][term]; w > 0 {
				scores[i] += query[term] * l.idf[term] * w / (w + 1)
			}
		}
		best = max(best, scores[i])
	}
	if best == 0 {
		return nil, false
	}
	for i := range scores {
		scores[i] /= best
	}
	return scores, true
}

// index builds the index of the tools.
func (l *lexicon) index(all []llm.Tool) {
	*l = lexicon{
		tools: slices.Clone(all), weights: make([]map[string]float64, len(all)),
		idf: map[string]float64{}, grams: map[string][]int{},
	}
	for i, t := range all {
		l.weights[i] = map[string]float64{}
		l.add(l.weights[i], t.Name, nameWeight)
		l.add(l.weights[i], t.Description, descriptionWeight)
		for _, p := range parameters(t) {
			l.add(l.weights[i], p, parameterWeight)
		}
		for term := range l.weights[i] {
			l.idf[term]++
		}
	}
	l.terms = slices.Sorted(maps.Keys(l.idf))
	for i, term := range l.terms {
		n := l.idf[term]
		l.idf[term] = math.Log(1 + (float64(len(all))-n+0.5)/(n+0.5))
		if term[0] != '=' {
			for _, g := range trigrams(term) {
				l.grams[g] = append(l.grams[g], i)
			}
		}
	}
}

// add adds the terms of a text to the weights of a tool.
func (l *lexicon) add(weights map[string]float64, text string, weight float64) {
	for _, w := range wordsOf(text) {
		for _, term := range termsOf(w) {
			weights[term] += weight
		}
	}
}

// nearest returns the term that shares the most trigrams with a word, and the
// share.
func (l *lexicon) nearest(word string) (term string, similarity float64) {
	wordGrams := trigrams(word)
	shared := map[int]int{}
	for _, g := range wordGrams {
		for _, i := range l.grams[g] {
			shared[i]++
		}
	}
	for _, i := range slices.Sorted(maps.Keys(shared)) {
		if a := 2 * float64(shared[i]) / float64(len(wordGrams)+len(trigrams(l.terms[i]))); a > similarity {
			term, similarity = l.terms[i], a
		}
	}
	return term, similarity
}

// trigrams returns the distinct sequences of three characters of a word with a
// space at each end.
func trigrams(word string) []string {
	runes := []rune(" " + word + " ")
	var out []string
	for i := 0; i+3 <= len(runes); i++ {
		if g := string(runes[i : i+3]); !slices.Contains(out, g) {
			out = append(out, g)
		}
	}
	return out
}

// maxRanked limits the words of a prompt that count, in bytes: those at its
// beginning and end, where users state their request.
const maxRanked = 4 << 10

func excerpt(prompt string) string {
	if len(prompt) <= maxRanked {
		return prompt
	}
	return prompt[:maxRanked/2] + " " + prompt[len(prompt)-maxRanked/2:]
}

// parameters returns the names of a tool's parameters, sorted.
func parameters(t llm.Tool) []string {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(t.Schema, &s) != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(s.Properties))
}

// wordsOf returns the words of a text in lower case, without accents and
// without stop words. createIssue and create_issue are two words.
func wordsOf(text string) []string {
	var out []string
	var word []rune
	end := func() {
		if w := string(word); len(word) > 1 && !meaningTable().stopWords[w] {
			out = append(out, w)
		}
		word = word[:0]
	}
	lower := false
	for _, r := range text {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			end()
			lower = false
			continue
		}
		if lower && unicode.IsUpper(r) {
			end()
		}
		lower = unicode.IsLower(r)
		r = unicode.ToLower(r)
		if r < utf8.RuneSelf {
			word = append(word, r)
		} else {
			word = append(word, []rune(withoutAccent(r))...)
		}
	}
	end()
	return out
}

// withoutAccent returns a letter without its accent.
func withoutAccent(r rune) string {
	for _, group := range []struct{ letters, plain string }{
		{"àáâãäå", "a"},
		{"ç", "c"},
		{"èéêë", "e"},
		{"ìíîï", "i"},
		{"ñ", "n"},
		{"òóôõöø", "o"},
		{"ùúûü", "u"},
		{"ýÿ", "y"},
		{"ß", "ss"},
		{"æ", "ae"},
		{"œ", "oe"},
	} {
		if strings.ContainsRune(group.letters, r) {
			return group.plain
		}
	}
	return string(r)
}

// termsOf returns the terms of a word: the word without its ending, and "=" and
// a name for each meaning.
func termsOf(word string) []string {
	terms := []string{stem(word)}
	t := meaningTable()
	for _, meaning := range t.words[word] {
		terms = append(terms, "="+meaning)
	}
	for n := 3; n <= len(word); n++ {
		for _, meaning := range t.prefixes[word[:n]] {
			terms = append(terms, "="+meaning)
		}
	}
	return terms
}

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

// words.txt lists words by meaning.
//
//go:embed words.txt
var wordsText string

// meanings is the parsed words.txt.
type meanings struct {
	stopWords       map[string]bool     // stop words
	words, prefixes map[string][]string // words, and beginnings of words, to their meanings
}

var meaningTable = sync.OnceValue(func() meanings {
	m := meanings{map[string]bool{}, map[string][]string{}, map[string][]string{}}
	for line := range strings.Lines(wordsText) {
		meaning, words, ok := strings.Cut(line, ":")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		for _, w := range strings.Fields(words) {
			begin, isBegin := strings.CutSuffix(w, "*")
			switch {
			case meaning == "-":
				m.stopWords[w] = true
			case isBegin:
				m.prefixes[begin] = append(m.prefixes[begin], meaning)
			default:
				m.words[w] = append(m.words[w], meaning)
			}
		}
	}
	return m
})
