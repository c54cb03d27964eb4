package search

import (
	"bytes"
	"iter"
)

// Literals are texts to look for, with ASCII letters in either case. They may be
// used concurrently.
type Literals struct{ needles needles }

// NewLiterals returns the texts, which must not be empty. At most [MaxLiterals] are
// used.
func NewLiterals(texts []string) Literals {
	var l Literals
	for _, text := range texts[:min(len(texts), MaxLiterals)] {
		n := needle{text: bytes.Map(asciiLower, []byte(text)), fold: true}
		n.rare = n.rarest()
		l.needles = append(l.needles, n)
	}
	return l
}

// MaxLiterals bounds how many texts are looked for.
const MaxLiterals = maxNeedles

func asciiLower(r rune) rune {
	if 'A' <= r && r <= 'Z' {
		r += 'a' - 'A'
	}
	return r
}

// Index returns the first offset of the text number i at or after from, else -1.
func (l Literals) Index(i int, data []byte, from int) int { return l.needles[i].index(data, from) }

// Lines yields the beginning and the end of each line that contains one of the
// texts. The end is that of the line without its line break.
func (l Literals) Lines(data []byte) iter.Seq2[int, int] {
	return func(yield func(from, end int) bool) {
		var f finder
		f.start(l.needles)
		for at := 0; ; {
			if at = f.find(data, at); at < 0 {
				return
			}
			from, end := bytes.LastIndexByte(data[:at], '\n')+1, lineEnd(data, at)
			if !yield(from, end) {
				return
			}
			at = end + 1
		}
	}
}
