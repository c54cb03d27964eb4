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

// In starts to look for the texts in data.
func (l Literals) In(data []byte) Finder {
	f := Finder{data: data}
	f.start(l.needles)
	return f
}

// Finder looks for texts in one data. A copy starts again where the original is.
type Finder struct {
	finder
	data []byte
}

// Has reports whether data contains the text number i.
func (f *Finder) Has(i int) bool {
	f.advance(f.data, i, 0)
	return f.next[i] >= 0
}

// Lines yields the beginning and the end of each line that contains one of the
// texts, without its line break.
func (f Finder) Lines() iter.Seq2[int, int] {
	return func(yield func(from, end int) bool) {
		for at := 0; ; {
			if at = f.find(f.data, at); at < 0 {
				return
			}
			from, end := bytes.LastIndexByte(f.data[:at], '\n')+1, lineEnd(f.data, at)
			if !yield(from, end) {
				return
			}
			at = end + 1
		}
	}
}
