package filter

import (
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// diffAt is a position in a diff.
type diffAt struct {
	file           string
	oldAt, newAt   int // numbers of the next lines
	oldEnd, newEnd int
}

// advance moves past a line, and reports whether it is context in a hunk.
func (d *diffAt) advance(l string) (context bool) {
	begins := strings.HasPrefix(l, "@@ -") || strings.HasPrefix(l, "diff --git ")
	if !begins && (d.oldAt < d.oldEnd || d.newAt < d.newEnd) {
		switch {
		case strings.HasPrefix(l, "+"):
			d.newAt++
		case strings.HasPrefix(l, "-"):
			d.oldAt++
		case strings.HasPrefix(l, "\\"), strings.HasPrefix(l, "... ("):
		default:
			d.oldAt++
			d.newAt++
			return true
		}
		return false
	}
	if name, ok := strings.CutPrefix(l, "diff --git "); ok {
		*d = diffAt{file: name}
	}
	if m := hunkHead.FindStringSubmatch(l); m != nil {
		number := func(s, otherwise string) int { n, _ := strconv.Atoi(cmp.Or(s, otherwise)); return n }
		d.oldAt, d.newAt = number(m[1], ""), number(m[3], "")
		d.oldEnd, d.newEnd = d.oldAt+number(m[2], "1"), d.newAt+number(m[4], "1")
	}
	return false
}

var hunkHead = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)

// hunks returns the lines of hunks that have another number than in the output.
func (tr *truth) hunks() (wrong []string) {
	lines := func(all []string) map[string]string {
		at := map[string]string{}
		var d diffAt
		cut := false
		for _, l := range all {
			before := d
			d.advance(l)
			cut = !strings.HasPrefix(l, "@@ ") && (cut || strings.HasPrefix(l, "... ("))
			if before.oldAt != d.oldAt && before.file == d.file && !hunkHead.MatchString(l) && !cut {
				at[fmt.Sprint(d.file, " -", before.oldAt)] = strings.TrimPrefix(strings.TrimPrefix(l, "-"), " ")
			}
			if before.newAt != d.newAt && before.file == d.file && !hunkHead.MatchString(l) && !cut {
				at[fmt.Sprint(d.file, " +", before.newAt)] = strings.TrimPrefix(strings.TrimPrefix(l, "+"), " ")
			}
		}
		return at
	}
	want := lines(tr.raw)
	for at, l := range lines(tr.out) {
		if want[at] != l && !strings.Contains(l, "bytes omitted") {
			wrong = append(wrong, fmt.Sprintf("%s is %q, in the output it is %q", at, l, want[at]))
		}
	}
	return wrong
}
