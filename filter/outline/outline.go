// Package outline shortens long output of commands by worth. It divides an output into blocks, such as
// failures, hunks and commits. The head of each block stays: the name and place of a failure, the header
// of a hunk, the subject of a commit. Bodies stay while they fit into a budget, and a mark says what is
// left out. Lines outside of blocks stay.
//
// Start with [Shorten]. It never writes a line that the output does not have, apart from its marks.
package outline

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

const (
	// minCut is the size of a body that always stays, since a mark would be as long, in characters.
	minCut = 60
	// minPart is the least room for the beginning of a body that does not fit, in characters.
	minPart = 800
	// leastRoom is the part of the budget that bodies get even if heads fill it: one in so many characters.
	leastRoom = 4
	// The length of a line in the head of a block without its body, in bytes. The more heads, the shorter.
	maxHeadLine = 240
	minHeadLine = 110
	// lastLines is the number of lines at the end that stay in a block without a pattern of its body:
	// they may be a total of unknown form.
	lastLines = 8
	// leastSaved is the part of an output that must be left out at least: one in so many characters.
	leastSaved = 8
)

// block is a part of an output with a head that always stays.
type block struct {
	*kind
	first int   // index of the first line
	body  []int // indexes of lines
	size  int   // of body, in characters
	again bool  // an earlier body is the same, apart from its numbers
	keep  int   // the number of lines of body that stay
	// firstSeen reports that the block has the first line of its kind.
	firstSeen bool
}

// outline is an output in blocks.
type outline struct {
	lines  [][]byte
	owner  []*block // of each line; nil outside of blocks
	inBody []bool   // by line
	blocks []*block
	// headLine is the length of a line in a head without a body, in bytes.
	headLine int
	reason   string // after the place in the head that was written last
}

// Shorten returns the output in about budget characters, but with all heads. It reports false
// if the output has no blocks, or if too little could be left out.
func Shorten(output []byte, budget int) (short string, ok bool) {
	o := parse(output)
	total, bodies := utf8.RuneCount(output), 0
	for _, b := range o.blocks {
		bodies += b.size
	}
	if total <= budget || bodies == 0 {
		return "", false
	}
	o.headLine = min(max(budget/2/len(o.blocks), minHeadLine), maxHeadLine)
	kept := o.spend(max(budget-(total-bodies), budget/leastRoom))
	if (bodies-kept)*leastSaved < total {
		return "", false
	}
	return o.write(), true
}

// parse divides an output into blocks.
func parse(output []byte) *outline {
	o := &outline{lines: bytes.Split(bytes.TrimSuffix(output, []byte("\n")), []byte("\n"))}
	o.owner, o.inBody = make([]*block, len(o.lines)), make([]bool, len(o.lines))
	var open *block
	for i, l := range o.lines {
		if open != nil && open.closesWith(o.lines[open.first], l) {
			open.body = slices.Insert(open.body, 0, open.first)
			o.owner[i], open = open, nil
			continue
		}
		if k := beginning(l); k != nil {
			open = &block{kind: k, first: i}
			o.blocks = append(o.blocks, open)
			o.owner[i] = open
			continue
		}
		if open != nil && open.isAfter(l) {
			open = nil
		}
		if open == nil {
			continue
		}
		o.owner[i] = open
		if !open.firstSeen && matches(open.kind.first, l) {
			open.firstSeen = true
			continue
		}
		last := open.kind.body == nil && i >= len(o.lines)-lastLines
		if !last && !matches(open.head, l) && !o.isSubject(i, open) {
			open.body = append(open.body, i)
		}
	}
	seen := map[uint64]bool{}
	seed := maphash.MakeSeed()
	for _, b := range o.blocks {
		b.finish(o, seen, seed)
	}
	return o
}

// beginning returns the kind of block that begins with a line, or nil.
func beginning(l []byte) *kind {
	for i := range kinds {
		if kinds[i].begins().Match(l) {
			return &kinds[i]
		}
	}
	return nil
}

func matches(set func() *text.Patterns, l []byte) bool { return set != nil && set().Match(l) }

// isAfter reports whether a line does not belong to the block that is open before it.
func (b *block) isAfter(l []byte) bool {
	return matches(b.ends, l) || b.kind.body != nil && !matches(b.kind.body, l) && !matches(b.head, l)
}

// closesWith reports whether a line ends a block and names it again.
func (b *block) closesWith(first, l []byte) bool {
	if !matches(b.closes, l) || matches(b.closes, first) {
		return false
	}
	name := bytes.Fields(first)
	return slices.ContainsFunc(bytes.Fields(l), func(word []byte) bool {
		return bytes.Equal(bytes.TrimSuffix(word, []byte(",")), name[len(name)-1])
	})
}

// isSubject reports whether a line is the subject in git's own form of a commit: the first line of its
// message.
func (o *outline) isSubject(i int, b *block) bool {
	return b.noun == commitNoun && len(b.body) <= 1 && i >= 2 && len(bytes.TrimSpace(o.lines[i])) > 0 &&
		bytes.HasPrefix(o.lines[i], []byte("    ")) && matches(b.head, o.lines[i-2])
}

// finish measures a block whose lines are known.
func (b *block) finish(o *outline, seen map[uint64]bool, seed maphash.Seed) {
	if i := b.placeLine(o); i >= 0 {
		b.body = slices.DeleteFunc(b.body, func(at int) bool { return at == i })
	}
	var sum maphash.Hash
	sum.SetSeed(seed)
	for _, i := range b.body {
		o.inBody[i] = true
		b.size += utf8.RuneCount(o.lines[i]) + 1
		for _, c := range o.lines[i] {
			if c < '0' || c > '9' {
				_ = sum.WriteByte(c)
			}
		}
	}
	b.again = len(b.body) > 0 && seen[sum.Sum64()]
	seen[sum.Sum64()] = true
}

// placeLine returns the index of the line that says where a test failed, or -1.
func (b *block) placeLine(o *outline) int {
	first, last := -1, -1
	for _, i := range b.body {
		l := o.lines[i]
		if !b.place || !places().Match(l) {
			continue
		}
		if text.Important(l) || reasons.Find(l) {
			return i
		}
		if first < 0 {
			first = i
		}
		last = i
	}
	if b.lastPlace {
		return last
	}
	return first
}

// reasons are words of a line that says why a test failed.
var reasons = text.NewWords("expected", "received", "actual", "want", "got ", "got:", "differ", "should")

// spend gives the room to bodies in the order of their worth, and returns how much of it they take.
func (o *outline) spend(room int) (kept int) {
	byWorth := slices.Clone(o.blocks)
	slices.SortStableFunc(byWorth, func(a, b *block) int {
		if c := cmp.Or(compareBool(a.again, b.again), cmp.Compare(rank(a.kind), rank(b.kind))); c != 0 || !a.smallFirst {
			return c
		}
		return cmp.Compare(a.size, b.size)
	})
	left, full := room, false
	for _, b := range byWorth {
		switch {
		case b.size <= minCut || !full && b.size <= left:
			b.keep = len(b.body)
			left -= b.size
		case !full && left >= minPart:
			left -= o.keepPart(b, left)
			full = true
		default:
			full = true
		}
	}
	return room - left
}

// keepPart keeps the first lines of a body that fit into the room, and returns their length.
func (o *outline) keepPart(b *block, room int) (kept int) {
	for b.keep < len(b.body) {
		n := utf8.RuneCount(o.lines[b.body[b.keep]]) + 1
		if kept+n > room {
			break
		}
		kept += n
		b.keep++
	}
	return kept
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func rank(k *kind) int {
	return slices.IndexFunc(kinds, func(other kind) bool { return other.noun == k.noun })
}

// write writes the heads, the bodies that stay, and the marks.
func (o *outline) write() string {
	var out strings.Builder
	var gap omitted
	inBlock := map[*block]int{}
	for i, l := range o.lines {
		b := o.owner[i]
		if b != nil && o.inBody[i] {
			if inBlock[b]++; inBlock[b] > b.keep {
				gap.add(b, l)
				continue
			}
		}
		// the heads of blocks in a row share one mark
		if gap.block != nil && (b == nil || b.kind != gap.block.kind || b != gap.block && b.keep > 0) {
			gap.write(&out)
		}
		if b != nil && b.keep < len(b.body) && !o.inBody[i] {
			l = o.head(b, i, l)
		}
		out.Write(l)
		out.WriteByte('\n')
	}
	gap.write(&out)
	return out.String()
}

// head returns a line of a head whose body does not stay. A place with the same reason as the last
// one stays without the reason.
func (o *outline) head(b *block, i int, l []byte) []byte {
	if b.place && i != b.first {
		place, reason, ok := bytes.Cut(l, []byte(": "))
		if ok && len(reason) > 0 && places().Match(append(place, ':')) {
			if o.reason == string(reason) {
				return append(bytes.Clone(place), sameReason...)
			}
			o.reason = string(reason)
		}
	}
	if len(l) > o.headLine {
		return []byte(line.Truncate(string(l), o.headLine))
	}
	return l
}

// sameReason stands for the reason of a failure that is the last one's.
const sameReason = ": (same)"

// omitted counts what was left out since the last mark.
type omitted struct {
	block                *block // the last one
	blocks, lines, chars int
}

func (g *omitted) add(b *block, l []byte) {
	if g.block != b {
		g.blocks++
	}
	g.block = b
	g.lines++
	g.chars += utf8.RuneCount(l) + 1
}

// write writes the mark, if anything was left out.
func (g *omitted) write(out *strings.Builder) {
	if g.lines > 0 {
		fmt.Fprintf(out, "[… %s, %s of %s cut …]\n", quantity.CountGrouped(g.lines, "line"), quantity.CountGrouped(g.chars, "character"),
			quantity.CountGrouped(g.blocks, g.block.noun))
	}
	*g = omitted{}
}
