package diagnostics

import (
	"cmp"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// Lines formats diagnostics of other programs, such as language servers, as the tool
// does: errors first, each on one line, at most limit. omitted counts the others.
func Lines(found []Diagnostic, limit int) (lines []string, omitted int) {
	clean := make([]Diagnostic, len(found))
	for i, d := range found {
		d.File, d.Message, d.Code = plainLine(d.File), cut(plainLine(d.Message)), cut(plainLine(d.Code))
		clean[i] = d
	}
	slices.SortFunc(clean, func(a, b Diagnostic) int {
		return cmp.Or(rank(a.Severity)-rank(b.Severity), compareLocation(a, b))
	})
	for _, d := range clean[:min(len(clean), max(limit, 0))] {
		lines = append(lines, d.line())
	}
	return lines, len(clean) - len(lines)
}

// Counts describes how many diagnostics there are of each severity.
func Counts(found []Diagnostic) string {
	var parts []string
	for _, s := range []Severity{Error, Warning, Note} {
		n := 0
		for _, d := range found {
			if d.Severity == s {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, quantity.Count(n, string(s)))
		}
	}
	return strings.Join(parts, ", ")
}
