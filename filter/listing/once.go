package listing

import (
	"bytes"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// minRows is how many rows a list must have for its values to be said once.
const minRows = 20

// sayOnce leaves a value out of the rows if it is in most of them, and names it above the first row. Each
// group of t.once is a column; one that is empty in any row stays, since nobody could tell those rows from
// the others. It returns false if there is nothing to leave out.
func (t *tablePass) sayOnce() bool {
	counts := make([]map[string]int, t.once.Regexp.NumSubexp())
	for i := range counts {
		counts[i] = map[string]int{}
	}
	rows := 0
	var line []byte
	// eachRow calls do with each line without its padding, and with the ends of its groups if it is a row.
	eachRow := func(do func(l []byte, groups []int)) bool {
		return t.each(func(l []byte) {
			line = text.Squeeze(line[:0], bytes.TrimRight(l, " "))
			m := t.once.Regexp.FindSubmatchIndex(line)
			do(line, m[min(2, len(m)):])
		})
	}
	if !eachRow(func(l []byte, groups []int) {
		if len(groups) > 0 {
			rows++
		}
		for i := 0; i < len(groups); i += 2 {
			if groups[i] >= 0 {
				counts[i/2][string(l[groups[i]:groups[i+1]])]++
			}
		}
	}) || rows < minRows {
		return false
	}
	usual := make([]string, len(counts))
	var names []string
	for i, column := range counts {
		sum := 0
		for value, n := range column {
			if sum += n; n*2 > rows {
				usual[i] = value
			}
		}
		if sum < rows {
			usual[i] = ""
		} else if usual[i] != "" {
			names = append(names, strings.TrimSpace(usual[i]))
		}
	}
	if len(names) == 0 {
		return false
	}
	return eachRow(func(l []byte, groups []int) {
		if len(groups) > 0 && names != nil {
			t.out.WriteString("(left out of the rows with it: " + strings.Join(names, ", ") + ")")
			names = nil
		}
		for i := len(groups) - 2; i >= 0; i -= 2 {
			if usual[i/2] != "" && string(l[groups[i]:groups[i+1]]) == usual[i/2] {
				l = append(l[:groups[i]], l[groups[i+1]:]...)
			}
		}
		t.out.Write(l)
	})
}
