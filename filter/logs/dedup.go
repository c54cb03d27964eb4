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

// dedup folds what a log repeats.
type dedup struct {
	replace []substitute
	only    *text.Pattern // of the lines that are of the log; nil if all are
	max     int           // different records that are told apart
}

// substitute is what a user's pattern does to a line before it is compared.
type substitute struct {
	pattern *text.Pattern
	by      []byte
}

// newDedup makes the strategy "dedup": of records that are the same but for
// times, addresses, ids and numbers the first stays, with the number of all and
// the time of the last, or all of the last where its numbers tell more. What tells of errors differs by its numbers too. A record
// is a line with those that belong to it, such as a stack trace. Of many
// different records without an error those alike are folded, and the middle is
// cut.
//
// Each of normalize_patterns is a regular expression, or a table of a pattern and
// its replacement; matches of it do not count in the comparison. Lines that do not
// match only, if it is given, stay as they are.
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
				return r, fmt.Errorf("there is no %q (known: pattern, replacement)", key)
			case !isText:
				return r, fmt.Errorf("%s: want a text", key)
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

// Bounds of what is held of a log.
const (
	maxHeld     = 24 << 20 // bytes of different records
	maxRecord   = 64 << 10 // bytes of one
	maxVariants = 8        // of an error, by their numbers
	nearError   = 5        // lines behind an error without a time that stay
)

type deduping struct {
	dedup
	out     *text.Lines
	lines   int
	record  logRecord // the one under way
	exact   int       // plain lines that are still near a new error
	seed    maphash.Seed
	seen    map[uint64]*logEntry // by the hash of the text that a record is compared by
	entries []*logEntry
	held    int
	asides  int         // of entries
	again   bool        // the last line is the result of an earlier pass
	beyond  *text.Lines // what came when no more could be told apart
	cut     *text.Cutter
	key     []byte
}

// logEntry is one of the different records.
type logEntry struct {
	text      []byte
	key       string
	latest    []byte // the last record like it, cut at maxRoutine
	at        int    // line of the log where that was
	n         int    // records that it stands for
	lines     int    // lines of those
	important bool
	varies    bool // records with other numbers are others
	similar   bool // those differ in words
	moved     bool // the last one is worth to be shown

	variants int       // of an error: how many stand in entries
	variant  *logEntry // the last of them
	more     int       // records behind the last variant
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

// aside takes a line that is not of the log.
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

// tooMany takes a text when no more can be told apart.
func (d *deduping) tooMany(body []byte) {
	if d.cut == nil {
		d.beyond = text.NewLines()
		d.cut = text.Excerpt{Head: 100, Tail: 100, Context: 2}.Cut(d.beyond)
	}
	for line := range bytes.SplitSeq(body, []byte{'\n'}) {
		d.cut.Line(line)
	}
}

// flush counts the record under way.
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

// find gives the entry that a record is of, which may be a new one; nil if there
// is no place for it.
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

// normal gives the text by which a record is compared, in d.key.
func (d *deduping) normal(body []byte, strict bool) []byte {
	for _, r := range d.replace {
		if r.pattern.Match(body) {
			body = r.pattern.Regexp.ReplaceAllLiteral(body, r.by)
		}
	}
	d.key = d.key[:0]
	if strict {
		d.key = append(d.key, 0) // no line has one
	}
	d.key = text.Normalize(d.key, body, strict)
	return d.key
}

// hash is that of d.key.
func (d *deduping) hash() uint64 { return maphash.Bytes(d.seed, d.key) }

// add makes an entry of a record that is new, by the key in d.key.
func (d *deduping) add(r *logRecord, exact bool) *logEntry {
	if len(d.entries) >= d.max || d.held > maxHeld {
		return nil
	}
	e := &logEntry{text: bytes.Clone(r.text), key: string(d.key), n: 1, important: exact || r.tells()}
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
	case d.only != nil && d.lines == 0: // all of it is another rule's
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

// patternCount is the last line of a log that was folded.
func (d *deduping) patternCount(unique int) []byte {
	l := fmt.Appendf(nil, "%d unique patterns (%d%s", unique, d.lines, text.PatternsTail)
	if d.cut != nil {
		l = fmt.Appendf(l, " (capped at %d)", d.max)
	}
	return l
}

// suffix tells how often an entry came, and when the last time was.
func (e *logEntry) suffix() []byte {
	if e.n == 1 {
		return nil
	}
	s := strconv.AppendInt([]byte(" (x"), int64(e.n), 10)
	if e.similar {
		s = append(s, " similar"...)
	}
	s = append(s, ')')
	if until := later(e.text, e.latest); until != nil && e.more == 0 && !e.moved {
		s = append(append(s, " … "...), until...)
	}
	return s
}

// follow notes of each entry whether the numbers in the last of its records tell
// more than that time went on: how far something came, or what it rose to.
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
