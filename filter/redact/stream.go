package redact

import (
	"bytes"
	"cmp"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// Stream masks the lines of one output.
type Stream struct {
	next  func([]byte)
	seen  *Seen  // lines passed to next; nil for short texts
	spots *spots // nil finds nothing
	extra []*text.Pattern
	hits  []hit
	found [secretKinds]int
	n     int // number of the line

	known   int // values learned from this output
	clean   []byte
	spare   []byte
	plain   unescapedLine
	held    heldLines
	judged  int  // the line is too long a value up to here
	begins  int  // begins of private keys in the line
	escapes bool // the line may have escapes
	cookies int8 // 1: the line is about cookies; -1: it is not; 0: not known yet
	lineContext
	before  lineContext // the state at the beginning of the line
	redrawn bool        // the next text is drawn over this line
}

// lineContext is the effect of the lines so far on the next ones.
type lineContext struct {
	block   keyBlock // the private key that is open
	awsAt   int      // the last line that may have an AWS secret without a name
	loginAt int      // the last line that may have the password of a .netrc
	valueAt int      // the last line that may have a "value" for the name of a credential
	valueIs naming   // the meaning of that name
	below   belowName
}

// hit is a value in the current line.
type hit struct {
	from, to int
	kind     credKind
}

// Stream starts the scan of one output. Masked lines go to next. A nil Scanner
// passes lines on as they are. seen collects the lines passed to next, unless
// it is nil.
func (s *Scanner) Stream(next func([]byte), seen *Seen) *Stream {
	m := &Stream{next: next}
	m.reset(s)
	m.seen = seen
	return m
}

func (m *Stream) reset(s *Scanner) {
	*m = Stream{next: m.next, hits: m.hits[:0], clean: m.clean, spare: m.spare, plain: m.plain, held: heldLines{text: m.held.text[:0], ends: m.held.ends[:0]}}
	if s == nil {
		return
	}
	m.spots, m.extra = cmp.Or(s.spots.Load(), commonSpots()), s.extra
}

// Line masks the next line and passes it on, possibly later.
func (m *Stream) Line(l []byte) {
	if m.spots == nil {
		m.next(l)
		return
	}
	hash, alone := m.seen.hash(l), !m.underWay()
	m.number()
	if alone && m.seen.isHarmless(hash) {
		m.next(l)
		return
	}
	m.hits = m.hits[:0]
	m.netrc(l)
	if m.block.open {
		m.inBlock(l)
	}
	if m.n == m.below.at {
		m.belowIt(l)
	}
	m.scan(l)
	if len(m.hits) > 0 {
		l, alone = m.masked(l), false
		hash = m.seen.hash(l)
	}
	if m.holds(l) {
		return
	}
	if alone && !m.underWay() {
		hash |= harmlessBit
	}
	m.pass(l, hash)
}

// pass passes on a line with this hash.
func (m *Stream) pass(l []byte, hash uint64) {
	m.seen.add(hash)
	m.next(l)
}

// underWay reports whether earlier lines imply something for the next one.
func (m *Stream) underWay() bool {
	return m.block.open || len(m.held.ends) > 0 || m.n < max(m.valueAt, m.awsAt, m.loginAt, m.below.at)
}

// LineSeen passes on a line that was masked before. It scans the line again only
// if earlier lines imply something for it.
func (m *Stream) LineSeen(l []byte) {
	if m.spots == nil || m.underWay() {
		m.Line(l)
		return
	}
	m.number()
	m.next(l)
}

// number counts a line. A text drawn over a line has the same number and
// follows the same lines.
func (m *Stream) number() {
	if !m.redrawn {
		m.n++
		m.before = m.lineContext
		return
	}
	m.redrawn = false
	over := m.lineContext // the text drawn over counts too
	m.lineContext = m.before
	if over.below.at == m.n+1 && m.below.at != m.n {
		m.below = over.below
		m.below.at = m.n
	}
	if !m.block.open {
		m.block = over.block
	}
	m.awsAt, m.loginAt = max(m.awsAt, over.awsAt), max(m.loginAt, over.loginAt)
	if over.valueAt > m.valueAt {
		m.valueAt, m.valueIs = over.valueAt, over.valueIs
	}
}

// redraw announces that the next text is drawn over this line, as after a bare
// carriage return.
func (m *Stream) redraw() { m.redrawn = m.n > 0 }

// End passes on the held lines and returns the findings.
func (m *Stream) End() []Finding {
	m.Release()
	var found []Finding
	for k, n := range m.found {
		if n > 0 {
			found = append(found, Finding{Credentials[k].Kind, n})
		}
	}
	return found
}

// maxRounds limits how often a line is masked again.
const maxRounds = 8

// masked masks the hits in a line. It scans the result again, since a mask can
// turn the text next to it into a value.
func (m *Stream) masked(l []byte) []byte {
	for round := 0; len(m.hits) > 0 && round < maxRounds; round++ {
		m.spare = m.replaced(m.spare[:0], l, round == 0)
		m.spare, m.clean = m.clean, m.spare
		l = m.clean
		m.hits = m.hits[:0]
		m.scan(l)
	}
	return l
}

// replaced appends the line with its hits masked.
func (m *Stream) replaced(out, l []byte, count bool) []byte {
	at := 0
	for _, h := range joinHits(m.hits) {
		if count {
			m.found[h.kind]++
		}
		m.learn(l[h.from:h.to], h.kind)
		out = append(out, l[at:h.from]...)
		out = appendMask(out, h.kind, h.to-h.from)
		at = h.to
	}
	return append(out, l[at:]...)
}

// joinHits sorts hits and joins those that overlap. The more specific kind
// wins.
func joinHits(hits []hit) []hit {
	for i := 1; i < len(hits); i++ { // few, and mostly in order
		for j := i; j > 0 && hits[j].from < hits[j-1].from; j-- {
			hits[j], hits[j-1] = hits[j-1], hits[j]
		}
	}
	out := hits[:0]
	for _, h := range hits {
		if n := len(out); n > 0 && h.from < out[n-1].to {
			out[n-1].to = max(out[n-1].to, h.to)
			out[n-1].kind = min(out[n-1].kind, h.kind)
			continue
		}
		out = append(out, h)
	}
	return out
}

// maxKnown limits the values learned from one output.
const maxKnown = 64

// learn makes the stream mask a value that was recognised by its name also
// where it has no name.
func (m *Stream) learn(value []byte, k credKind) {
	const longest = 512
	if !k.named() || m.known == maxKnown || len(value) < minLearned || len(value) > longest || !randomText(value) && !mixedText(value) || m.spots.has(value) {
		return
	}
	if m.known == 0 {
		m.spots = m.spots.clone()
	}
	m.known++
	m.spots.add(wholeSpot(bytes.Clone(value), k))
	m.seen.doubt()
}

// hit adds a value of the current line to hits.
func (m *Stream) hit(from, to int, k credKind) { m.hits = append(m.hits, hit{from, to, k}) }
