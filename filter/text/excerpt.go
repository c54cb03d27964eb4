package text

import (
	"bytes"
	"errors"
	"fmt"
)

// Excerpt keeps the head and the tail of a text, and between them the lines
// that report problems.
type Excerpt struct {
	Head, Tail int
	Keep       *Patterns // further lines to keep
	Context    int       // lines to keep after each such line
}

// MaxKept limits the lines kept between head and tail. Lines beyond it are
// counted as omitted.
const MaxKept = 400

// Ends are the lines to keep at both ends of a text of more than Max lines. An
// unset end has its usual value, or less if Max has no room for it.
type Ends struct {
	Max        int
	Head, Tail *int // nil means not set
}

// Fit returns the lines to keep, given the usual ones.
func (b Ends) Fit(head, tail int) (int, int, error) {
	switch room := b.Max - head - tail; {
	case b.Head != nil && b.Tail != nil:
		head, tail = *b.Head, *b.Tail
	case b.Head != nil:
		head = *b.Head
		tail = min(tail, max(b.Max-head, 0))
	case b.Tail != nil:
		tail = *b.Tail
		head = min(head, max(b.Max-tail, 0))
	case room < 0:
		head = b.Max * head / (head + tail)
		tail = b.Max - head
	}
	switch {
	case head < 0 || tail < 0:
		return 0, 0, errors.New("must not be negative")
	case head+tail > b.Max:
		return 0, 0, fmt.Errorf("are %d lines, more than %d", head+tail, b.Max)
	}
	return head, tail, nil
}

// Cutter makes an excerpt of the lines of one text.
type Cutter struct {
	Excerpt
	out     *Lines
	N       int
	ring    [][]byte // the last lines, which may be the tail
	first   int      // index of the oldest line in ring
	behind  int      // lines still to keep as context
	kept    int
	omitted int  // lines omitted since the last kept one
	cut     bool // whether any line was omitted
}

// Cut starts an excerpt of one text, which goes to out.
func (e Excerpt) Cut(out *Lines) *Cutter { return &Cutter{Excerpt: e, out: out} }

// Line handles the next line. It does not keep it.
func (c *Cutter) Line(l []byte) {
	c.N++
	switch {
	case c.N <= c.Head:
		c.out.Write(l)
	case c.Tail == 0:
		c.middle(l)
	case len(c.ring) < c.Tail:
		c.ring = append(c.ring, bytes.Clone(l))
	default:
		oldest := c.ring[c.first]
		c.middle(oldest)
		c.ring[c.first] = append(oldest[:0], l...)
		c.first = (c.first + 1) % c.Tail
	}
}

// middle decides about a line between head and tail. It keeps the marks of an
// earlier cut.
func (c *Cutter) middle(l []byte) {
	switch {
	case IsOmission(l):
		c.behind = 0
	case c.kept == MaxKept:
		c.omit()
		return
	case Important(l), c.Keep.Match(l):
		c.kept++
		c.behind = c.Context
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

func (c *Cutter) omit() { c.omitted, c.cut = c.omitted+1, true }

// mark writes how many lines were omitted here.
func (c *Cutter) mark() {
	if c.omitted > 0 {
		c.out.Write(Omission(c.omitted))
		c.omitted = 0
	}
}

// End writes the tail. It reports whether any line was omitted.
func (c *Cutter) End() bool {
	c.mark()
	for i := range c.ring {
		c.out.Write(c.ring[(c.first+i)%len(c.ring)])
	}
	return c.cut
}
