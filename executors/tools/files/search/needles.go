package search

import (
	"bytes"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// needles are literal texts: every match of a regex contains at least one of them.
// They are found many times faster than the regex.
type needles []needle

// needle is one text, looked for by its rarest byte.
type needle struct {
	text []byte // in lower case if fold is set
	fold bool   // ASCII letters match in both cases
	rare int    // index of the rarest byte
}

// maxNeedles bounds how often a file is scanned.
const maxNeedles = 8

// needlesOf returns the best needles of a regex; nil means that it has none.
func needlesOf(pattern string) needles {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	return requiredNeedles(re)
}

// requiredNeedles returns a list of texts. Each match of re contains at least one of them.
// The list is nil if no such texts are known.
func requiredNeedles(re *syntax.Regexp) needles {
	switch re.Op {
	case syntax.OpLiteral:
		return literalNeedles(re)
	case syntax.OpCapture, syntax.OpPlus:
		return requiredNeedles(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return requiredNeedles(re.Sub[0])
		}
	case syntax.OpConcat:
		var best needles
		for _, sub := range re.Sub {
			if n := requiredNeedles(sub); n.weight() > best.weight() {
				best = n
			}
		}
		return best
	case syntax.OpAlternate:
		var all needles
		for _, sub := range re.Sub {
			n := requiredNeedles(sub)
			if n == nil || len(all)+len(n) > maxNeedles {
				return nil
			}
			all = append(all, n...)
		}
		return all
	}
	return nil
}

// literalNeedles returns the best part of a literal whose runes match only their
// own bytes: U+FFFD also matches invalid UTF-8, and a folded k the Kelvin sign.
func literalNeedles(re *syntax.Regexp) needles {
	fold := re.Flags&syntax.FoldCase != 0
	var best needles
	parts := strings.FieldsFunc(string(re.Rune), func(r rune) bool {
		return r == utf8.RuneError || fold && !foldsInASCII(r)
	})
	for _, part := range parts {
		if fold {
			part = strings.ToLower(part)
		}
		n := needle{text: []byte(part), fold: fold}
		n.rare = n.rarest()
		if one := (needles{n}); one.weight() > best.weight() {
			best = one
		}
	}
	return best
}

func foldsInASCII(r rune) bool {
	for f := unicode.SimpleFold(r); ; f = unicode.SimpleFold(f) {
		if f >= utf8.RuneSelf {
			return false
		}
		if f == r {
			return true
		}
	}
}

// byFrequency lists the bytes of source text, the most frequent first.
const byFrequency = " etnrsiaolcdupmfhgb_.,\n\t()-\"0y;v=1x:/w2{}'k*[]>345678j9S<TEACqzIRPNDMLOFB#BU&GH$V!@|+WXKYQZJ"

// cost is roughly how many bits of information the byte at i has.
func (n needle) cost(i int) int {
	c := n.text[i]
	at := strings.IndexByte(byFrequency, c)
	if at < 0 {
		at = len(byFrequency)
	}
	bits := 3 + at/8
	if n.fold && 'a' <= c && c <= 'z' {
		bits--
	}
	return bits
}

// rarest returns the index of the byte with the most information.
func (n needle) rarest() int {
	rare := 0
	for i := range n.text {
		if n.cost(i) > n.cost(rare) {
			rare = i
		}
	}
	return rare
}

// weight is roughly how many bits of information the weakest needle has, minus
// a cost for each further needle.
func (ns needles) weight() int {
	least := 0
	for k, n := range ns {
		sum := 0
		for i := range n.text {
			sum += n.cost(i)
		}
		if k == 0 || sum < least {
			least = sum
		}
	}
	return least - 4*max(0, len(ns)-1)
}

// finder looks for needles in one text.
type finder struct {
	needles needles
	next    [maxNeedles]int    // the next offset of each needle; -1 means no more, -2 not looked for yet
	cases   [maxNeedles][2]int // the same for the two cases of its rarest byte
}

func (f *finder) start(ns needles) {
	f.needles = ns
	f.next = [maxNeedles]int{}
	for i := range ns {
		f.next[i], f.cases[i] = -2, unknownCases
	}
}

// find returns the first offset of a needle at or after from, -1 if there is none.
// from must not decrease between calls.
func (f *finder) find(data []byte, from int) int {
	first := -1
	for i := range f.needles {
		f.advance(data, i, from)
		if at := f.next[i]; at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	return first
}

// advance finds the next offset of the needle number i at or after from.
func (f *finder) advance(data []byte, i, from int) {
	if at := f.next[i]; at == -2 || at >= 0 && at < from {
		f.next[i] = f.needles[i].indexFrom(data, from, &f.cases[i])
	}
}

// foundIn reports whether a needle is in data.
func (ns needles) foundIn(data []byte) bool {
	return slices.ContainsFunc(ns, func(n needle) bool { return n.index(data, 0) >= 0 })
}

// index returns the first offset of the needle at or after from, else -1.
func (n *needle) index(data []byte, from int) int {
	cases := unknownCases
	return n.indexFrom(data, from, &cases)
}

// indexFrom is index for several calls with the same data, in which from does not
// decrease. The first call has unknownCases.
func (n *needle) indexFrom(data []byte, from int, cases *[2]int) int {
	c := n.text[n.rare]
	if n.fold && 'a' <= c && c <= 'z' {
		return n.indexFold(data, from, cases)
	}
	misses := 0
	for i := from + n.rare; i < len(data); i++ {
		at := bytes.IndexByte(data[i:], c)
		if at < 0 {
			return -1
		}
		i += at
		if start := i - n.rare; n.matchesAt(data, start) {
			return start
		}
		// Where the byte is not rare, a search for the whole text is faster.
		if misses++; !n.fold && misses > 8+(i-from)/32 {
			start := i - n.rare + 1
			at := bytes.Index(data[start:], n.text)
			if at < 0 {
				return -1
			}
			return start + at
		}
	}
	return -1
}

// unknownCases are the offsets of both cases of a byte before it is looked for.
var unknownCases = [2]int{-2, -2}

// indexFold is indexFrom for a needle whose rarest byte is a letter in either case. next
// is the next offset of each case: one of them may be rare, and must not be looked for
// again after each match.
func (n *needle) indexFold(data []byte, from int, next *[2]int) int {
	cases := [2]byte{n.text[n.rare], n.text[n.rare] - 'a' + 'A'}
	for i := from + n.rare; i < len(data); i++ {
		for k, c := range cases {
			if next[k] == -1 || next[k] >= i {
				continue
			}
			if next[k] = bytes.IndexByte(data[i:], c); next[k] >= 0 {
				next[k] += i
			}
		}
		switch {
		case next[0] < 0 && next[1] < 0:
			return -1
		case next[0] < 0 || next[1] >= 0 && next[1] < next[0]:
			i = next[1]
		default:
			i = next[0]
		}
		if start := i - n.rare; n.matchesAt(data, start) {
			return start
		}
	}
	return -1
}

// matchesAt reports whether the needle is at start.
func (n *needle) matchesAt(data []byte, start int) bool {
	if start+len(n.text) > len(data) {
		return false
	}
	part := data[start : start+len(n.text)]
	if !n.fold {
		return bytes.Equal(part, n.text)
	}
	for i, c := range part {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != n.text[i] {
			return false
		}
	}
	return true
}
