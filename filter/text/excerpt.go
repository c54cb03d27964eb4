package text

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
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

// Fit returns the lines to keep at both ends. head and tail are the usual ones.
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
		return 0, 0, fmt.Errorf("are %s, more than %d", quantity.Count(head+tail, "line"), b.Max)
	}
	return head, tail, nil
}

// Cutter makes an excerpt of the lines of one text.
type Cutter struct {
	Excerpt
	Count       int // lines so far
	out         *Lines
	ring        [][]byte // the last lines, which may be the tail
	oldest      int      // index of the oldest line in ring
	contextLeft int      // lines still to keep as context
	keptBetween int      // lines kept between head and tail
	omitted     int      // lines omitted since the last kept one
	omittedAny  bool
}

// Cut starts an excerpt of one text, which goes to out.
func (e Excerpt) Cut(out *Lines) *Cutter { return &Cutter{Excerpt: e, out: out} }

// Line handles the next line. It does not keep it.
func (c *Cutter) Line(l []byte) {
	c.Count++
	switch {
	case c.Count <= c.Head:
		c.out.Write(l)
	case c.Tail == 0:
		c.handleMiddle(l)
	case len(c.ring) < c.Tail:
		c.ring = append(c.ring, bytes.Clone(l))
	default:
		oldest := c.ring[c.oldest]
		c.handleMiddle(oldest)
		c.ring[c.oldest] = append(oldest[:0], l...)
		c.oldest = (c.oldest + 1) % c.Tail
	}
}

// handleMiddle keeps or omits a line between head and tail. It keeps the marks of an
// earlier excerpt.
func (c *Cutter) handleMiddle(l []byte) {
	switch {
	case IsOmission(l):
		c.contextLeft = 0
	case c.keptBetween == MaxKept:
		c.omit()
		return
	case Important(l), c.Keep.Match(l):
		c.keptBetween++
		c.contextLeft = c.Context
	case c.contextLeft > 0 && len(l) > 0:
		c.contextLeft--
	default:
		c.contextLeft = 0
		c.omit()
		return
	}
	c.writeOmission()
	c.out.Write(l)
}

func (c *Cutter) omit() { c.omitted, c.omittedAny = c.omitted+1, true }

// writeOmission writes how many lines were omitted here.
func (c *Cutter) writeOmission() {
	if c.omitted > 0 {
		c.out.Write(Omission(c.omitted))
		c.omitted = 0
	}
}

// End writes the tail. It reports whether any line was omitted.
func (c *Cutter) End() bool {
	c.writeOmission()
	for i := range c.ring {
		c.out.Write(c.ring[(c.oldest+i)%len(c.ring)])
	}
	return c.omittedAny
}
