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
)

// dedup folds the repeated records of a log.
type dedup struct {
	replace []substitute
	only    *text.Pattern // matches the lines of the log; nil matches all
	max     int           // limit of different records
}

// substitute replaces the matches of a user's pattern before a line is
// compared.
type substitute struct {
	pattern *text.Pattern
	by      []byte
}

// newDedup makes the strategy "dedup". A record is a line with the lines that
// belong to it, such as a stack trace. If records differ only in times,
// addresses, ids and numbers, the first stays, with their number and the time
// of the last. The last one stays too if its numbers add something. Records
// that report errors also differ by their numbers. If many different records
// without errors are left, similar ones are folded and the middle is cut.
//
// Each of normalize_patterns is a regular expression, or a table of a pattern
// and its replacement. Their matches do not count in the comparison. If only is
// set, lines that do not match it stay as they are.
func newDedup(p strategy.Params) (strategy.Strategy, error) {
	c := struct {
		Normalize []any  `toml:"normalize_patterns"`
		Max       int    `toml:"max_unique_patterns"`
		Only      string `toml:"only"`
	}{Max: 10_000}
	if err := p.Decode(&c); err != nil {
		return nil, err
	}
	if c.Max <= 0 {
		return nil, errors.New("max_unique_patterns must be a number of patterns")
	}
	d := dedup{max: c.Max}
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
		d.replace = append(d.replace, r)
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
	r.by = []byte(strings.ReplaceAll(by, "$$", "$"))
	r.pattern, err = text.Compile(expr)
	return r, err
}

func (d dedup) Begin(run strategy.Run, out *text.Lines) strategy.Pass {
	return &deduping{dedup: d, out: out, seed: maphash.MakeSeed(), seen: map[uint64]*logEntry{}}
}

// Limits of the stored part of a log.
const (
	maxHeld     = 24 << 20 // bytes of different records
	maxRecord   = 64 << 10 // bytes of one record
	maxVariants = 8        // variants of an error by their numbers
	nearError   = 5        // lines without a time kept after an error
)

type deduping struct {
	dedup
	out     *text.Lines
	lines   int
	record  logRecord // the current record
	exact   int       // plain lines left near a new error
	seed    maphash.Seed
	seen    map[uint64]*logEntry // by the hash of the normalised text
	entries []*logEntry
	held    int
	asides  int         // entries that do not belong to the log
	again   bool        // the last line is the result of an earlier pass
	beyond  *text.Lines // lines after the limit of different records
	cut     *text.Cutter
	key     []byte
}

// logEntry is one of the different records.
type logEntry struct {
	text      []byte
	key       string
	latest    []byte // the last similar record, cut at maxRoutine
	at        int    // line number of the last record
	n         int    // number of records
	lines     int    // lines of all records
	important bool
	varies    bool // records with other numbers are different
	similar   bool // the records differ in words
	moved     bool // the last record is worth showing

	variants int       // for an error: number of variants in entries
	variant  *logEntry // the last variant
	more     int       // records after the last variant
}

func (d *deduping) Line(l []byte) {
	switch {
	case d.only != nil && !d.only.Match(l):
		d.flush()
		d.aside(l)
		return
	case len(l) == 0:
		d.record.blank()
		return
	}
	d.lines++
	if len(d.record.text) > 0 && d.record.continues(l) && len(d.record.text)+len(l) < maxRecord {
		d.record.add(l)
	} else {
		d.flush()
		d.record.begin(l)
	}
}

// aside handles a line that does not belong to the log.
func (d *deduping) aside(l []byte) {
	d.again = text.IsPatternCount(l)
	switch {
	case d.lines == 0:
		d.out.Write(l)
	case len(l) == 0:
	case len(d.entries) < d.max && d.held < maxHeld:
		d.held += len(l) + 200
		d.entries = append(d.entries, &logEntry{text: bytes.Clone(l), key: "\n", n: 1, lines: 1, important: true})
		d.asides++
	default:
		d.tooMany(l)
	}
}

// tooMany handles a text after the limit of different records.
func (d *deduping) tooMany(body []byte) {
	if d.cut == nil {
		d.beyond = text.NewLines()
		d.cut = text.Excerpt{Head: 100, Tail: 100, Context: 2}.Cut(d.beyond)
	}
	for line := range bytes.SplitSeq(body, []byte{'\n'}) {
		d.cut.Line(line)
	}
}

// flush counts the current record.
func (d *deduping) flush() {
	r := &d.record
	if len(r.text) == 0 {
		return
	}
	exact := d.exact > 0 && !r.stamped && !r.dump
	if r.stamped {
		d.exact = 0
	} else if exact {
		d.exact--
	}
	e := d.find(r, exact)
	if e == nil {
		d.tooMany(r.text)
		r.text = r.text[:0]
		return
	}
	e.lines += r.lines
	e.at = d.lines
	e.latest = append(e.latest[:0], r.text[:min(len(r.text), maxRoutine)]...)
	r.text = r.text[:0]
}

// find returns the entry of a record, which may be new. It returns nil if there
// is no room for it.
func (d *deduping) find(r *logRecord, exact bool) *logEntry {
	if exact {
		d.key = append(append(d.key[:0], 0), r.text...)
	} else {
		d.normal(r.text, false)
	}
	e := d.seen[d.hash()]
	if e == nil {
		if e = d.add(r, exact); e != nil && e.varies {
			e.variants, e.variant = 1, e
			d.normal(r.text, true)
			d.seen[d.hash()] = e
			if e.important && !r.stamped && !exact {
				d.exact = nearError
			}
		}
		return e
	}
	if !e.varies || exact {
		e.n++
		return e
	}
	d.normal(r.text, true)
	v := d.seen[d.hash()]
	switch {
	case v != nil:
		v.n++
		return v
	case e.variants < maxVariants:
		if v = d.add(r, true); v != nil {
			v.important, v.varies = e.important, true
			e.variants++
			e.variant = v
		}
		return v
	}
	e.variant.more++
	return e.variant
}

// normal returns the normalised text of a record, in d.key.
func (d *deduping) normal(body []byte, strict bool) []byte {
	for _, r := range d.replace {
		if r.pattern.Match(body) {
			body = r.pattern.Regexp.ReplaceAllLiteral(body, r.by)
		}
	}
	d.key = d.key[:0]
	if strict {
		d.key = append(d.key, 0) // occurs in no line
	}
	d.key = text.Normalize(d.key, body, strict)
	return d.key
}

// hash returns the hash of d.key.
func (d *deduping) hash() uint64 { return maphash.Bytes(d.seed, d.key) }

// add makes an entry for a new record with the key in d.key.
func (d *deduping) add(r *logRecord, exact bool) *logEntry {
	if len(d.entries) >= d.max || d.held > maxHeld {
		return nil
	}
	e := &logEntry{text: bytes.Clone(r.text), key: string(d.key), n: 1, important: exact || r.reportsProblem()}
	e.varies = e.important || text.FailedRequest(e.text)
	d.held += len(e.text) + len(e.key) + 200
	d.seen[d.hash()] = e
	d.entries = append(d.entries, e)
	return e
}

func (d *deduping) End() strategy.Confidence {
	d.again = d.again || text.IsPatternCount(d.record.text[bytes.LastIndexByte(d.record.text, '\n')+1:])
	d.flush()
	if d.cut != nil {
		defer d.beyond.Close()
	}
	switch {
	case d.only != nil && d.lines == 0: // another rule filters all of it
		return strategy.Full
	case d.lines < 3 || d.again:
		return strategy.Fallback
	}
	unique := len(d.entries) - d.asides
	d.follow()
	f := logFold{entries: d.entries}
	f.fold()
	if d.cut == nil && unique == d.lines && !f.lossy {
		return strategy.Fallback
	}
	f.write(d.out)
	if d.cut != nil {
		d.cut.End()
		if d.beyond.Each(d.out.Write) != nil {
			return strategy.Fallback
		}
	}
	d.out.Write(d.patternCount(unique))
	if f.lossy || d.cut != nil {
		return strategy.Partial
	}
	return strategy.Full
}

// patternCount returns the last line of a folded log.
func (d *deduping) patternCount(unique int) []byte {
	l := fmt.Appendf(nil, "%d unique patterns (%d%s", unique, d.lines, text.PatternsTail)
	if d.cut != nil {
		l = fmt.Appendf(l, " (capped at %d)", d.max)
	}
	return l
}

// suffix returns how often an entry occurred, and its last time.
func (e *logEntry) suffix() []byte {
	if e.n == 1 {
		return nil
	}
	s := strconv.AppendInt([]byte(" (x"), int64(e.n), 10)
	if e.similar {
		s = append(s, " similar"...)
	}
	s = append(s, ')')
	if until := lastTime(e.text, e.latest); until != nil && e.more == 0 && !e.moved {
		s = append(append(s, " … "...), until...)
	}
	return s
}

// follow marks entries whose last record adds something beyond a later time,
// such as how far something came.
func (d *deduping) follow() {
	var first []byte
	for _, e := range d.entries {
		if e.n < 3 || len(e.latest) == maxRoutine || bytes.Count(e.text, []byte{'\n'}) > 3 {
			continue
		}
		if bytes.Equal(e.text, e.latest) {
			continue
		}
		first = append(first[:0], d.normal(e.text, true)...)
		e.moved = !bytes.Equal(first, d.normal(e.latest, true))
	}
}
