package logs

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// dedup folds the repeated records of a log.
type dedup struct {
	substitutes []substitute
	only        *text.Pattern // matches the lines of the log; nil matches all
	maxEntries  int           // limit of different records
}

// substitute replaces the matches of a user's pattern before a line is
// compared.
type substitute struct {
	pattern     *text.Pattern
	replacement []byte
}

// newDedup makes the strategy "dedup". A record is a line with the lines that
// belong to it, such as a stack trace. Of records that differ only in times,
// addresses, ports, processes, pointers and long ids, the first stays, with
// their number, whether they are equal or only similar, and the time of the last. If many differ in numbers too, the first
// stays with the range of each number, and the records with the least and the
// greatest value of a measure and the last one stay at their places. If many different
// records without errors are left, similar ones are folded and the middle is cut.
//
// In a short log only neighbours are joined, and only if they are equal.
//
// Each of normalize_patterns is a regular expression, or a table of a pattern
// and its replacement. Their matches do not count in the comparison. If only is
// set, lines that do not match it stay unchanged.
func newDedup(p strategy.Params) (strategy.Strategy, error) {
	c := struct {
		Normalize []any  `toml:"normalize_patterns"`
		Max       int    `toml:"max_unique_patterns"`
		Only      string `toml:"only"`
	}{Max: 10_000}
	if err := p.Decode(&c); err != nil {
		return nil, err
	}
	if err := quantity.Check(quantity.Least{Name: "max_unique_patterns", Value: c.Max, Least: 1}); err != nil {
		return nil, err
	}
	d := dedup{maxEntries: c.Max}
	if c.Only != "" {
		var err error
		if d.only, err = text.Compile(c.Only); err != nil {
			return nil, fmt.Errorf("only: %w", err)
		}
	}
	for _, v := range c.Normalize {
		r, err := newSubstitute(v)
		if err != nil {
			return nil, fmt.Errorf("normalize_patterns: %w", err)
		}
		d.substitutes = append(d.substitutes, r)
	}
	return d, nil
}

func newSubstitute(v any) (r substitute, err error) {
	by := "<*>"
	expr, ok := v.(string)
	if table, isTable := v.(map[string]any); isTable {
		expr, ok = table["pattern"].(string)
		for key, value := range table {
			text, isText := value.(string)
			switch {
			case key != "pattern" && key != "replacement":
				return r, fmt.Errorf("unknown key %q (known: pattern, replacement)", key)
			case !isText:
				return r, fmt.Errorf("%s: want a string", key)
			case key == "replacement":
				by = text
			}
		}
	}
	if !ok || expr == "" {
		return r, errors.New("want patterns, or tables with a pattern")
	}
	if strings.Contains(strings.ReplaceAll(by, "$$", ""), "$") {
		return r, fmt.Errorf("the replacement %q refers to a group; write $$ for a dollar", by)
	}
	r.replacement = []byte(strings.ReplaceAll(by, "$$", "$"))
	r.pattern, err = text.Compile(expr)
	return r, err
}

func (d dedup) Begin(run strategy.Run, out *text.Lines) strategy.Pass {
	return &dedupPass{
		dedup: d, out: out, seed: maphash.MakeSeed(), seen: map[uint64]*logEntry{}, timedOnly: run.Mixed && d.only == nil,
		short: true,
	}
}

// Limits of the stored part of a log.
const (
	maxHeldBytes    = 24 << 20 // bytes of different records
	maxVariantBytes = 8 << 20  // bytes of different records beyond which only the first of similar ones stays
	maxExtremeBytes = 4 << 20  // bytes of the records of extremes
	maxRecord       = 64 << 10 // bytes of one record
	routineVariants = 4        // records that differ only in numbers that all stay
	maxVariants     = 8        // the same, if they report problems
	maxNearError    = 5        // lines without a time kept after an error
)

// A log of fewer lines and bytes is short.
const (
	shortLines = 100
	shortBytes = 8 << 10
)

// dedupPass folds the records of one log.
type dedupPass struct {
	dedup
	out            *text.Lines
	short          bool   // the log is short so far: its lines wait in held
	held           []byte // with their line feeds
	heldLines      int
	lines          int
	records        int // records and lines that do not belong to the log
	current        logRecord
	exactLeft      int // lines without a time that follow a new error; they still count as different
	seed           maphash.Seed
	seen           map[uint64]*logEntry // by the hash of the normalised text
	previous       *logEntry            // the entry of the last record; nil after a line that does not belong to the log
	entries        []*logEntry          // in the order of their first record
	heldBytes      int                  // memory of entries, about
	timedOnly      bool                 // lines without a time do not belong to the log
	filteredBefore bool                 // the last line shows that the input is the result of an earlier pass
	beyond         *text.Lines          // lines after the limit of different records
	cutter         *text.Cutter         // makes beyond; nil before the limit
	keyBuffer      []byte
	spans          []text.Span   // of the record in keyBuffer
	columns        []text.Column // of the record in keyBuffer
	columnBuffer   []byte
	extremeBytes   int // memory of the records of extremes, about
}

func (d *dedupPass) Line(l []byte) {
	if !d.short {
		d.handle(l)
		return
	}
	d.held = append(append(d.held, l...), '\n')
	if d.heldLines++; d.heldLines >= shortLines || len(d.held) >= shortBytes {
		d.short = false
		d.release()
	}
}

// release handles the lines that waited until it is known whether the log is short.
func (d *dedupPass) release() {
	text.EachLine(d.held, d.handle)
	d.held = nil
}

func (d *dedupPass) handle(l []byte) {
	switch {
	case d.only != nil && !d.only.Match(l):
		d.endRecord()
		d.handleAside(l)
		return
	case len(l) == 0:
		d.current.blank()
		return
	}
	timed := beginsWithTime(l)
	if len(d.current.text) > 0 && d.current.continues(l, timed) && len(d.current.text)+len(l) < maxRecord {
		d.lines++
		d.current.add(l)
		return
	}
	d.endRecord()
	if d.timedOnly && !timed {
		d.handleAside(l)
		return
	}
	d.lines++
	d.current.begin(l, timed)
}

// handleAside handles a line that does not belong to the log.
func (d *dedupPass) handleAside(l []byte) {
	d.filteredBefore = text.IsPatternCount(l)
	d.previous = nil
	switch {
	case d.lines == 0:
		d.out.Write(l)
	case len(l) == 0:
	case len(d.entries) < d.maxEntries && d.heldBytes < maxHeldBytes:
		d.records++
		d.heldBytes += len(l) + 200
		d.entries = append(d.entries, &logEntry{shown: shown{bytes.Clone(l), d.records}, key: "\n", records: 1, lines: 1, important: true, aside: true})
	default:
		d.handleBeyond(l)
	}
}

// handleBeyond handles a text after the limit of different records.
func (d *dedupPass) handleBeyond(body []byte) {
	if d.cutter == nil {
		d.beyond = text.NewLines()
		d.cutter = text.Excerpt{Head: 100, Tail: 100, Context: 2}.Cut(d.beyond)
	}
	for line := range bytes.SplitSeq(body, []byte{'\n'}) {
		d.cutter.Line(line)
	}
}

// endRecord counts the current record.
func (d *dedupPass) endRecord() {
	r := &d.current
	if len(r.text) == 0 {
		return
	}
	exact := d.exactLeft > 0 && !r.stamped && !r.inDump
	if r.stamped {
		d.exactLeft = 0
	} else if exact {
		d.exactLeft--
	}
	d.records++
	e := d.findEntry(r, exact)
	if e == nil {
		d.handleBeyond(r.text)
	} else {
		e.lines += r.lines
	}
	d.previous = e
	r.text = r.text[:0]
}

// findEntry counts a record in its entry, which may be new. It returns nil if there
// is no room for it.
func (d *dedupPass) findEntry(r *logRecord, exact bool) *logEntry {
	body := r.text
	if d.spans = d.spans[:0]; exact {
		d.keyBuffer = append(append(d.keyBuffer[:0], 0), body...)
	} else {
		body = d.substitute(body)
		d.keyBuffer, d.spans = text.NormalizeSpans(d.keyBuffer[:0], body, d.spans)
	}
	hash := maphash.Bytes(d.seed, d.keyBuffer)
	e := d.seen[hash]
	if e != nil {
		d.columns = e.columnsOf(body, d.spans, d.columns[:0])
	}
	if d.short && (e != d.previous || e == nil || e.variants[0].hash != d.columnHash(body, false) || e.variants[0].ids != d.columnHash(body, true)) {
		e = nil
	}
	if e == nil {
		if e = d.add(r, hash, exact); e == nil || exact {
			return e
		}
		if e.maxVariants == maxVariants && e.important && !r.stamped {
			d.exactLeft = maxNearError
		}
		d.columns = e.setColumns(&d.columnBuffer, body, d.spans, d.columns[:0])
		e.variants[0].hash, e.variants[0].ids = d.columnHash(body, false), d.columnHash(body, true)
		return e
	}
	e.records++
	e.lastAt = d.records
	if exact {
		e.variants[0].count(r.text)
		return e
	}
	if len(d.columns) > 0 {
		if !e.noted {
			d.beginStats(e, len(body))
		}
		e.note(body, d.records, d.columns)
	}
	d.countVariant(e, r, body)
	return e
}

// beginStats begins the ranges of an entry. Where there is little room, they have no records.
func (d *dedupPass) beginStats(e *logEntry, size int) {
	e.rangesOnly = d.extremeBytes > maxExtremeBytes
	e.noteFirst()
	d.heldBytes += len(e.stats) * 200
	if !e.rangesOnly {
		d.extremeBytes += 2 * min(maxMeasures, len(e.stats)) * min(size, maxRoutine)
	}
}

// countVariant counts a record that is equal to the entry without its columns.
// columnsIn is the text with the columns.
func (d *dedupPass) countVariant(e *logEntry, r *logRecord, columnsIn []byte) {
	body := r.text
	var hash uint64
	if !e.similar || e.maxVariants == maxVariants {
		hash = d.columnHash(columnsIn, false)
		for _, v := range e.variants {
			if v.hash == hash {
				v.differ = v.differ || v.ids != d.columnHash(columnsIn, true)
				v.count(body)
				return
			}
		}
	}
	if len(e.variants) < e.maxVariants && !e.similar && (d.heldBytes < maxVariantBytes || e.maxVariants == maxVariants) {
		v := &variant{shown: shown{bytes.Clone(body), d.records}, hash: hash, ids: d.columnHash(columnsIn, true)}
		v.count(body)
		e.variants = append(e.variants, v)
		d.heldBytes += len(body) + 100
		return
	}
	if e.similar = true; e.joined() {
		e.variants = nil // the first record stands for all
	}
	if e.more++; e.more == 1 {
		e.uncounted.set(body, d.records)
	}
	if e.latest.at = d.records; cap(r.text) > maxSwapped {
		e.latest.set(body, d.records)
	} else {
		e.latest.text, r.text = body, e.latest.text[:0]
	}
}

// maxSwapped is the largest buffer of a record that an entry keeps for its last record, instead of a copy.
const maxSwapped = 512

func (v *variant) count(body []byte) {
	v.records++
	v.latest = append(v.latest[:0], body[:min(len(body), maxStamp)]...)
}

// columnHash returns the hash of those columns of a record that are ids, or of those that are not.
func (d *dedupPass) columnHash(body []byte, ids bool) uint64 {
	d.columnBuffer = d.columnBuffer[:0]
	for _, c := range d.columns {
		if (c.Kind == text.ID) == ids {
			d.columnBuffer = append(append(d.columnBuffer, body[c.Start:c.End]...), 0)
		}
	}
	if len(d.columnBuffer) == 0 {
		return 0
	}
	return maphash.Bytes(d.seed, d.columnBuffer)
}

// substitute applies the substitutes of the configuration to a record.
func (d *dedupPass) substitute(body []byte) []byte {
	for _, r := range d.substitutes {
		if r.pattern.Match(body) {
			body = r.pattern.Regexp.ReplaceAllLiteral(body, r.replacement)
		}
	}
	return body
}

// add makes an entry for a new record with the key in d.keyBuffer.
func (d *dedupPass) add(r *logRecord, hash uint64, exact bool) *logEntry {
	if len(d.entries) >= d.maxEntries || d.heldBytes > maxHeldBytes {
		return nil
	}
	first := shown{bytes.Clone(r.text), d.records}
	e := &logEntry{shown: first, key: string(d.keyBuffer), records: 1, lastAt: d.records, important: exact || r.reportsProblem(), maxVariants: routineVariants}
	e.variants = []*variant{{shown: first}}
	e.variants[0].count(r.text)
	if e.important || text.FailedRequest(e.text) {
		e.maxVariants = maxVariants
	}
	d.heldBytes += len(e.text) + len(e.key) + 300
	d.seen[hash] = e
	d.entries = append(d.entries, e)
	return e
}

func (d *dedupPass) End() strategy.Confidence {
	d.release()
	d.filteredBefore = d.filteredBefore || text.IsPatternCount(d.current.text[bytes.LastIndexByte(d.current.text, '\n')+1:])
	d.endRecord()
	if d.cutter != nil {
		defer d.beyond.Close()
	}
	switch {
	case d.only != nil && d.lines == 0: // another rule filters all of it
		return strategy.Full
	case d.lines < 3 || d.filteredBefore:
		return strategy.Fallback
	}
	unique, asides := 0, 0
	for _, e := range d.entries {
		unique += e.patterns()
		if e.aside {
			asides++
		}
	}
	d.seen = nil
	f := logFold{entries: d.entries, short: d.short}
	f.fold()
	f.write(d.out)
	if d.cutter == nil && !f.lossy && unique == d.records-asides {
		return strategy.Fallback
	}
	if d.cutter != nil {
		d.cutter.End()
		if d.beyond.Each(d.out.Write) != nil {
			return strategy.Fallback
		}
	}
	unique = 0
	for _, e := range f.entries { // after similar ones were folded
		unique += e.patterns()
	}
	d.out.Write(d.patternCount(unique))
	if f.lossy || d.cutter != nil {
		return strategy.Partial
	}
	return strategy.Full
}

// patternCount returns the last line of a folded log.
func (d *dedupPass) patternCount(unique int) []byte {
	l := fmt.Appendf(nil, "%s (%d%s", quantity.Count(unique, "unique pattern"), d.lines, text.PatternsSuffix)
	if d.cutter != nil {
		l = fmt.Appendf(l, " (capped at %d)", d.maxEntries)
	}
	return l
}
