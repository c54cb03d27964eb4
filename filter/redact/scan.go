// Package redact finds credentials in text and masks their values.
//
// Start with a [Scanner]; its zero value finds all kinds of [Credentials].
// [Scanner.Mask] masks a text in memory. [Scanner.Visible] also finds
// credentials that control characters hide. [Scanner.Copy] masks a text of any
// length, and a [Stream] masks the lines of one output as they come.
//
// Only values are masked: names and the text around them stay. A mask is never
// longer than the value, and masking again changes nothing. References and
// placeholders are not masked.
package redact

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// Scanner finds credentials and masks their values: the kinds of [Credentials]
// and the user's own patterns. It is safe for concurrent use and must not be
// copied.
//
// Why not regular expressions? Seventeen of them on every line cost more than
// the rest of a filter. One pass over a line stops only at the few bytes that a
// credential must have, and examines their surroundings.
type Scanner struct {
	spots atomic.Pointer[spots] // nil means those of every scanner
	extra []*text.Pattern

	learning sync.Mutex
	learned  [][]byte // without white space
}

// NewScanner returns a scanner that also finds patterns. If an expression has a
// group, the match of the first group is the value.
func NewScanner(patterns []string) (*Scanner, error) {
	s := &Scanner{}
	for _, expr := range patterns {
		p, err := CheckPattern(expr)
		if err != nil {
			return nil, err
		}
		s.extra = append(s.extra, p)
	}
	return s, nil
}

// CheckPattern compiles a pattern of the user. The error describes its fault.
func CheckPattern(expr string) (*text.Pattern, error) {
	p, err := text.Compile(expr)
	if err != nil {
		return nil, err
	}
	if p.Regexp.MatchString("") {
		return nil, fmt.Errorf("the pattern %q matches the empty text", expr)
	}
	return p, nil
}

// minLearned is the shortest value, in bytes, that can be learned. Shorter
// values occur in too many texts.
const minLearned = 8

// Learn makes the scanner mask values wherever they occur, such as the
// process's own keys. It ignores values shorter than 8 bytes.
func (s *Scanner) Learn(values ...string) {
	s.learning.Lock()
	defer s.learning.Unlock()
	own := s.spots.Load()
	for _, v := range values {
		v = strings.TrimSpace(v)
		if len(v) >= minLearned && !strings.ContainsAny(v, "\r\n") {
			own = own.clone()
			own.add(wholeSpot([]byte(v), namedSecret))
			s.learned = append(s.learned, bytes.Join(bytes.Fields([]byte(v)), nil))
		}
	}
	s.spots.Store(own)
}

// Environment returns the values of an environment, as returned by
// [os.Environ], that are credentials. They are meant for [Scanner.Learn].
func Environment(environ []string) (values []string) {
	for _, entry := range environ {
		m := Stream{spots: commonSpots()}
		m.scan([]byte(entry))
		for _, h := range joinHits(m.hits) {
			values = append(values, entry[h.from:h.to])
		}
	}
	return values
}

// Finding counts the values found of one kind.
type Finding struct {
	Kind  string
	Count int // masked values
}

// Warning describes the findings in one line without a line feed. It returns ""
// if there are no findings.
func Warning(found []Finding) string {
	n := 0
	var secretKinds []string
	for _, f := range found {
		n += f.Count
		if f.Count > 1 {
			f.Kind = fmt.Sprintf("%s x%d", f.Kind, f.Count)
		}
		secretKinds = append(secretKinds, f.Kind)
	}
	switch n {
	case 0:
		return ""
	case 1:
		return "[security] 1 credential masked: " + secretKinds[0]
	}
	return fmt.Sprintf("[security] %d credentials masked: %s", n, strings.Join(secretKinds, ", "))
}

// Mask masks the credentials in a text and returns the findings. A text without
// credentials stays unchanged. A nil Scanner finds nothing.
func (s *Scanner) Mask(text string) (masked string, found []Finding) {
	if s == nil || len(text) < minValue {
		return text, nil
	}
	w := maskBufferPool.Get().(*maskBuffers)
	defer w.done()
	w.out = w.out[:0]
	w.reset(s)
	for rest := text; ; {
		line, more, cut := strings.Cut(rest, "\n")
		w.in = append(w.in[:0], strings.TrimSuffix(line, "\r")...)
		w.Line(w.in)
		if !cut {
			break
		}
		rest = more
	}
	found = w.End()
	if len(found) == 0 {
		return text, nil
	}
	return withReturns(string(w.out[:len(w.out)-1]), text), found
}

// withReturns restores the carriage returns at the ends of lines.
func withReturns(masked, text string) string {
	if !strings.Contains(text, "\r\n") && !strings.HasSuffix(text, "\r") {
		return masked
	}
	lines, of := strings.Split(masked, "\n"), strings.Split(text, "\n")
	for i := range lines {
		if strings.HasSuffix(of[i], "\r") {
			lines[i] += "\r"
		}
	}
	return strings.Join(lines, "\n")
}

// maskBuffers holds the buffers for masking a text in memory, for reuse.
type maskBuffers struct {
	Stream
	in, out []byte
}

var maskBufferPool = sync.Pool{New: func() any {
	w := &maskBuffers{}
	w.next = func(line []byte) { w.out = append(append(w.out, line...), '\n') }
	return w
}}

func (w *maskBuffers) done() {
	const large = 1 << 20
	if cap(w.in)+cap(w.out) < large {
		maskBufferPool.Put(w)
	}
}

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

// hit notes a value.
func (m *Stream) hit(from, to int, k credKind) { m.hits = append(m.hits, hit{from, to, k}) }

const (
	maskBegin = "[REDACTED"
	maskShort = maskBegin + "]"
	maskStars = "*********" // for values shorter than maskShort
)

// appendMask appends the mask of a value of n bytes, at most n bytes long.
func appendMask(out []byte, k credKind, n int) []byte {
	switch {
	case n >= len(masks[k]):
		return append(out, masks[k]...)
	case n >= len(maskShort):
		return append(out, maskShort...)
	}
	return append(out, maskStars[:n]...)
}

var masks = func() (all [secretKinds]string) {
	for k, c := range Credentials {
		all[k] = maskBegin + ":" + c.Kind + "]"
	}
	return all
}()

// isMask reports whether a value is a mask or begins with one.
func isMask(v []byte) bool {
	return bytes.HasPrefix(v, []byte(maskBegin)) || len(bytes.Trim(v, "*")) == 0
}

// Sum returns the sum of two lists of findings.
func Sum(all, more []Finding) []Finding {
	for _, f := range more {
		i := slices.IndexFunc(all, func(o Finding) bool { return o.Kind == f.Kind })
		if i < 0 {
			all = append(all, f)
			continue
		}
		all[i].Count += f.Count
	}
	return all
}
