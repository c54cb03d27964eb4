package logs

import (
	"bytes"
	"slices"

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
	latest        shown      // the last record that is known whole
	lastAt        int        // number of the last record
	spans         int        // of the first record
	columns       []spanColumn
	noted         bool // stats are of the first record, at least
	stats         []columnStat
	names         *nameList // words of the other records that the first lacks
	rangesOnly    bool      // there is no room for the records of extremes and for names
}

// spanColumn is a column by the index of its span.
type spanColumn struct {
	span uint16
	kind text.ColumnKind
}

// setColumns sets which spans of the entry are columns, and appends those of its first record. buffer is
// memory to work in.
func (e *logEntry) setColumns(buffer *[]byte, body []byte, spans []text.Span, columns []text.Column) []text.Column {
	*buffer, columns = text.NormalizeColumns((*buffer)[:0], body, columns)
	e.spans = len(spans)
	at := 0
	for _, c := range columns {
		for at < len(spans) && spans[at].Start < c.Start {
			at++
		}
		if at == len(spans) || spans[at] != (text.Span{Start: c.Start, End: c.End}) {
			e.columns, e.spans = nil, -1
			return columns
		}
		e.columns = append(e.columns, spanColumn{uint16(at), c.Kind})
	}
	return columns
}

// columnsOf appends the columns of a record that is equal without them.
func (e *logEntry) columnsOf(body []byte, spans []text.Span, columns []text.Column) []text.Column {
	if len(spans) != e.spans {
		if len(spans) > 0 {
			_, columns = text.NormalizeColumns(nil, body, columns)
		}
		return columns
	}
	for _, c := range e.columns {
		s := spans[c.span]
		columns = append(columns, text.Column{Start: s.Start, End: s.End, Kind: c.kind})
	}
	return columns
}

// variant holds the records with equal columns, apart from those of the kind ID.
type variant struct {
	shown
	hash    uint64
	ids     uint64 // hash of the ids of the first record
	differ  bool   // there are records with other ids
	records int
	latest  []byte // the beginning of the last record, which has its time
}

// maxStamp is the part of a record that has its time.
const maxStamp = 64

// columnStat is the range of one column.
type columnStat struct {
	kind       text.ColumnKind
	sign, unit uint8 // bytes of them around the column
	seen       bool  // there is a record
	off        bool  // merged with another column
	name       string
	last       []byte // the text of a name in the last record
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
	if !e.noted {
		_, columns := text.NormalizeColumns(nil, e.text, nil)
		e.begin(columns)
		e.note(e.text, e.at, columns)
	}
}

// begin begins the ranges of the columns, and reuses their memory.
func (e *logEntry) begin(columns []text.Column) {
	e.noted = true
	e.stats = slices.Grow(e.stats[:0], len(columns))[:len(columns)]
	measures := 0
	for i, c := range columns {
		with := text.Describe(e.text, c)
		s := &e.stats[i]
		*s = columnStat{
			kind: with.Kind, sign: uint8(c.Start - with.Start), unit: uint8(with.End - c.End),
			last: s.last[:0], min: s.min.reset(), max: s.max.reset(),
		}
		if s.kind != text.Name {
			s.name = string(text.NameBefore(e.text, c.Start))
		}
		if s.kind == text.Measure {
			if measures++; measures > maxMeasures || e.rangesOnly {
				s.kind = text.Count
			}
		}
	}
}

// note adds the columns of a record to the ranges.
func (e *logEntry) note(body []byte, at int, columns []text.Column) {
	for i, c := range columns[:min(len(columns), len(e.stats))] {
		s := &e.stats[i]
		if s.kind == text.ID {
			continue
		}
		number := body[max(c.Start-int(s.sign), 0):min(c.End+int(s.unit), len(body))]
		if s.kind == text.Name {
			if bytes.Equal(number, s.last) {
				continue
			}
			s.last = append(s.last[:0], number...)
			s.noteName(wordAround(body, c))
			continue
		}
		v, ok := text.Value(number)
		if !ok {
			s.off = true
			continue
		}
		if v < s.min.value || !s.seen {
			s.min.note(v, number, body, at, s.kind)
		}
		if v > s.max.value || !s.seen {
			s.max.note(v, number, body, at, s.kind)
		}
		s.seen = true
	}
}

// noteName adds a name to the range. Names of a column differ in numbers.
func (s *columnStat) noteName(name []byte) {
	if !s.seen || text.NumberLess(name, s.min.text) {
		s.min.text = append(s.min.text[:0], name...)
	}
	if !s.seen || text.NumberLess(s.max.text, name) {
		s.max.text = append(s.max.text[:0], name...)
	}
	s.seen = true
}

// isText reports whether a column has no numbers to compare.
func (s *columnStat) isText() bool { return s.kind == text.Name || s.kind == text.ID }

// varies reports whether a column has a range to write.
func (s *columnStat) varies() bool {
	return !s.off && (s.min.value < s.max.value || s.kind == text.Name && !bytes.Equal(s.min.text, s.max.text))
}

// merge adds the records of another entry that differs in words. scratch is reused between calls.
func (e *logEntry) merge(other, scratch *logEntry) {
	e.noteFirst()
	e.records += other.records
	e.lines += other.lines
	e.similar, e.differInWords, e.variants = true, true, nil
	for i := range e.stats {
		if s := &e.stats[i]; s.kind == text.Name && !s.off {
			if s.varies() {
				e.addName(slices.Concat(s.min.text, []byte("…"), s.max.text))
			}
			s.off = true
		}
	}
	e.addNames(other)
	if !other.noted {
		scratch.shown, scratch.rangesOnly, scratch.noted = other.shown, e.rangesOnly, false
		scratch.noteFirst()
		e.mergeStats(scratch)
	} else {
		e.mergeStats(other)
	}
	if other.records == 1 {
		other.latest = other.shown
	}
	if e.lastAt = max(e.lastAt, other.lastAt); other.latest.at > e.latest.at {
		e.latest.set(other.latest.text, other.latest.at)
	}
}

// mergeStats joins ranges of the same columns; others are left out.
func (e *logEntry) mergeStats(other *logEntry) {
	i := 0
	for j := range other.stats {
		o := &other.stats[j]
		if o.isText() {
			continue
		}
		for i < len(e.stats) && e.stats[i].isText() {
			i++
		}
		if i == len(e.stats) {
			return
		}
		s := &e.stats[i]
		i++
		if s.off = s.off || o.off || s.name != o.name; s.off {
			continue
		}
		if o.min.value < s.min.value {
			s.min.copy(&o.min)
		}
		if o.max.value > s.max.value {
			s.max.copy(&o.max)
		}
	}
}

// note sets the extreme. Of a measure it keeps the record.
func (x *extreme) note(v float64, number, body []byte, at int, kind text.ColumnKind) {
	if x.value, x.text = v, append(x.text[:0], number...); kind == text.Measure {
		x.record.set(body, at)
	}
}

// reset returns the extreme without its value, but with its memory.
func (x *extreme) reset() extreme {
	return extreme{text: x.text[:0], record: shown{text: x.record.text[:0]}}
}

func (x *extreme) copy(from *extreme) {
	x.value, x.text = from.value, append(x.text[:0], from.text...)
	if len(from.record.text) > 0 {
		x.record.set(from.record.text, from.record.at)
	}
}
