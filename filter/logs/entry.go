package logs

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// shown is a record that may be written at its place in the log.
type shown struct {
	text []byte
	at   int // number of the record in the log
}

func (s *shown) set(body []byte, at int) {
	s.text, s.at = append(s.text[:0], body[:min(len(body), maxRoutine)]...), at
}

// logEntry holds the records that are equal without their columns.
type logEntry struct {
	shown         // the first record
	key           string
	records       int
	lines         int        // lines of all records
	important     bool       // reports a problem, or does not belong to the log
	aside         bool       // does not belong to the log
	maxVariants   int        // records with other columns that stay
	variants      []*variant // by their columns; the first one is the entry's
	similar       bool       // there are more variants than stay
	differInWords bool       // the records also differ in words
	uncounted     shown      // the first record that belongs to no variant
	more          int        // records that belong to no variant
	latest        shown      // the last record
	stats         []columnStat
	rangesOnly    bool // there is no room for the records of extremes
}

// variant holds the records with equal columns.
type variant struct {
	shown
	hash    uint64
	records int
	latest  []byte // the beginning of the last record, which has its time
}

// maxStamp is the part of a record that has its time.
const maxStamp = 64

// columnStat is the range of one column.
type columnStat struct {
	kind       text.ColumnKind
	sign, unit int  // bytes of them around the column
	off        bool // merged with another column
	name       string
	last       []byte // the text of the column in the last record
	min, max   extreme
}

// extreme is one end of a range.
type extreme struct {
	value  float64
	text   []byte // of the column
	record shown  // set for measures
}

// maxMeasures limits the columns of an entry whose extremes are shown.
const maxMeasures = 6

// noteFirst begins the ranges by the first record.
func (e *logEntry) noteFirst() {
	if e.stats == nil {
		_, columns := text.NormalizeColumns(nil, e.text, nil)
		e.note(e.text, e.at, columns)
	}
}

// note adds the columns of a record to the ranges.
func (e *logEntry) note(body []byte, at int, columns []text.Column) {
	if e.stats == nil {
		e.stats = make([]columnStat, 0, len(columns))
		measures := 0
		for _, c := range columns {
			with := text.Describe(body, c)
			s := columnStat{kind: with.Kind, sign: c.Start - with.Start, unit: with.End - c.End}
			if s.kind != text.Name {
				s.name = string(text.NameBefore(body, c.Start))
			}
			if s.kind == text.Measure {
				if measures++; measures > maxMeasures || e.rangesOnly {
					s.kind = text.Count
				}
			}
			e.stats = append(e.stats, s)
		}
	}
	for i, c := range columns[:min(len(columns), len(e.stats))] {
		s := &e.stats[i]
		number := body[c.Start-s.sign : min(c.End+s.unit, len(body))]
		if s.kind == text.Name || bytes.Equal(number, s.last) {
			continue
		}
		v, ok := text.Value(number)
		if !ok {
			s.kind = text.Name
			continue
		}
		for _, x := range [...]struct {
			*extreme
			beyond bool
		}{{&s.min, v < s.min.value}, {&s.max, v > s.max.value}} {
			if !x.beyond && s.last != nil {
				continue
			}
			x.value, x.text = v, append(x.text[:0], number...)
			if s.kind == text.Measure {
				x.record.set(body, at)
			}
		}
		s.last = append(s.last[:0], number...)
	}
}

// varies reports whether a column has a range to write.
func (s *columnStat) varies() bool { return s.kind != text.Name && !s.off && s.min.value < s.max.value }

// merge adds the records of another entry that differs in words.
func (e *logEntry) merge(other *logEntry) {
	e.noteFirst()
	other.noteFirst()
	e.records += other.records
	e.lines += other.lines
	if other.latest.at > e.latest.at {
		e.latest = other.latest
	}
	e.similar, e.differInWords = true, true
	e.mergeStats(other)
}

// mergeStats joins ranges of the same columns; others are left out.
func (e *logEntry) mergeStats(other *logEntry) {
	numbers := func(all []columnStat) (kept []columnStat) {
		for _, s := range all {
			if s.kind != text.Name {
				kept = append(kept, s)
			}
		}
		return kept
	}
	e.stats = numbers(e.stats)
	for i, o := range numbers(other.stats) {
		if i == len(e.stats) {
			return
		}
		s := &e.stats[i]
		if s.off = s.off || o.off || s.name != o.name; s.off {
			continue
		}
		if o.min.value < s.min.value {
			s.min = o.min
		}
		if o.max.value > s.max.value {
			s.max = o.max
		}
	}
}
