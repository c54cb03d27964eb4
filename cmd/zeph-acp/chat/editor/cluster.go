package editor

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// next returns the end of the grapheme cluster at pos, which must be a boundary.
func (s *state) next(pos int) int {
	if pos >= len(s.text) {
		return len(s.text)
	}
	if s.text[pos] < utf8.RuneSelf && (pos+1 == len(s.text) || s.text[pos+1] < utf8.RuneSelf) {
		return pos + 1
	}
	cluster, _ := ansi.FirstGraphemeCluster(s.text[pos:], ansi.WcWidth)
	return pos + len(cluster)
}

// prev returns the beginning of the cluster that ends at pos. Clusters can only be found from
// left to right, so it keeps the boundaries on the way for the next call.
func (s *state) prev(pos int) int {
	if pos == 0 {
		return 0
	}
	i, known := slices.BinarySearch(s.bounds, pos)
	if !known || i == 0 {
		at := s.safe(pos - 1)
		for s.bounds = nil; at < pos; at = s.next(at) {
			s.bounds = append(s.bounds, at)
		}
		i, s.bounds = len(s.bounds), append(s.bounds, at)
	}
	return s.bounds[i-1]
}

// boundary returns the first boundary of clusters at or after pos.
func (s *state) boundary(pos int) int {
	at := s.safe(pos)
	for at < pos {
		at = s.next(at)
	}
	return at
}

// floor returns the last boundary at or before pos.
func (s *state) floor(pos int) int {
	if at := s.boundary(pos); at == pos {
		return at
	}
	return s.prev(s.boundary(pos))
}

// safe returns a position at or before pos that is a boundary whatever is around it: between
// two characters that join nothing, or at the beginning of a line.
func (s *state) safe(pos int) int {
	for pos > 0 && pos < len(s.text) {
		after, _ := utf8.DecodeRuneInString(s.text[pos:])
		before, size := utf8.DecodeLastRuneInString(s.text[:pos])
		if before == '\n' || isLone(before) && isLone(after) {
			break
		}
		pos -= size
	}
	return pos
}

// isLone reports whether a character never joins another such character in a cluster.
func isLone(r rune) bool {
	return r < utf8.RuneSelf || unicode.IsLetter(r) && unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic,
		unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// lineStart returns the beginning of the line of pos.
func (s *state) lineStart(pos int) int { return strings.LastIndexByte(s.text[:pos], '\n') + 1 }

// lineEnd returns the end of the line of pos, before its line feed.
func (s *state) lineEnd(pos int) int {
	if i := strings.IndexByte(s.text[pos:], '\n'); i >= 0 {
		return pos + i
	}
	return len(s.text)
}

// rune returns the first rune of the cluster at pos, and 0 at the end of the text.
func (s *state) rune(pos int) rune {
	if pos >= len(s.text) {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(s.text[pos:])
	return r
}

// isSpace reports whether a byte is a space of ASCII.
func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\n' }

// inWord reports whether a character is a part of a word for emacs keys.
func inWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// inShellWord reports whether a character is a part of a word that spaces end.
func inShellWord(r rune) bool { return r != 0 && !unicode.IsSpace(r) }

// wordEnd returns the end of the word at or after pos.
func (s *state) wordEnd(pos int, in func(rune) bool) int {
	for pos < len(s.text) && !in(s.rune(pos)) {
		pos = s.next(pos)
	}
	for pos < len(s.text) && in(s.rune(pos)) {
		pos = s.next(pos)
	}
	return pos
}

// wordStart returns the beginning of the word before pos.
func (s *state) wordStart(pos int, in func(rune) bool) int {
	for pos > 0 && !in(s.rune(s.prev(pos))) {
		pos = s.prev(pos)
	}
	for pos > 0 && in(s.rune(s.prev(pos))) {
		pos = s.prev(pos)
	}
	return pos
}
