// Package rank finds the documents that fit a query: entries of the memory, tools, lines of code.
//
// Start with [New] and [Index.Score], which compares words; [Fuse] adds what embeddings know. [Subject] and
// [Words] are the words that count. Documents are ranked by BM25 (Robertson and Zaragoza, "The Probabilistic
// Relevance Framework", 2009) without the correction for length, since a longer document is no less relevant.
// A word counts as itself without its ending, and less by its meanings in words.txt, so that "remove",
// "löschen" and "supprime" find documents about deleting. An unknown word counts as the one spelt most like it.
package rank

import (
	"maps"
	"math"
	"slices"
	"strings"
)

// Text is a part of a document.
type Text struct {
	Text   string
	Weight float64 // of each of its words
}

// Index holds the words of documents. It must not be used concurrently.
type Index struct {
	documents []map[string]float64 // the weights of the terms
	with      map[string]int       // the number of documents with a term
	terms     []string             // of all documents, sorted; nil until needed
	grams     map[string][]int     // three characters -> indexes of terms; nil until needed
	byWord    map[string][]string  // the terms of a word
}

// New returns the index of documents.
func New(documents [][]Text) *Index {
	x := &Index{with: map[string]int{}, byWord: map[string][]string{}}
	for _, parts := range documents {
		weights := map[string]float64{}
		for _, part := range parts {
			for _, w := range Words(part.Text) {
				for _, t := range x.termsOf(w) {
					weights[t] += part.Weight
				}
			}
		}
		for t := range weights {
			x.with[t]++
		}
		x.documents = append(x.documents, weights)
	}
	return x
}

// termsOf is Terms with a cache.
func (x *Index) termsOf(word string) []string {
	terms, ok := x.byWord[word]
	if !ok {
		terms = Terms(word)
		x.byWord[word] = terms
	}
	return terms
}

const (
	// maxWords limits the words of a query.
	maxWords = 24
	// saturation is k1 of BM25: how much a word counts for that is repeated, or stands in a weighty part.
	saturation = 1
	// unknownWeight is the weight of a word that no document has: the query may be about
	// something else.
	unknownWeight = 3
	// meaningWeight is the weight of another word of the same meaning, beginWeight that of a word that
	// begins with an unknown one, and similarWeight that of one that is spelt the same.
	meaningWeight, beginWeight, similarWeight = 0.6, 0.7, 0.5
	// minBegin is the least length of the beginning, in bytes.
	minBegin = 5
	// minSimilarity is the least similarity of an unknown word to a known one.
	minSimilarity = 0.55
)

// Score returns how well each document fits the words of a query, roughly from 0 to 1: the share of
// its words, weighted by how rare they are in the documents.
func (x *Index) Score(words []string) []float64 {
	scores, total := make([]float64, len(x.documents)), 0.0
	gains := make([]float64, len(scores))
	for _, w := range distinct(words) {
		terms, n := x.related(w), 0
		for i, weights := range x.documents {
			gains[i] = 0
			for t, weight := range terms {
				if f := weights[t]; f > 0 {
					gains[i] = max(gains[i], weight*f*(saturation+1)/(f+saturation))
				}
			}
			if gains[i] > 0 {
				n++
			}
		}
		weight := x.rarity(n)
		total += weight
		for i := range scores {
			scores[i] += weight * gains[i]
		}
	}
	for i := range scores {
		if total > 0 {
			scores[i] /= total
		}
	}
	return scores
}

// distinct returns the first different words, without accents.
func distinct(words []string) (out []string) {
	for _, w := range words {
		if w = fold(w); len(out) < maxWords && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// rarity returns the weight of a word that n documents have.
func (x *Index) rarity(n int) float64 {
	if n == 0 {
		return unknownWeight
	}
	return math.Log(1 + (float64(len(x.documents)-n)+0.5)/(float64(n)+0.5))
}

// related returns the terms that a word of a query stands for, with their weights.
func (x *Index) related(word string) map[string]float64 {
	terms := x.termsOf(word)
	related := map[string]float64{}
	for _, t := range terms[1:] {
		related[t] = meaningWeight
	}
	related[terms[0]] = 1
	if x.with[terms[0]] > 0 {
		return related
	}
	x.sortTerms()
	known := len(terms) > 1
	if at, _ := slices.BinarySearch(x.terms, terms[0]); len(terms[0]) >= minBegin {
		for _, t := range x.terms[at:] {
			if !strings.HasPrefix(t, terms[0]) {
				break
			}
			related[t], known = beginWeight, true
		}
	}
	if t, similarity := x.nearest(terms[0]); !known && len(word) > 3 && similarity >= minSimilarity {
		related[t] = similarity * similarWeight
	}
	return related
}

// sortTerms prepares the search for words by their spelling.
func (x *Index) sortTerms() {
	if x.terms != nil {
		return
	}
	x.terms, x.grams = slices.Sorted(maps.Keys(x.with)), map[string][]int{}
	for i, t := range x.terms {
		if !isMeaning(t) {
			for _, g := range trigrams(t) {
				x.grams[g] = append(x.grams[g], i)
			}
		}
	}
}

// nearest returns the term that shares the most trigrams with a word, and the share.
func (x *Index) nearest(word string) (term string, similarity float64) {
	wordGrams := trigrams(word)
	shared := map[int]int{}
	for _, g := range wordGrams {
		for _, i := range x.grams[g] {
			shared[i]++
		}
	}
	for _, i := range slices.Sorted(maps.Keys(shared)) {
		if a := 2 * float64(shared[i]) / float64(len(wordGrams)+len(trigrams(x.terms[i]))); a > similarity {
			term, similarity = x.terms[i], a
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

// Similarity returns the share of words that two documents have in common, weighted by their
// rarity, from 0 to 1.
func (x *Index) Similarity(a, b int) float64 {
	common, totalA, totalB := 0.0, 0.0, 0.0
	for t := range x.documents[a] {
		if isMeaning(t) {
			continue
		}
		weight := x.rarity(x.with[t])
		totalA += weight
		if x.documents[b][t] > 0 {
			common += weight
		}
	}
	for t := range x.documents[b] {
		if !isMeaning(t) {
			totalB += x.rarity(x.with[t])
		}
	}
	if totalA == 0 || totalB == 0 {
		return 0
	}
	return common / min(totalA, totalB)
}

// Share returns the share of the words of a query that a text has.
func Share(words []string, text string) float64 {
	have := map[string]bool{}
	for _, w := range Words(text) {
		have[stem(w)] = true
	}
	n := 0
	for _, w := range words {
		if have[stem(fold(w))] {
			n++
		}
	}
	return float64(n) / float64(max(1, len(words)))
}

// Cut sets the scores to 0 that are too low: less than least, or than a share of the best one.
func Cut(scores []float64, least, share float64) {
	if len(scores) > 0 {
		least = max(least, slices.Max(scores)*share)
	}
	for i := range scores {
		if scores[i] < least {
			scores[i] = 0
		}
	}
}
