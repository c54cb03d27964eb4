package llm

import "bytes"

// A text repeats itself without end if its last part consists of the same characters
// endlessTimes in a row. Short ones, as of a ruler or a table, must go on for longer.
const (
	endlessTimes = 10
	shortPeriod  = 16   // bytes
	endlessBlank = 1000 // bytes of blanks and line feeds alone
)

// windows are the lengths of a text's last part that are looked at, in bytes.
var windows = [...]int{2000, 10_000, 30_000}

// A Repetition watches a text that arrives in pieces, and finds that it repeats itself
// without end, as small models do until their limit of tokens. The zero value is ready.
type Repetition struct {
	tail   []byte
	length int               // of the whole text
	next   [len(windows)]int // the length at which each window is looked at again
	border []int32           // scratch
}

// Add adds a piece, and reports whether the text repeats itself without end.
func (r *Repetition) Add(piece string) bool {
	longest := windows[len(windows)-1]
	if len(r.tail)+len(piece) > 2*longest {
		r.tail = append(r.tail[:0], r.tail[max(0, len(r.tail)-longest):]...)
	}
	r.tail = append(r.tail, piece[max(0, len(piece)-longest):]...)
	r.length += len(piece)
	for i, w := range windows {
		if r.length < max(w, r.next[i]) {
			continue
		}
		r.next[i] = r.length + w/4
		last := r.tail[len(r.tail)-w:]
		if i == 0 && len(bytes.TrimSpace(last[w-endlessBlank:])) == 0 {
			return true
		}
		if p := r.period(last); p*endlessTimes <= w && (p > shortPeriod || i > 0) {
			return true
		}
	}
	return false
}

// period returns the smallest n so that each byte of the text equals the one n bytes before.
// It is the text's length without its longest border, as in the algorithm of Knuth, Morris
// and Pratt.
func (r *Repetition) period(text []byte) int {
	if cap(r.border) < len(text) {
		r.border = make([]int32, len(text))
	}
	border := r.border[:len(text)]
	border[0] = 0
	n := int32(0)
	for i := 1; i < len(text); i++ {
		for n > 0 && text[i] != text[n] {
			n = border[n-1]
		}
		if text[i] == text[n] {
			n++
		}
		border[i] = n
	}
	return len(text) - int(n)
}
