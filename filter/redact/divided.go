package redact

import (
	"bytes"
	"slices"
)

// maxDivided bounds how far the parts of one value are joined, in bytes.
const maxDivided = 256

// Divided returns the kinds of credentials in a text whose values are divided by white
// space, such as a token on two lines. It finds values that are learned, and those that
// are recognised by their own shape and look random. The words of a sentence are joined
// too, so names such as "password" are not evidence.
func (s *Scanner) Divided(text string) (kinds []string) {
	words := bytes.Fields([]byte(text))
	if s.hasLearned(bytes.Join(words, nil)) {
		kinds = append(kinds, rules().Kinds[namedSecret].Kind)
	}
	m := Stream{anchors: commonAnchors(), lineNumber: 1}
	for i := range words {
		joined := slices.Clone(words[i])
		for _, w := range words[i+1:] { // a value may end with any word, and those after it are not random
			if joined = append(joined, w...); len(joined) > maxDivided {
				break
			}
			if k, ok := m.findAcross(joined, len(words[i])); ok && !slices.Contains(kinds, rules().Kinds[k].Kind) {
				kinds = append(kinds, rules().Kinds[k].Kind)
			}
		}
	}
	return kinds
}

// findAcross returns the kind of a value that begins before the byte at and ends after it.
func (m *Stream) findAcross(joined []byte, at int) (kind credKind, ok bool) {
	m.hits = m.hits[:0]
	m.scan(joined)
	for _, h := range m.hits {
		switch h.kind {
		case authorization, urlPassword, namedSecret, userPattern: // recognised by the text around them
			continue
		}
		if h.from < at && h.to > at && isRandom(joined[h.from:h.to]) {
			return h.kind, true
		}
	}
	return 0, false
}

// hasLearned reports whether a text without white space contains a learned value.
func (s *Scanner) hasLearned(text []byte) bool {
	s.learning.Lock()
	defer s.learning.Unlock()
	return slices.ContainsFunc(s.learned, func(v []byte) bool { return bytes.Contains(text, v) })
}
