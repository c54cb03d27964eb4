package files

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// maxMatchLine bounds the bytes shown of a line that is found.
const maxMatchLine = 300

// searcher looks for a regex in the lines of files and writes what it finds:
// "path:line: text", and "path-line- text" for the lines around.
type searcher struct {
	re      *regexp.Regexp
	whole   bool // re finds something in a file if it does in one of its lines
	context int  // lines shown before and after a match
	most    int  // matches shown
	room    int  // bytes shown

	out  strings.Builder
	hits int
	more bool // there are more matches than are shown
	gap  bool // the next line does not follow the one written last
}

// file searches data, the content of the file that is shown as name. It returns
// false when nothing more can be shown.
func (s *searcher) file(name string, data []byte) bool {
	if bytes.IndexByte(data, 0) >= 0 { // a binary
		return true
	}
	data = bytes.TrimPrefix(data, []byte(byteOrderMark))
	// A "\r" is no part of a line, but the regex would see it in the whole.
	if s.whole && bytes.IndexByte(data, '\r') < 0 && !s.re.Match(data) {
		return true
	}
	s.gap = s.hits > 0
	var before [][]byte // not yet written lines before the current one, at most context
	after := 0          // lines still to write after a match
	for n := 1; len(data) > 0; n++ {
		var line []byte
		line, data, _ = bytes.Cut(data, []byte("\n"))
		line = bytes.TrimSuffix(line, []byte("\r"))
		loc := s.re.FindIndex(line)
		switch {
		case loc != nil && (s.hits == s.most || s.out.Len() > s.room):
			s.more = true
			return false
		case loc != nil:
			s.separate()
			for i, b := range before {
				s.write(name, n-len(before)+i, '-', b, nil)
			}
			s.write(name, n, ':', line, loc)
			s.hits++
			before, after = before[:0], s.context
		case after > 0:
			s.write(name, n, '-', line, nil)
			after--
		case s.context > 0:
			if len(before) == s.context {
				before = append(before[:0], before[1:]...)
				s.gap = s.hits > 0
			}
			before = append(before, line)
		}
	}
	return true
}

// separate writes "--" where context is shown and lines are left out.
func (s *searcher) separate() {
	if s.context > 0 && s.gap {
		s.out.WriteString("--\n")
	}
	s.gap = false
}

// write shows a line; of a long one what is around loc.
func (s *searcher) write(name string, n int, mark byte, line []byte, loc []int) {
	at := 0
	if loc != nil {
		at = loc[0]
	}
	fmt.Fprintf(&s.out, "%s%c%d%c %s\n", name, mark, n, mark, cutAround(line, at))
}

// cutAround shows at most maxMatchLine bytes of a line, with the byte at in it.
func cutAround(line []byte, at int) string {
	from, to := 0, len(line)
	if to > maxMatchLine {
		from = max(0, min(at-maxMatchLine/3, to-maxMatchLine))
		to = from + maxMatchLine
		for from > 0 && !utf8.RuneStart(line[from]) && to-from > maxMatchLine-utf8.UTFMax {
			from++
		}
		for to < len(line) && !utf8.RuneStart(line[to]) && to > from+maxMatchLine/2 {
			to--
		}
	}
	text := strings.ToValidUTF8(string(line[from:to]), "\uFFFD")
	if from > 0 {
		text = "…" + text
	}
	if to < len(line) {
		text += "…"
	}
	return text
}

// result gives all that was found.
func (s *searcher) result(pattern string) string {
	if s.hits == 0 {
		return "No matches for: " + oneLine(pattern)
	}
	text := strings.TrimSuffix(s.out.String(), "\n")
	if s.more {
		text += fmt.Sprintf("\n[the first %s; there are more: narrow the pattern, or give a path or include]", count(s.hits, "match"))
	}
	return text
}
