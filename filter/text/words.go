package text

import (
	"bytes"
	"sync"
)

// Important reports whether a line likely reports a problem: an error, a
// failure, a warning or a crash.
func Important(line []byte) bool { return importantWords.Find(line) }

var importantWords = NewWords(
	"error", "fail", "fatal", "panic", "exception", "traceback", "warn", "denied", "refused", "cannot",
	"can't", "could not", "unable to", "not found", "no such", "undefined", "unresolved",
	"segmentation fault", "core dumped", "assert", "abort", "killed", "timed out", "timeout", "conflict",
	"unauthorized", "forbidden", "out of memory", "oom", "invalid", "unexpected", "mismatch", "deprecated",
	"vulnerab",
)

// Words finds any of several words in a line, ignoring the case of ASCII
// letters.
type Words struct {
	list  []string
	once  sync.Once
	built *wordTable
}

// wordTable indexes the words by their first three bytes, five bits each, which
// are the same for both cases of a letter.
type wordTable struct {
	thirdBytes [1 << 10]uint32   // a bit for each third byte, by pairIndex of the first two
	words      [1 << 10][][]byte // in lower case, by the same index
}

func pairIndex(a, b byte) int { return int(a&31)<<5 | int(b&31) }

// NewWords makes a set of words of at least three bytes each. It builds the
// table when it is first needed, since a process uses few of the sets: a set costs
// nothing at the start of the program, since the compiler puts it into the data section.
func NewWords(list ...string) *Words { return &Words{list: list} }

// table returns the index of the words.
func (w *Words) table() *wordTable {
	w.once.Do(w.build)
	return w.built
}

func (w *Words) build() {
	w.built = &wordTable{}
	for _, text := range w.list {
		lower := bytes.ToLower([]byte(text))
		at := pairIndex(lower[0], lower[1])
		w.built.thirdBytes[at] |= 1 << (lower[2] & 31)
		w.built.words[at] = append(w.built.words[at], lower)
	}
}

// Find reports whether any of the words occurs in the line.
func (w *Words) Find(line []byte) bool {
	if len(line) < 3 {
		return false
	}
	t := w.table()
	a, b := line[0], line[1]
	for i, c := range line[2:] {
		at := pairIndex(a, b)
		if t.thirdBytes[at]>>(c&31)&1 != 0 && t.beginsWithWord(line[i:], at) {
			return true
		}
		a, b = b, c
	}
	return false
}

// beginsWithWord reports whether a line begins with any of the words at an index.
func (t *wordTable) beginsWithWord(line []byte, at int) bool {
	for _, word := range t.words[at] {
		if HasPrefixFold(line, word) {
			return true
		}
	}
	return false
}

// HasPrefixFold reports whether line begins with word, ignoring case. word is
// in lower case.
func HasPrefixFold(line, word []byte) bool {
	if len(line) < len(word) {
		return false
	}
	for i, b := range word {
		c := line[i]
		if c != b && (c < 'A' || c > 'Z' || c+('a'-'A') != b) {
			return false
		}
	}
	return true
}
