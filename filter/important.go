package filter

import (
	"bytes"
	"sync"
)

// important reports whether a line, whatever wrote it, likely tells of what went
// wrong: an error, a failure, a warning, a crash.
func important(line []byte) bool { return importantWords.find(line) }

var importantWords = newWords(
	"error", "fail", "fatal", "panic", "exception", "traceback", "warning", "denied", "refused", "cannot", "can't", "could not", "unable to", "not found", "no such", "undefined", "unresolved",
	"segmentation fault", "core dumped", "assert", "abort", "killed", "timed out", "timeout", "conflict", "unauthorized", "forbidden", "out of memory", "oom", "invalid", "unexpected", "mismatch", "deprecated", "vulnerab",
)

// words finds any of several words in a line, whatever the case of their ASCII
// letters.
type words struct {
	table func() *wordTable
}

// wordTable is what words looks by.
type wordTable struct {
	byFirst [256][][]byte // in lower case, by either case of the first letter
	begins  [256]bool     // letters that begin one
}

// newWords makes words, whose table is made when it is first needed: most are
// never, in a process.
func newWords(list ...string) *words {
	return &words{table: sync.OnceValue(func() *wordTable {
		w := &wordTable{}
		for _, text := range list {
			lower := bytes.ToLower([]byte(text))
			for first := range map[byte]bool{lower[0]: true, upper(lower[0]): true} {
				w.byFirst[first] = append(w.byFirst[first], lower)
				w.begins[first] = true
			}
		}
		return w
	})}
}

func upper(b byte) byte {
	if b >= 'a' && b <= 'z' {
		return b - ('a' - 'A')
	}
	return b
}

func (w *words) find(line []byte) bool {
	t := w.table()
	for i, b := range line {
		if !t.begins[b] {
			continue
		}
		for _, word := range t.byFirst[b] {
			if hasFold(line[i:], word) {
				return true
			}
		}
	}
	return false
}

// hasFold reports whether line begins with word, which is in lower case.
func hasFold(line, word []byte) bool {
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
