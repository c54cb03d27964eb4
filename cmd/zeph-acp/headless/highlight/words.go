package highlight

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxWords limits the lines whose words are compared; the time grows with its square.
const maxWords = 200

// markChanged marks the words that differ between lines that replace each other: as many must have
// been added as were removed before them.
func markChanged(lines []string, pieces [][]Piece) {
	for i := 0; i < len(lines); {
		removed := signedLines(lines[i:], '-')
		added := signedLines(lines[i+removed:], '+')
		if removed == added {
			for k := i; k < i+removed; k++ {
				if was, is, ok := changedWords(lines[k][1:], lines[k+removed][1:]); ok {
					pieces[k], pieces[k+removed] = withChanges(pieces[k], was), withChanges(pieces[k+removed], is)
				}
			}
		}
		i += max(removed+added, 1)
	}
}

// signedLines returns the number of lines at the beginning that start with a sign.
func signedLines(lines []string, sign byte) int {
	n := 0
	for n < len(lines) && lines[n] != "" && lines[n][0] == sign {
		n++
	}
	return n
}

// withChanges divides pieces where a change begins or ends. It knows the bytes that have changed.
func withChanges(pieces []Piece, changed []bool) (all []Piece) {
	for _, p := range pieces {
		for p.Text != "" {
			n := 1
			for n < len(p.Text) && changed[n] == changed[0] {
				n++
			}
			all = append(all, Piece{Text: p.Text[:n], Class: p.Class, Changed: changed[0]})
			p.Text, changed = p.Text[n:], changed[n:]
		}
	}
	return all
}

// changedWords reports which bytes of two texts, which replace each other, belong to words that
// differ. It reports false if they have little in common.
func changedWords(before, after string) (was, is []bool, ok bool) {
	a, b := words(before), words(after)
	if len(a) > maxWords || len(b) > maxWords {
		return nil, nil, false
	}
	inA, inB := commonWords(a, b)
	same := 0
	for i, w := range a {
		if inA[i] && strings.TrimSpace(w) != "" {
			same += len(w)
		}
	}
	if same*3 < max(len(before), len(after)) {
		return nil, nil, false
	}
	return changedBytes(a, inA), changedBytes(b, inB), true
}

// changedBytes reports which bytes belong to words that are not in the other line.
func changedBytes(words []string, same []bool) (changed []bool) {
	for i, w := range words {
		changed = append(changed, slices.Repeat([]bool{!same[i]}, len(w))...)
	}
	return changed
}

// words divides a line into words, spaces and single other characters.
func words(line string) []string {
	kind := func(r rune) int {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '_':
			return 1
		case r == ' ', r == '\t':
			return 2
		}
		return 0
	}
	var all []string
	for line != "" {
		first, n := utf8.DecodeRuneInString(line)
		for k := kind(first); k > 0 && n < len(line); {
			next, size := utf8.DecodeRuneInString(line[n:])
			if kind(next) != k {
				break
			}
			n += size
		}
		all, line = append(all, line[:n]), line[n:]
	}
	return all
}

// commonWords reports which words of a and b belong to their longest common subsequence.
func commonWords(a, b []string) (inA, inB []bool) {
	length := make([][]int, len(a)+1)
	for i := range length {
		length[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	inA, inB = make([]bool, len(a)), make([]bool, len(b))
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			inA[i], inB[j] = true, true
			i, j = i+1, j+1
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
	}
	return inA, inB
}
