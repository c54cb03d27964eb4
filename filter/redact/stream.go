package redact

import (
	"bytes"
	"cmp"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// Stream masks the lines of one output.
type Stream struct {
	next         func([]byte)
	seen         *Seen    // lines passed to next; nil for short texts
	anchors      *anchors // nil finds nothing
	userPatterns []*text.Pattern
	hits         []hit              // values in the current line
	found        [credKindCount]int // masked values by kind
	lineNumber   int                // 1-based

	session        *Scanner // learns from the output, if it is of one session; nil finds nothing
	learned        int      // values learned from this output
	cleanBuffer    []byte
	spareBuffer    []byte
	unescaped      unescapedLine
	held           heldLines
	passedTo       int  // the bytes of the line before this one are in a value that is too long
	decodedTo      int  // the bytes of the line before this one were decoded
	keyBegins      int  // begins of private keys in the line
	mayHaveEscapes bool // the line has a byte that begins escapes
	cookieState    int8 // 1: the line is about cookies; -1: it is not; 0: not known yet
	lineContext
	contextBefore lineContext // the state at the beginning of the line
	drawnOver     bool        // the next text is drawn over this line
}

// lineContext is the effect of the lines so far on the next ones.
type lineContext struct {
	block       keyBlock  // the private key that is open
	awsUntil    int       // the last line that may have an AWS secret without a name
	loginUntil  int       // the last line that may have the password of a .netrc
	valueUntil  int       // the last line that may have a "value" for the name of a credential
	resultUntil int       // the last line that may have the "result" of a random password
	valueClass  nameClass // the class of that name
	below       belowName
	columns     columns
}

// hit is a value in the current line.
type hit struct {
	from, to int
	kind     credKind
}

// Stream starts the scan of one output. Masked lines go to next. A nil Scanner
// passes lines on unchanged. seen collects the lines passed to next, unless it
// is nil.
func (s *Scanner) Stream(next func([]byte), seen *Seen) *Stream {
	m := &Stream{next: next}
	m.reset(s)
	m.seen = seen
	return m
}

func (m *Stream) reset(s *Scanner) {
	*m = Stream{
		next:        m.next,
		hits:        m.hits[:0],
		cleanBuffer: m.cleanBuffer,
		spareBuffer: m.spareBuffer,
		unescaped:   m.unescaped,
		held:        heldLines{text: m.held.text[:0], ends: m.held.ends[:0]},
	}
	if s == nil {
		return
	}
	m.session = s
	m.anchors, m.userPatterns = cmp.Or(s.anchors.Load(), commonAnchors()), s.userPatterns
}

// Line masks the next line and passes it on, possibly later.
func (m *Stream) Line(l []byte) {
	if m.anchors == nil {
		m.next(l)
		return
	}
	hash, alone := m.seen.hash(l), !m.hasContext()
	m.countLine()
	if alone && m.seen.isHarmless(hash) {
		m.next(l)
		return
	}
	m.hits = m.hits[:0]
	m.checkNetrc(l)
	if m.block.open {
		m.scanKeyLine(l)
	}
	if m.lineNumber == m.below.line {
		m.scanBelow(l)
	}
	if m.columns.separator != 0 {
		m.scanRow(l)
	}
	m.scan(l)
	if len(m.hits) > 0 {
		l, alone = m.maskLine(l), false
		hash = m.seen.hash(l)
	}
	if m.holdLine(l) {
		return
	}
	if alone && !m.hasContext() {
		hash |= harmlessBit
	}
	m.emit(l, hash)
}

// emit passes on a line with this hash.
func (m *Stream) emit(l []byte, hash uint64) {
	m.seen.add(hash)
	m.next(l)
}

// hasContext reports whether earlier lines imply something for the next one.
func (m *Stream) hasContext() bool {
	return m.block.open || m.columns.separator != 0 || len(m.held.ends) > 0 || m.lineNumber < max(m.valueUntil, m.resultUntil, m.awsUntil, m.loginUntil, m.below.line)
}

// LineSeen passes on a line that was masked before. It scans the line again only
// if earlier lines imply something for it.
func (m *Stream) LineSeen(l []byte) {
	if m.anchors == nil || m.hasContext() {
		m.Line(l)
		return
	}
	m.countLine()
	m.next(l)
}

// countLine counts a line. A text drawn over a line has the same number and
// follows the same lines.
func (m *Stream) countLine() {
	if !m.drawnOver {
		m.lineNumber++
		m.contextBefore = m.lineContext
		return
	}
	m.drawnOver = false
	over := m.lineContext // the text drawn over counts too
	m.lineContext = m.contextBefore
	if over.below.line == m.lineNumber+1 && m.below.line != m.lineNumber {
		m.below = over.below
		m.below.line = m.lineNumber
	}
	if !m.block.open {
		m.block = over.block
	}
	if m.columns.separator == 0 {
		m.columns = over.columns
	}
	m.awsUntil, m.loginUntil = max(m.awsUntil, over.awsUntil), max(m.loginUntil, over.loginUntil)
	m.resultUntil = max(m.resultUntil, over.resultUntil)
	if over.valueUntil > m.valueUntil {
		m.valueUntil, m.valueClass = over.valueUntil, over.valueClass
	}
}

// expectDrawnOver announces that the next text is drawn over this line, as after a bare
// carriage return.
func (m *Stream) expectDrawnOver() { m.drawnOver = m.lineNumber > 0 }

// End passes on the held lines and returns the findings.
func (m *Stream) End() []Finding {
	m.Release()
	var found []Finding
	for k, n := range m.found {
		if n > 0 {
			found = append(found, Finding{rules().Kinds[k].Kind, n})
		}
	}
	return found
}

// maxRounds limits how often a line is masked again.
const maxRounds = 8

// maskLine masks the hits in a line. It scans the result again, since a mask can
// turn the text next to it into a value.
func (m *Stream) maskLine(l []byte) []byte {
	for round := 0; len(m.hits) > 0 && round < maxRounds; round++ {
		m.spareBuffer = m.appendMasked(m.spareBuffer[:0], l, round == 0)
		m.spareBuffer, m.cleanBuffer = m.cleanBuffer, m.spareBuffer
		l = m.cleanBuffer
		m.hits = m.hits[:0]
		m.scan(l)
	}
	return l
}

// appendMasked appends the line with its hits masked.
func (m *Stream) appendMasked(out, l []byte, count bool) []byte {
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
	const leastKeyLine = 40 // of the body of a key, which another text may have without its first line
	if k == privateKey && len(value) >= leastKeyLine && len(value) <= longest {
		m.session.learnFound(bytes.Clone(value), k)
		return
	}
	if !rules().Kinds[k].Context ||
		m.learned == maxKnown ||
		len(value) < minLearned ||
		len(value) > longest ||
		!isRandom(value) && !isMixedText(value) ||
		m.anchors.contains(value) {
		return
	}
	if m.learned == 0 {
		m.anchors = m.anchors.clone()
	}
	m.learned++
	value = bytes.Clone(value)
	m.anchors.add(wholeAnchor(value, k))
	m.session.learnFound(value, k)
	m.seen.forgetHarmless()
}

// addHit adds a value of the current line to hits.
func (m *Stream) addHit(from, to int, k credKind) { m.hits = append(m.hits, hit{from, to, k}) }
