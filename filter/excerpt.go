package filter

import (
	"bytes"
	"errors"
	"fmt"
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
