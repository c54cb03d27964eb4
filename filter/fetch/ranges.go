package fetch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// maxRanges limits the fields whose ranges are written.
const maxRanges = 6

// numberRanges holds the ranges of the numbers of items, by field.
type numberRanges struct {
	fields []int
	ranges []numberRange
}

type numberRange struct {
	name          []byte
	least, most   float64
	first, latest []byte // the texts of the least and the greatest number
}

// add adds the numbers of an item. Ids, results and other fields of few values have no range.
func (r *numberRanges) add(j *jsonFold, item int) {
	for n := item; n < j.values[item].next; n++ {
		v := j.values[n]
		f := &j.fields[v.field]
		number := j.text[v.from:v.to]
		if b := number[0]; text.Class[b] != text.Digit && b != '-' || len(f.values) <= maxEnumValues || text.IsIDName(f.key) {
			continue
		}
		value, ok := text.Value(number)
		if !ok {
			continue
		}
		i := slices.Index(r.fields, v.field)
		switch {
		case i < 0 && len(r.fields) == maxRanges:
			continue
		case i < 0:
			i = len(r.fields)
			r.fields = append(r.fields, v.field)
			r.ranges = append(r.ranges, numberRange{f.key, value, value, number, number})
		}
		if x := &r.ranges[i]; value < x.least {
			x.least, x.first = value, number
		} else if value > x.most {
			x.most, x.latest = value, number
		}
	}
}

// String returns the ranges after a colon: ": size 12…900, age 3…40".
func (r *numberRanges) String() string {
	var b strings.Builder
	sep := ": "
	for _, x := range r.ranges {
		if x.least < x.most {
			b.WriteString(sep)
			if len(x.name) > 0 {
				fmt.Fprintf(&b, "%s ", x.name)
			}
			fmt.Fprintf(&b, "%s…%s", x.first, x.latest)
			sep = ", "
		}
	}
	return b.String()
}
