package logs

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"strconv"
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
// belong to it, such as a stack trace. If records differ only in times,
// addresses, ids and numbers, the first stays, with their number and the time
// of the last. The last one stays too if its numbers add information. Records
// that report errors also differ by their numbers. If many different records
// without errors are left, similar ones are folded and the middle is cut.
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
	return &dedupPass{dedup: d, out: out, seed: maphash.MakeSeed(), seen: map[uint64]*logEntry{}, timedOnly: run.Mixed && d.only == nil}
}

// Limits of the stored part of a log.
const (
	maxHeldBytes = 24 << 20 // bytes of different records
	maxRecord    = 64 << 10 // bytes of one record
	maxVariants  = 8        // variants of an error by their numbers
	maxNearError = 5        // lines without a time kept after an error
)

// dedupPass folds the records of one log.
type dedupPass struct {
	dedup
	out            *text.Lines
	lines          int
	current        logRecord
	exactLeft      int // lines without a time that follow a new error; they still count as different
	seed           maphash.Seed
	seen           map[uint64]*logEntry // by the hash of the normalised text
	entries        []*logEntry          // in the order of their first record
	heldBytes      int                  // memory of entries, about
	asides         int                  // entries that do not belong to the log
	timedOnly      bool                 // lines without a time do not belong to the log
	filteredBefore bool                 // the last line shows that the input is the result of an earlier pass
	beyond         *text.Lines          // lines after the limit of different records
	cutter         *text.Cutter         // makes beyond; nil before the limit
	keyBuffer      []byte
}

// logEntry is one of the different records.
type logEntry struct {
	text                 []byte
	key                  string
	latest               []byte // the last similar record, cut at maxRoutine
	lastLine             int    // line number of the last record
	records              int
	lines                int  // lines of all records
	important            bool // reports a problem, or does not belong to the log
	distinguishesNumbers bool // records with other numbers are different
	differInWords        bool // the records differ in words
	showsLatest          bool // the last record is worth showing

	variants  int       // for an error: number of variants in entries
	variant   *logEntry // the last variant
	uncounted int       // records after the last variant
}

func (d *dedupPass) Line(l []byte) {
	switch {
	case d.only != nil && !d.only.Match(l):
		d.endRecord()
		d.handleAside(l)
		return
	case len(l) == 0:
		d.current.blank()
		return
	}
	if len(d.current.text) > 0 && d.current.continues(l) && len(d.current.text)+len(l) < maxRecord {
		d.lines++
		d.current.add(l)
		return
	}
	d.endRecord()
	if d.timedOnly && !beginsWithTime(l) {
		d.handleAside(l)
		return
	}
	d.lines++
	d.current.begin(l)
}

// handleAside handles a line that does not belong to the log.
func (d *dedupPass) handleAside(l []byte) {
	d.filteredBefore = text.IsPatternCount(l)
	switch {
	case d.lines == 0:
		d.out.Write(l)
	case len(l) == 0:
	case len(d.entries) < d.maxEntries && d.heldBytes < maxHeldBytes:
		d.heldBytes += len(l) + 200
		d.entries = append(d.entries, &logEntry{text: bytes.Clone(l), key: "\n", records: 1, lines: 1, important: true})
		d.asides++
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
	e := d.findEntry(r, exact)
	if e == nil {
		d.handleBeyond(r.text)
		r.text = r.text[:0]
		return
	}
	e.lines += r.lines
	e.lastLine = d.lines
	e.latest = append(e.latest[:0], r.text[:min(len(r.text), maxRoutine)]...)
	r.text = r.text[:0]
}

// findEntry returns the entry of a record, which may be new. It returns nil if there
// is no room for it.
func (d *dedupPass) findEntry(r *logRecord, exact bool) *logEntry {
	if exact {
		d.keyBuffer = append(append(d.keyBuffer[:0], 0), r.text...)
	} else {
		d.normalize(r.text)
	}
	e := d.seen[d.hash()]
	if e == nil {
		if e = d.add(r, exact); e != nil && e.distinguishesNumbers {
			e.variants, e.variant = 1, e
			d.normalizeStrict(r.text)
			d.seen[d.hash()] = e
			if e.important && !r.stamped && !exact {
				d.exactLeft = maxNearError
			}
		}
		return e
	}
	if !e.distinguishesNumbers || exact {
		e.records++
		return e
	}
	d.normalizeStrict(r.text)
	v := d.seen[d.hash()]
	switch {
	case v != nil:
		v.records++
		return v
	case e.variants < maxVariants:
		if v = d.add(r, true); v != nil {
			v.important, v.distinguishesNumbers = e.important, true
			e.variants++
			e.variant = v
		}
		return v
	}
	e.variant.uncounted++
	return e.variant
}

// normalize writes the normalised text of a record into d.keyBuffer.
func (d *dedupPass) normalize(body []byte) {
	d.keyBuffer = text.Normalize(d.keyBuffer[:0], d.substitute(body))
}

// normalizeStrict returns the strictly normalised text of a record, in d.keyBuffer.
func (d *dedupPass) normalizeStrict(body []byte) []byte {
	d.keyBuffer = append(d.keyBuffer[:0], 0) // occurs in no line
	d.keyBuffer = text.NormalizeStrict(d.keyBuffer, d.substitute(body))
	return d.keyBuffer
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

// hash returns the hash of d.keyBuffer.
func (d *dedupPass) hash() uint64 { return maphash.Bytes(d.seed, d.keyBuffer) }

// add makes an entry for a new record with the key in d.keyBuffer.
func (d *dedupPass) add(r *logRecord, exact bool) *logEntry {
	if len(d.entries) >= d.maxEntries || d.heldBytes > maxHeldBytes {
		return nil
	}
	e := &logEntry{text: bytes.Clone(r.text), key: string(d.keyBuffer), records: 1, important: exact || r.reportsProblem()}
	e.distinguishesNumbers = e.important || text.FailedRequest(e.text)
	d.heldBytes += len(e.text) + len(e.key) + 200
	d.seen[d.hash()] = e
	d.entries = append(d.entries, e)
	return e
}

func (d *dedupPass) End() strategy.Confidence {
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
	unique := len(d.entries) - d.asides
	d.markMoved()
	f := logFold{entries: d.entries}
	f.fold()
	if d.cutter == nil && unique == d.lines && !f.lossy {
		return strategy.Fallback
	}
	f.write(d.out)
	if d.cutter != nil {
		d.cutter.End()
		if d.beyond.Each(d.out.Write) != nil {
			return strategy.Fallback
		}
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

// suffix returns how often an entry occurred, and its last time.
func (e *logEntry) suffix() []byte {
	if e.records == 1 {
		return nil
	}
	s := strconv.AppendInt([]byte(" (x"), int64(e.records), 10)
	if e.differInWords {
		s = append(s, " similar"...)
	}
	s = append(s, ')')
	if until := lastTime(e.text, e.latest); until != nil && e.uncounted == 0 && !e.showsLatest {
		s = append(append(s, " … "...), until...)
	}
	return s
}

// markMoved sets showsLatest of entries whose last record differs from the first in more
// than the time, such as in the progress of a task.
func (d *dedupPass) markMoved() {
	var first []byte
	for _, e := range d.entries {
		if e.records < 3 || len(e.latest) == maxRoutine || bytes.Count(e.text, []byte{'\n'}) > 3 {
			continue
		}
		if bytes.Equal(e.text, e.latest) {
			continue
		}
		first = append(first[:0], d.normalizeStrict(e.text)...)
		e.showsLatest = !bytes.Equal(first, d.normalizeStrict(e.latest))
	}
}
