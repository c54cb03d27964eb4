// Package pick finds the entries of a menu that fit what the user types.
//
// Start with [Match].
package pick

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Match returns the indices of the candidates that have all characters of the query in its
// order, best first. Case does not matter. Equally good candidates keep their order, and an
// empty query matches all.
func Match(query string, candidates []string) []int {
	var all []match
	lower := strings.ToLower(query)
	q := []rune(lower)
	for i, c := range candidates {
		if m, ok := fit(q, lower, c); ok {
			m.index = i
			all = append(all, m)
		}
	}
	slices.SortStableFunc(all, func(a, b match) int {
		return cmp.Or(cmp.Compare(a.class, b.class), cmp.Compare(a.span, b.span), cmp.Compare(a.length, b.length))
	})
	indices := make([]int, len(all))
	for i, m := range all {
		indices[i] = m.index
	}
	return indices
}

// match is a candidate that fits.
type match struct {
	index  int
	class  int
	span   int // characters from the first to the last that fits
	length int
}

// Classes of matches, best first.
const (
	exact      = iota
	prefix     // of the candidate
	baseName   // prefix of the last part of a path
	word       // begins at a word
	wordStarts // each part of the query begins at a word
	inside
	scattered
)

// fit returns how a candidate matches a query in lower case.
func fit(q []rune, query, candidate string) (match, bool) {
	if len(q) == 0 {
		return match{}, true
	}
	lower := strings.ToLower(candidate)
	if !hasBytes(lower, query) {
		return match{}, false
	}
	given := candidate // with its capital letters, at the same positions
	if len(given) != len(lower) {
		given = lower
	}
	m := match{class: scattered, span: len(q), length: len(candidate)}
	switch at := strings.LastIndex(lower, query); {
	case lower == query:
		m.class = exact
	case strings.HasPrefix(lower, query):
		m.class = prefix
	case strings.HasPrefix(path.Base(lower), query):
		m.class = baseName
	case at >= 0:
		m.class = inside
		if atWord(query, lower, given) {
			m.class = word
		}
	default:
		c := []rune(lower)
		if m.span = span(q, c); m.span == 0 {
			return match{}, false
		}
		if fitsWords(q, lower, given) {
			m.class = wordStarts
		}
	}
	return m, true
}

// hasBytes reports whether s has the bytes of query in its order.
func hasBytes(s, query string) bool {
	for i := range len(query) {
		at := strings.IndexByte(s, query[i])
		if at < 0 {
			return false
		}
		s = s[at+1:]
	}
	return true
}

// atWord reports whether query occurs in lower at the beginning of a word.
func atWord(query, lower, given string) bool {
	for from := 0; ; from++ {
		i := strings.Index(lower[from:], query)
		if i < 0 {
			return false
		}
		if from += i; startsWord(given, from) {
			return true
		}
	}
}

// span returns the length of the shortest part of c that ends where the first match of q ends;
// 0 without a match.
func span(q, c []rune) int {
	end := 0
	for _, r := range q {
		i := slices.Index(c[end:], r)
		if i < 0 {
			return 0
		}
		end += i + 1
	}
	start := end
	for _, r := range slices.Backward(q) {
		for start--; c[start] != r; start-- {
		}
	}
	return end - start
}

// fitsWords reports whether each character of q follows the one before it in a candidate, or
// begins a word.
func fitsWords(q []rune, lower, given string) bool {
	marks := make([]bool, 2*len(lower))
	last, next := marks[:len(lower)], marks[len(lower):] // characters that may be the last of q so far
	for i, r := range q {
		after, follows, found := i == 0, false, false // after: the part of q so far may end before
		for at, have := range lower {
			if have == r && (follows || after && startsWord(given, at)) {
				next[at], found = true, true
			}
			follows = last[at]
			after = after || follows
		}
		if !found {
			return false
		}
		last, next = next, last
		clear(next)
	}
	return true
}

// startsWord reports whether a word begins at a byte.
func startsWord(s string, at int) bool {
	if at == 0 {
		return true
	}
	r, _ := utf8.DecodeRuneInString(s[at:])
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	return !isWord(before) && isWord(r) || unicode.IsUpper(r) && unicode.IsLower(before)
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
