package headless

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/layout"
)

// maxWords limits the lines whose words are compared; the time grows with its square.
const maxWords = 200

// diffSpans lays out the lines of a diff. If as many lines were added as removed, the
// words that differ are highlighted.
func diffSpans(lines []string) [][]layout.Span {
	all := make([][]layout.Span, len(lines))
	for i, l := range lines {
		all[i] = []layout.Span{{Text: l, Style: lineStyle(l)}}
	}
	for i := 0; i < len(lines); {
		removed := signedLines(lines[i:], '-')
		added := signedLines(lines[i+removed:], '+')
		if removed == added {
			highlightChanges(all[i:], lines[i:], removed)
		}
		i += max(removed+added, 1)
	}
	return all
}

// highlightChanges lays out n removed lines and the n added ones after them, which replace them.
func highlightChanges(all [][]layout.Span, lines []string, n int) {
	for k := range n {
		if was, is, ok := changedWords(lines[k], lines[n+k]); ok {
			all[k], all[n+k] = was, is
		}
	}
}

// lineStyle returns the style of a line of a diff.
func lineStyle(line string) style {
	switch {
	case strings.HasPrefix(line, "+"):
		return green
	case strings.HasPrefix(line, "-"):
		return red
	case strings.HasPrefix(line, "@"):
		return cyan
	}
	return plainText
}

// signedLines returns the number of lines at the beginning that start with a sign.
func signedLines(lines []string, sign byte) int {
	n := 0
	for n < len(lines) && lines[n] != "" && lines[n][0] == sign {
		n++
	}
	return n
}

// changedWords lays out two lines of a diff that replace each other. It reports false if
// they have little in common.
func changedWords(before, after string) (was, is []layout.Span, ok bool) {
	a, b := words(before[1:]), words(after[1:])
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
	if same*3 < max(len(before), len(after))-1 {
		return nil, nil, false
	}
	return highlighted("-", a, inA, red), highlighted("+", b, inB, green), true
}

// highlighted lays out the words of a line. Those that are not in the other line are reversed.
func highlighted(sign string, words []string, same []bool, st style) []layout.Span {
	line := []layout.Span{{Text: sign, Style: st}}
	for i, w := range words {
		if same[i] {
			line = append(line, layout.Span{Text: w, Style: st})
		} else {
			line = append(line, layout.Span{Text: w, Style: st + ";" + reversed})
		}
	}
	return line
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
