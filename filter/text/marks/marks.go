// Package marks handles the marks that stand for masked credentials in texts of a model, such as
// [REDACTED:aws key]. A mark must not replace the value in a file or leave for elsewhere.
//
// [Find] finds a mark. [Restore] puts the values back into a new text of a file. The marks are those
// of package redact.
package marks

import (
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

var mark = lazyregexp.New(`\[REDACTED(:[a-z0-9 ]{1,40})?\]`)

// Find returns the first mark in a text and its 1-based line; "" if there is none.
func Find(text string) (found string, line int) {
	if !strings.Contains(text, "[REDACTED") {
		return "", 0
	}
	at := mark.FindStringIndex(text)
	if at == nil {
		return "", 0
	}
	return text[at[0]:at[1]], 1 + strings.Count(text[:at[0]], "\n")
}

// MayHave reports whether a text may have a mark. Short values are masked by stars.
func MayHave(text string) bool {
	return strings.Contains(text, "[REDACTED") || strings.Contains(text, "****")
}

// Restore returns the new text of a file with the values of the lines that have marks. masked is old
// as the model reads it. A line with a mark that is no line of masked keeps its mark only if old has
// the line; otherwise Restore returns the number of the line, from 1, and the restored text is not to
// be written. The number is 0 if all is well.
func Restore(old, masked, text string) (restored string, line int) {
	before, shown, lines := strings.Split(old, "\n"), strings.Split(masked, "\n"), strings.Split(text, "\n")
	if len(before) != len(shown) {
		before, shown = nil, nil
	}
	value := func(i, j int) bool { // whether line i of the new text is line j of the old one
		if bare(lines[i]) != bare(shown[j]) {
			return bare(lines[i]) == bare(before[j])
		}
		if bare(shown[j]) != bare(before[j]) {
			lines[i] = bare(before[j]) + lines[i][len(bare(lines[i])):]
		}
		return true
	}
	from, end := 0, 0 // equal lines at the beginning and at the end stand for themselves
	for from < min(len(shown), len(lines)) && value(from, from) {
		from++
	}
	for end < min(len(shown), len(lines))-from && value(len(lines)-1-end, len(shown)-1-end) {
		end++
	}
	values := map[string][]string{} // of the masked lines in between
	for j := from; j < len(shown)-end; j++ {
		if m := bare(shown[j]); m != bare(before[j]) {
			values[m] = append(values[m], bare(before[j]))
		}
	}
	literal := map[string]bool{}
	for _, l := range before {
		literal[bare(l)] = true
	}
	uses := map[string]int{}
	for i := from; i < len(lines)-end; i++ {
		uses[bare(lines[i])]++
	}
	used := map[string]int{}
	for i := from; i < len(lines)-end; i++ {
		l := bare(lines[i])
		if literal[l] || !MayHave(l) {
			continue
		}
		all, n := values[l], used[l]
		used[l]++
		switch {
		case len(all) > 0 && (same(all) || uses[l] == len(all)):
			lines[i] = all[n%len(all)] + lines[i][len(l):]
		default:
			if found, _ := Find(l); found != "" {
				return "", i + 1
			}
		}
	}
	return strings.Join(lines, "\n"), 0
}

// bare returns a line without a carriage return at its end.
func bare(line string) string { return strings.TrimSuffix(line, "\r") }

func same(all []string) bool {
	for _, s := range all {
		if s != all[0] {
			return false
		}
	}
	return true
}
