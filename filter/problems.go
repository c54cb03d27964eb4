package filter

import (
	"bytes"
	"hash/maphash"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// Eighths of the limit that the parts of a cut text may fill.
const (
	endEighths     = 3 // the head, and the tail
	problemEighths = 2 // the lines between them that report problems
)

// Lines around one that reports a problem, which also stay.
const (
	linesBefore = 2
	linesAfter  = 3
)

// minCutLimit is the least limit that has room for more than head and tail.
const minCutLimit = 2000

// maxProblemLine is the longest line between head and tail that stays, in runes.
const maxProblemLine = 1000

// keepProblems returns at most limit runes of a text that is longer: its head and
// tail, and between them the lines that report problems. It reports false if there
// are no such lines, or if long lines leave less than half of the head or tail.
func keepProblems(body *io.SectionReader, limit int) (shown string, ok bool) {
	if limit < minCutLimit {
		return "", false
	}
	total := 0
	if text.EachIn(body, func(l []byte) { total += runesOf(l) }) != nil {
		return "", false
	}
	c := problemCut{
		end: limit / 8 * endEighths, room: limit/8*problemEighths - markRunes,
		seen: map[uint64]struct{}{}, seed: maphash.MakeSeed(),
	}
	at, head, tail := 0, 0, 0
	err := text.EachIn(body, func(l []byte) {
		n := runesOf(l)
		switch {
		case at+n <= c.end:
			head += n
			c.write(l)
		case at >= total-c.end:
			tail += n
			c.mark()
			c.write(l)
		default:
			c.middle(l, n)
		}
		at += n
	})
	return c.out.String(), err == nil && c.found && head >= c.end/2 && tail >= c.end/2
}

// runesOf returns the number of runes of a line and its line feed.
func runesOf(l []byte) int { return utf8.RuneCount(l) + 1 }

// problemCut is a text without most of its middle.
type problemCut struct {
	end    int // runes of the head, and of the tail, that may stay
	room   int // runes of the middle that may still stay
	out    strings.Builder
	before [][]byte // the last lines that were left out
	after  int      // lines that stay after a problem
	cut    int      // lines left out since the last one that stays
	found  bool
	seen   map[uint64]struct{} // problems, without their numbers
	seed   maphash.Seed
}

// middle handles a line between head and tail, which has n runes.
func (c *problemCut) middle(l []byte, n int) {
	switch {
	case c.room > markRunes && n <= maxProblemLine && text.Important(l) && c.isNew(l):
		cost := n + markRunes
		for _, b := range c.before {
			cost += runesOf(b)
		}
		if cost > c.room {
			break
		}
		c.room -= cost
		c.cut -= len(c.before)
		c.mark()
		for _, b := range c.before {
			c.write(b)
		}
		c.before = c.before[:0]
		c.write(l)
		c.found, c.after = true, linesAfter
		return
	case c.after > 0 && n <= c.room && n <= maxProblemLine:
		c.room -= n
		c.after--
		c.write(l)
		return
	}
	c.after = 0
	c.cut++
	switch {
	case n > maxProblemLine:
		c.before = c.before[:0]
	case len(c.before) < linesBefore:
		c.before = append(c.before, bytes.Clone(l))
	default:
		first := c.before[0]
		copy(c.before, c.before[1:])
		c.before[linesBefore-1] = append(first[:0], l...)
	}
}

// isNew reports whether no problem before differs only in its numbers.
func (c *problemCut) isNew(l []byte) bool {
	var h maphash.Hash
	h.SetSeed(c.seed)
	for _, b := range l {
		if b < '0' || b > '9' {
			_ = h.WriteByte(b)
		}
	}
	_, seen := c.seen[h.Sum64()]
	c.seen[h.Sum64()] = struct{}{}
	return !seen
}

func (c *problemCut) write(l []byte) {
	c.out.Write(l)
	c.out.WriteByte('\n')
}

// markRunes is the room for a mark.
const markRunes = 40

// mark writes how many lines are left out here.
func (c *problemCut) mark() {
	if c.cut > 0 {
		c.out.WriteString("[… " + quantity.CountGrouped(c.cut, "line") + " cut …]\n")
		c.cut = 0
	}
}
