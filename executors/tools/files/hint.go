package files

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// notFound returns a failure for an old_string that does not occur in text. It
// quotes the most similar text, so that every space is visible.
func notFound(text, old, replacement, name string) *executors.Failure {
	const again = "Read the file again and copy old_string from it exactly, without line numbers."
	failure := func(format string, args ...any) *executors.Failure {
		f := executors.Failuref(executors.InvalidParameters, format, args...)
		f.Message = "old_string is not in " + name + f.Message
		return f.Hint(again)
	}
	if text == "" {
		return failure(", which is empty")
	}
	if plain := lineNumber.ReplaceAllString(old, ""); plain != old && strings.Contains(text, plain) {
		return failure(": it contains the line numbers of read's output")
	}
	if at := strings.Index(text, replacement); len(strings.TrimSpace(replacement)) > 3 && at >= 0 {
		return failure(", but new_string is, at line %d: the edit may be done already", lineNumbers(text, []int{at})[0])
	}
	lines := strings.Split(text, "\n")
	want := strings.Split(strings.Trim(old, "\n"), "\n")
	if len(lines) > maxHintWork/len(want) {
		return failure(", and the file has too many lines to search for similar text")
	}
	if at, same := closestBlock(lines, want); same == len(want) {
		return failure(": only whitespace or quotes differ at line %d, which has %s", at+1, quoteLines(lines[at:at+len(want)]))
	} else if same > 0 {
		return failure(": the closest is at line %d, which has %s", at+1, quoteLines(lines[at:min(len(lines), at+len(want))]))
	}
	if at, ok := closestLine(lines, want); ok {
		return failure(": the closest is line %d, which has %s", at+1, quoteLines(lines[at:at+1]))
	}
	return failure(", and there is no similar text")
}

// maxHintWork bounds the pairs of lines that are compared for a hint.
const maxHintWork = 4 << 20

// lineNumber matches the line number that read writes before each line.
var lineNumber = lazyregexp.New(`(?m)^ *[0-9]+\t`)

// closestBlock returns the position in lines at which most of want's lines match,
// ignoring whitespace.
func closestBlock(lines, want []string) (at, same int) {
	places := map[string][]int{} // line -> its indexes in want
	for i, w := range want {
		if w = squeeze(w); len(w) > 1 { // a lone brace matches anywhere
			places[w] = append(places[w], i)
		}
	}
	scores := map[int]int{}
	for i, line := range lines {
		for _, j := range places[squeeze(line)] {
			if start := i - j; start >= 0 {
				scores[start]++
				if n := scores[start]; n > same || n == same && start < at {
					at, same = start, n
				}
			}
		}
	}
	if same > 0 && blockEqual(lines, want, at) {
		return at, len(want)
	}
	return at, min(same, len(want)-1)
}

func blockEqual(lines, want []string, at int) bool {
	if at+len(want) > len(lines) {
		return false
	}
	for i, w := range want {
		if squeeze(lines[at+i]) != squeeze(w) {
			return false
		}
	}
	return true
}

// squeeze removes differences that are easy to overlook: whitespace, and the
// shape of quotes and dashes.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r), r == '\u200b', r == '\ufeff':
			return -1
		case r < unicode.MaxASCII:
			return r
		case strings.ContainsRune("‘’‚′", r):
			return '\''
		case strings.ContainsRune("“”„″", r):
			return '"'
		case strings.ContainsRune("‐‑‒–—−", r):
			return '-'
		}
		return r
	}, s)
}

// closestLine returns the line most similar to the longest line of want, by the
// pairs of bytes that they share.
func closestLine(lines, want []string) (at int, ok bool) {
	var longest string
	for _, w := range want {
		if w = squeeze(w); len(w) > len(longest) {
			longest = w
		}
	}
	const most = 200 // bytes compared: enough to recognise a line
	pairs := func(s string) int { return max(0, min(len(s), most)-1) }
	stock := map[[2]byte]int{}
	for i := range pairs(longest) {
		stock[[2]byte{longest[i], longest[i+1]}]++
	}
	best := 0.5 // at least half in common
	left := make(map[[2]byte]int, len(stock))
	for i, line := range lines {
		s := squeeze(line[:min(len(line), 2*most)])
		if pairs(s) == 0 {
			continue
		}
		clear(left)
		shared := 0
		for j := range pairs(s) {
			p := [2]byte{s[j], s[j+1]}
			if n, seen := stock[p]; seen && left[p] < n {
				left[p]++
				shared++
			}
		}
		if score := 2 * float64(shared) / float64(pairs(s)+pairs(longest)); score > best {
			at, best, ok = i, score, true
		}
	}
	return at, ok
}

// quoteLines returns lines as one quoted string, cut if it is long.
func quoteLines(lines []string) string {
	const most = 400
	s := strings.Join(lines, "\n")
	if len(s) > most {
		return strconv.Quote(strings.ToValidUTF8(s[:most], "")) + " …"
	}
	return strconv.Quote(s)
}
