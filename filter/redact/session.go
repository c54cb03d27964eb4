package redact

import (
	"encoding/json"
	"hash/maphash"
	"sync"
	"sync/atomic"

	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/filter/text/texts"
)

// Session returns a scanner for the texts of one session, which masks what s masks. It also learns
// the values that it recognises by their surroundings, so that a later text masks them without these
// surroundings: a hint with one line of a file, for instance. Later values of s are not learned.
func (s *Scanner) Session() *Scanner {
	if s == nil {
		return nil
	}
	own := &Scanner{userPatterns: s.userPatterns, session: &sessionMemory{}}
	s.learning.Lock()
	defer s.learning.Unlock()
	own.anchors.Store(s.anchors.Load())
	own.learned = append(own.learned, s.learned...)
	return own
}

// maxFound limits the values that a scanner of a session learns from texts.
const maxFound = 1024

// learnFound learns a value that was recognised by its surroundings.
func (s *Scanner) learnFound(value []byte, k credKind) {
	if s.session == nil {
		return
	}
	s.learning.Lock()
	defer s.learning.Unlock()
	anchors := s.anchors.Load().clone()
	if s.session.found == maxFound || anchors.contains(value) {
		return
	}
	s.session.found++
	anchors.add(wholeAnchor(value, k))
	s.anchors.Store(anchors)
	s.session.forget()
}

// sessionMemory remembers the texts that a session's scanner has masked, so that each later exit of
// a text costs a hash. It remembers hashes, and forgets some if there are many. On nil, its methods
// do nothing.
type sessionMemory struct {
	found int // values learned from texts; guarded by Scanner.learning

	once   sync.Once
	seed   maphash.Seed
	masked *[1 << 12]atomic.Uint64
}

// leastRemembered is the size from which a text is remembered, in bytes. A shorter one is masked
// again as fast.
const leastRemembered = 256

// slot returns the hash of a masked text and its place.
func (m *sessionMemory) slot(text string, how uint64) (uint64, *atomic.Uint64) {
	m.once.Do(func() { m.seed, m.masked = maphash.MakeSeed(), new([1 << 12]atomic.Uint64) })
	h := maphash.String(m.seed, text) ^ how
	return h, &m.masked[h%uint64(len(m.masked))]
}

// How a text was masked.
const (
	asWritten uint64 = 0                  // by Mask
	asShown   uint64 = 0x9E3779B97F4A7C15 // by Visible; it changes the hash
)

func (m *sessionMemory) isMasked(text string, how uint64) bool {
	if m == nil || len(text) < leastRemembered {
		return false
	}
	h, slot := m.slot(text, how)
	return slot.Load() == h
}

func (m *sessionMemory) add(text string, how uint64) {
	if m != nil && len(text) >= leastRemembered {
		h, slot := m.slot(text, how)
		slot.Store(h)
	}
}

// forget forgets all texts, since a new value was learned.
func (m *sessionMemory) forget() {
	if m == nil {
		return
	}
	m.once.Do(func() { m.seed, m.masked = maphash.MakeSeed(), new([1 << 12]atomic.Uint64) })
	for i := range m.masked {
		m.masked[i].Store(0)
	}
}

// Passed notes that a text was masked, as a stream of lines or in parts.
func (s *Scanner) Passed(text string) {
	if s != nil {
		s.session.add(text, asWritten)
		s.session.add(text, asShown)
	}
}

// Text masks a text and returns it without the findings; see [Scanner.Visible].
func (s *Scanner) Text(text string) string {
	masked, _ := s.Visible(text)
	return masked
}

// Exit returns the change for all texts of a value that leaves the session.
func (s *Scanner) Exit() texts.Change {
	if s == nil {
		return texts.Change{}
	}
	return texts.Change{Text: s.Text, JSON: s.JSON}
}

// Lines returns a function that masks the lines of one text as they come, each without its end.
func (s *Scanner) Lines() func(line string) string {
	if s == nil {
		return func(line string) string { return line }
	}
	var mu sync.Mutex
	var masked []byte
	stream := s.Stream(func(line []byte) { masked = append(masked, line...) }, nil)
	return func(line string) string {
		mu.Lock()
		defer mu.Unlock()
		masked = masked[:0]
		stream.Line([]byte(line))
		stream.Release() // it may be a part of a key whose end follows
		return string(masked)
	}
}

// longMember is the size from which a text of a JSON document is masked only by itself, in bytes.
const longMember = 1 << 10

// JSON masks the texts of a JSON document: each by itself, so that its lines are lines, and together
// with the names of members and with their neighbours. A document without credentials stays
// unchanged, and so does what is not JSON, apart from its own credentials.
func (s *Scanner) JSON(document json.RawMessage) json.RawMessage {
	if s == nil || len(document) < minValue {
		return document
	}
	return s.maskJSON(document)
}

func (s *Scanner) maskJSON(document json.RawMessage) json.RawMessage {
	tree, err := plainjson.Decode(document)
	if err != nil {
		masked := s.Text(string(document))
		if masked == string(document) {
			return document
		}
		return plainjson.MustMarshal(masked)
	}
	changed := false
	tree = texts.Map(tree, texts.Change{Text: func(t string) string {
		masked := s.Text(t)
		changed = changed || masked != t
		return masked
	}})
	var long []string
	short := texts.Map(tree, texts.Change{Text: func(t string) string {
		if len(t) < longMember {
			return t
		}
		long = append(long, t)
		return ""
	}})
	line := string(plainjson.MustMarshal(short))
	if masked, found := s.Mask(line); len(found) > 0 {
		if again, err := plainjson.Decode([]byte(masked)); err == nil && sameShape(short, again) {
			tree, changed = withValues(tree, again), true
		}
	}
	if !changed {
		return document
	}
	return plainjson.MustMarshal(tree)
}

// sameShape reports whether two JSON values differ in their texts alone.
func sameShape(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for name, v := range a {
			if other, ok := b[name]; !ok || !sameShape(v, other) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !sameShape(a[i], b[i]) {
				return false
			}
		}
		return true
	}
	return true
}

// withValues returns tree with the values of masked, except in the place of long texts.
func withValues(tree, masked any) any {
	switch t := tree.(type) {
	case map[string]any:
		for name := range t {
			t[name] = withValues(t[name], masked.(map[string]any)[name])
		}
	case []any:
		for i := range t {
			t[i] = withValues(t[i], masked.([]any)[i])
		}
	case string:
		if len(t) < longMember {
			return masked
		}
	default:
		return masked
	}
	return tree
}

// Raw masks the texts of a value that marshals to JSON, and removes their control characters. It
// returns v itself if nothing changes, so that its members keep their order.
func (s *Scanner) Raw(v any) any {
	if v == nil {
		return v
	}
	v = texts.Map(v, texts.Change{Text: func(t string) string { return text.WithoutControls(s.Text(t)) }, JSON: s.JSON})
	if _, plain := v.(string); plain {
		return v
	}
	if s == nil {
		return v
	}
	// Most values have no name that is that of a credential. Their long texts need no encoding.
	document, err := json.Marshal(texts.Map(v, texts.Change{Text: func(t string) string {
		if len(t) < longMember {
			return t
		}
		return ""
	}}))
	if err != nil || string(s.JSON(document)) == string(document) {
		return v
	}
	if document, err = json.Marshal(v); err != nil {
		return v
	}
	tree, err := plainjson.Decode(s.JSON(document))
	if err != nil {
		return v
	}
	return tree
}
