package filter

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// excerpt is the begin and the end of a text, and of what lies between the lines
// that tell what went wrong.
type excerpt struct {
	head, tail int
	keep       *patterns // lines that stay, besides the important ones
	context    int       // lines that stay behind such a line
}

// maxKept bounds the lines that stay of the middle of a text; what is more is
// counted.
const maxKept = 400

// truncate cuts long outputs.
type truncate struct {
	excerpt
	max int
}

// newTruncate makes the strategy "truncate": of an output with more than
// max_lines, the first head and the last tail lines stay, and between them those
// that tell of errors or match one of keep, with the context lines behind each.
func newTruncate(p params) (Strategy, error) {
	c := struct {
		MaxLines int      `toml:"max_lines"`
		Head     *int     `toml:"head"`
		Tail     *int     `toml:"tail"`
		Keep     []string `toml:"keep"`
		Context  int      `toml:"context"`
	}{Context: 2}
	if err := p(&c); err != nil {
		return nil, err
	}
	if c.MaxLines <= 0 {
		return nil, errors.New("max_lines must be a number of lines")
	}
	if c.Context < 0 {
		return nil, errors.New("context must not be negative")
	}
	head, tail, err := bounds{c.MaxLines, c.Head, c.Tail}.fit(20, 20)
	if err != nil {
		return nil, fmt.Errorf("head and tail %w (max_lines)", err)
	}
	keep, err := compileAll(c.Keep)
	if err != nil {
		return nil, fmt.Errorf("keep: %w", err)
	}
	return truncate{excerpt{head, tail, keep, c.Context}, c.MaxLines}, nil
}

// bounds are the lines to keep at both ends of a text of more than max lines.
// An end that is not set is the usual one, or shorter where max has no room for it.
type bounds struct {
	max        int
	head, tail *int // nil is not set
}

// fit returns the lines to keep, given the usual ones.
func (b bounds) fit(head, tail int) (int, int, error) {
	switch room := b.max - head - tail; {
	case b.head != nil && b.tail != nil:
		head, tail = *b.head, *b.tail
	case b.head != nil:
		head = *b.head
		tail = min(tail, max(b.max-head, 0))
	case b.tail != nil:
		tail = *b.tail
		head = min(head, max(b.max-tail, 0))
	case room < 0:
		head = b.max * head / (head + tail)
		tail = b.max - head
	}
	switch {
	case head < 0 || tail < 0:
		return 0, 0, errors.New("must not be negative")
	case head+tail > b.max:
		return 0, 0, fmt.Errorf("are %d lines, more than %d", head+tail, b.max)
	}
	return head, tail, nil
}

func (t truncate) Begin(_ Run, out *Lines) Pass {
	return &truncating{max: t.max, cut: t.begin(out)}
}

type truncating struct {
	max int
	n   int
	cut *cutter
}

func (t *truncating) Line(l []byte) {
	t.n++
	t.cut.line(l)
}

func (t *truncating) End() Confidence {
	if t.n <= t.max || !t.cut.end() {
		return Fallback
	}
	return Partial
}

// cutter takes the lines of one text for an excerpt.
type cutter struct {
	excerpt
	out     *Lines
	n       int
	ring    [][]byte // the last lines, which may be the tail
	first   int      // of ring
	behind  int      // lines that still stay, as context
	kept    int
	omitted int  // lines since the last that stayed
	cut     bool // any line was left out
}

func (e excerpt) begin(out *Lines) *cutter { return &cutter{excerpt: e, out: out} }

func (c *cutter) line(l []byte) {
	c.n++
	switch {
	case c.n <= c.head:
		c.out.Write(l)
	case c.tail == 0:
		c.middle(l)
	case len(c.ring) < c.tail:
		c.ring = append(c.ring, bytes.Clone(l))
	default:
		oldest := c.ring[c.first]
		c.middle(oldest)
		c.ring[c.first] = append(oldest[:0], l...)
		c.first = (c.first + 1) % c.tail
	}
}

// middle judges a line that is neither of the head nor of the tail. What an
// earlier cut says of itself stays as it is.
func (c *cutter) middle(l []byte) {
	switch {
	case isOmission(l):
		c.behind = 0
	case c.kept == maxKept:
		c.omit()
		return
	case important(l), c.keep.match(l):
		c.kept++
		c.behind = c.context
	case c.behind > 0 && len(l) > 0:
		c.behind--
	default:
		c.behind = 0
		c.omit()
		return
	}
	c.mark()
	c.out.Write(l)
}

func (c *cutter) omit() { c.omitted, c.cut = c.omitted+1, true }

// mark says how many lines are left out here.
func (c *cutter) mark() {
	if c.omitted > 0 {
		c.out.Write(omission(c.omitted))
		c.omitted = 0
	}
}

// end writes the tail, and tells whether anything was left out.
func (c *cutter) end() bool {
	c.mark()
	for i := range c.ring {
		c.out.Write(c.ring[(c.first+i)%len(c.ring)])
	}
	return c.cut
}

// omission is the line that stands for n lines.
func omission(n int) []byte {
	what := " lines"
	if n == 1 {
		what = " line"
	}
	return append(strconv.AppendInt([]byte("... ("), int64(n), 10), what+" omitted) ..."...)
}

// isOmission reports whether a line is one that omission made.
func isOmission(l []byte) bool {
	return bytes.HasPrefix(l, []byte("... (")) && bytes.HasSuffix(l, []byte(" omitted) ..."))
}
