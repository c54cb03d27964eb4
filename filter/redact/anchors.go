package redact

import (
	"bytes"
	"slices"
	"sync"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// anchor is a fixed text in a value, mostly at its beginning. It is found by one of
// its bytes that is rare in most texts.
type anchor struct {
	text      []byte
	rareIndex int // index of that byte, at least 1, since the byte before it is compared first
	kind      credKind

	// valueEnd returns the end of the value whose text begins at from and ends at
	// body. It returns 0 if there is no value.
	valueEnd func(l []byte, from, body int) (end int)

	// find, if not nil, adds values elsewhere in the line to the hits of m. The text
	// begins at from and ends at body.
	find func(m *Stream, l []byte, from, body int)
}

// anchors are the bytes at which the scan of a line stops: bytes with a syntactic
// meaning, and rare bytes of known texts after the byte that precedes them there. So a
// frequent letter costs little.
type anchors struct {
	stops  [256][4]uint64    // by the byte before: the set of bytes at which the scan stops
	texts  [256]*[256]uint16 // by the rare byte of texts and the byte before it: the index of the texts in lists, or 0
	lists  [][]anchor
	dotted *rule // the rule whose keyword is a dot before another one
}

// meaningSet are the bytes at which the scan always stops, because of their syntactic meaning.
var meaningSet = text.SetOf("=:<(wW\\%.-")

// rareBytes are bytes that texts are found by, the best first. Other bytes are found by how rarely
// they follow the byte before them in words.
const rareBytes = "_-.=:<~$QZJXKYVWGHUBFSMPDERNLCTOIA"

// rarestByte returns the index of the byte that a text is found by.
func rarestByte(literal []byte) (at int) {
	at = 1
	best := 1 << 10
	for i := 1; i < min(len(literal), 64); i++ {
		b, before := literal[i], literal[i-1]
		if b == '-' && (i < 2 || before == '-' || before == ' ') { // scanDash skips it, or it is frequent
			continue
		}
		rank := bytes.IndexByte([]byte(rareBytes), b)
		switch {
		case rank < 0 && signs[b] == startSign: // a blank or another byte without a rank
			rank = 1 << 9
		case rank < 0:
			rank = 1<<8 - letterCost(signs[before], signs[b])
			if signs[before] == startSign { // the costs count no blanks
				rank += 1 << 6
			}
		}
		if rank < best {
			at, best = i, rank
		}
	}
	return at
}

// add adds a text of at least two bytes. What it changes is copied first, since clones share it.
func (s *anchors) add(p anchor) {
	if b := p.text[rarestByte(p.text)]; s.texts[b] != nil {
		table := *s.texts[b]
		s.texts[b] = &table
	}
	s.lists = slices.Clone(s.lists)
	s.insert(p)
}

// insert is add for anchors without clones.
func (s *anchors) insert(p anchor) {
	p.rareIndex = rarestByte(p.text)
	b := p.text[p.rareIndex]
	if s.texts[b] == nil {
		s.texts[b] = &[256]uint16{}
	}
	before := p.text[p.rareIndex-1]
	s.stop(before, b)
	at := &s.texts[b][before]
	if *at == 0 {
		if s.lists == nil {
			s.lists = make([][]anchor, 1, 256)
		}
		*at = uint16(len(s.lists))
		s.lists = append(s.lists, nil)
	}
	s.lists[*at] = append(slices.Clip(s.lists[*at]), p)
}

// at returns the texts with a rare byte and the byte before it.
func (s *anchors) at(before, rare byte) []anchor {
	table := s.texts[rare]
	if table == nil || table[before] == 0 {
		return nil
	}
	return s.lists[table[before]]
}

// stop makes the scan stop at b after before.
func (s *anchors) stop(before, b byte) { s.stops[before][b>>6] |= 1 << (b & 63) }

// contains reports whether a known value was added.
func (s *anchors) contains(value []byte) bool {
	l := anchorText(value)
	at := rarestByte(l)
	return slices.ContainsFunc(s.at(l[at-1], l[at]), func(p anchor) bool { return bytes.Equal(p.text, l) })
}

// clone returns a copy that can be extended.
func (s *anchors) clone() *anchors {
	if s == nil {
		s = commonAnchors()
	}
	c := *s
	return &c
}

// commonAnchors are the anchors of every scan. The first scan makes them, so that a
// start without a scan does not pay for them.
var commonAnchors = sync.OnceValue(func() *anchors {
	s := &anchors{}
	for before := range 256 {
		for b, means := range meaningSet {
			if means {
				s.stop(byte(before), byte(b))
			}
		}
	}
	for _, r := range rules().Rules {
		for _, keyword := range r.Keywords {
			if keyword == "." { // frequent; see scanPlain
				s.dotted = r
				continue
			}
			find := mechanisms[r.Find]
			if find == nil {
				find = func(m *Stream, l []byte, from, body int) { r.find(m, l, from, body) }
			}
			s.insert(anchor{text: []byte(keyword), find: find})
		}
	}
	return s
})

// wholeAnchor returns the anchor of a known value.
//
// A long value is also found if its end was cut off.
func wholeAnchor(value []byte, k credKind) anchor {
	text := anchorText(value)
	return anchor{text: text, kind: k, valueEnd: func(l []byte, _, body int) int {
		rest := value[len(text):]
		for len(rest) > 0 && body < len(l) && l[body] == rest[0] {
			rest = rest[1:]
			body++
		}
		return body
	}}
}

// anchorText returns the part of a known value by which it is found.
func anchorText(value []byte) []byte {
	const enough = 16
	if len(value) < enough+minLearned {
		return value
	}
	return value[:enough]
}

// OnPanic, if not nil, is called with the value of a panic of a scan. Tests set it, so that
// they fail.
var OnPanic func(value any)

// scan finds the hits in a line. If a scan panics, the whole line is a hit: the text
// comes from other programs. It must not end this process, and must not be shown without
// a scan.
func (m *Stream) scan(l []byte) {
	defer func() {
		r := recover()
		if r == nil {
			return
		}
		if OnPanic != nil {
			OnPanic(r)
		}
		m.hits = append(m.hits[:0], hit{0, len(l), namedSecret})
	}()
	m.mayHaveEscapes = false
	m.scanPlain(l)
	if m.mayHaveEscapes {
		m.scanEscaped(l)
	}
}

// scanPlain finds the hits in a line, without undoing escapes.
func (m *Stream) scanPlain(l []byte) {
	m.passedTo, m.decodedTo, m.keyBegins, m.cookieState = 0, 0, 0, 0
	anchors, before := m.anchors, byte('\n')
	for i := 0; i < len(l); i++ {
		b := l[i]
		if anchors.stops[before][b>>6]>>(b&63)&1 == 0 {
			before = b
			continue
		}
		if table := anchors.texts[b]; table != nil && table[before] > 0 {
			m.scanAnchors(l, i)
		}
		before = b
		switch {
		case b == '.': // frequent, so without a call
			if i+7 < len(l) && l[i+7] == '.' {
				anchors.dotted.find(m, l, i, i+1)
			}
		case meaningSet[b]:
			i = m.scanStop(l, i)
			before = l[i]
		}
	}
	if m.awsUntil >= m.lineNumber {
		m.scanAWSSecrets(l)
	}
	for _, p := range m.userPatterns {
		m.scanUserPattern(l, p)
	}
}

// scanAnchors looks for the texts found by the byte at i and the one before it.
func (m *Stream) scanAnchors(l []byte, i int) {
	for _, s := range m.anchors.at(l[i-1], l[i]) {
		m.scanAnchor(l, i-s.rareIndex, s)
	}
}

// scanStop examines the text around a byte with a syntactic meaning. It returns the index
// of the last byte that needs no further scan.
func (m *Stream) scanStop(l []byte, i int) int {
	switch b := l[i]; b {
	case '-':
		return m.scanDash(l, i)
	case '=', ':':
		if i+1 < len(l) && l[i+1] == b { // a rule, a comparison, a qualified name
			start := i
			for i+1 < len(l) && l[i+1] == b {
				i++
			}
			if from, to := nameBefore(l, start); from == 0 && to >= 3 && i == start+1 && b == ':' && i+1 < len(l) && l[i+1] == ' ' {
				m.scanPair(l, from, to, i+1, ':') // Base64 in LDIF
			}
			return i
		}
		if b == ':' {
			m.scanColon(l, i)
		} else {
			m.scanEquals(l, i)
		}
	case '<':
		m.scanElement(l, i)
	case '(':
		m.scanArgument(l, i)
	case 'w', 'W':
		m.scanPasswordWord(l, i)
	case '\\', '%':
		m.mayHaveEscapes = true
	}
	return i
}

// scanAnchor adds the value with an anchor at from to the hits, if there is one.
func (m *Stream) scanAnchor(l []byte, from int, s anchor) {
	if from < 0 || !bytes.HasPrefix(l[from:], s.text) {
		return
	}
	if s.find != nil {
		s.find(m, l, from, from+len(s.text))
		return
	}
	if end := s.valueEnd(l, from, from+len(s.text)); end > 0 {
		m.addHit(from, end, s.kind)
	}
}

// scanUserPattern looks for a pattern of the user.
func (m *Stream) scanUserPattern(l []byte, p *text.Pattern) {
	if !p.Match(l) {
		return
	}
	for _, at := range p.Regexp.FindAllSubmatchIndex(l, -1) {
		from, to := at[0], at[1]
		if len(at) > 3 && at[2] >= 0 {
			from, to = at[2], at[3]
		}
		if to > from && !touchesMask(l, from, to) {
			m.addHit(from, to, userPattern)
		}
	}
}

// touchesMask reports whether a part of a line overlaps a mask.
func touchesMask(l []byte, from, to int) bool {
	if isMask(l[from:to]) {
		return true
	}
	for at := 0; ; {
		i := bytes.Index(l[at:], []byte(maskBegin))
		if i < 0 || at+i >= to {
			return false
		}
		at += i
		end := bytes.IndexByte(l[at:], ']')
		if end < 0 {
			return to > at
		}
		if at+end+1 > from {
			return true
		}
		at += end
	}
}
