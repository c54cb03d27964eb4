package listing

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// groupMatches shortens search results.
type groupMatches struct {
	maxMatches int // matches to keep
	maxPerFile int // matches to keep of one file
	maxWidth   int // bytes of a line to keep
}

// newGroupMatches makes the strategy "group_matches". The matches of a file
// follow the first one, without the path. It keeps max_matches in all and
// max_per_file in each file. After half of max_matches it keeps only 8 in each
// file. The rest is counted by file. Lines longer than width are cut to the text
// near the match.
func newGroupMatches(p strategy.Params) (strategy.Strategy, error) {
	c := struct {
		Max     int `toml:"max_matches"`
		PerFile int `toml:"max_per_file"`
		Width   int `toml:"width"`
	}{Max: 200, PerFile: 80, Width: 400}
	if err := p.Decode(&c); err != nil {
		return nil, err
	}
	if c.Max <= 0 || c.PerFile <= 0 || c.Width < 200 {
		return nil, errors.New("want max_matches > 0, max_per_file > 0 and width >= 200")
	}
	return groupMatches{c.Max, c.PerFile, c.Width}, nil
}

func (g groupMatches) Begin(run strategy.Run, out *text.Lines) strategy.Pass {
	if run.Mixed { // diagnostics of other commands look like matches
		g.maxMatches, g.maxPerFile = 4*g.maxMatches, 4*g.maxPerFile
	}
	m := &matchesPass{groupMatches: g, out: out}
	for i, w := range strings.Fields(run.Command) {
		switch {
		case i == 0:
		case w == "-c" ||
			w == "--count" ||
			w == "--count-matches" ||
			strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.HasSuffix(w, "c"):
			m.onlyCounts = true
		case !strings.HasPrefix(w, "-") && len(w) > 2:
			m.commandWords = append(m.commandWords, []byte(strings.Trim(w, `\b^$()"'`)))
		}
	}
	return m
}

// matchesPass groups the matches of one search.
type matchesPass struct {
	groupMatches
	out             *text.Lines
	commandWords    [][]byte // words of the command that may be the search pattern
	onlyCounts      bool     // the command prints only counts
	path            []byte   // the current file
	fileMatches     int      // matches of that file
	fileShown       int      // matches kept of that file
	written         int      // lines kept
	omittedMessages int      // omitted lines without a path
	emptyFiles      int      // files without a match
	complaints      int
	filteredBefore  bool // the input is the result of an earlier pass
	changed         bool // a path was dropped
	lossy           bool // a match was dropped or cut
	lineBuffer      []byte
}

const (
	matchesTail   = " more matches in this file) ..."
	fileTail      = " matches)"
	cutTail       = " bytes omitted)"
	maxEmptyFiles = 20
	maxComplaints = 10
)

func (m *matchesPass) Line(l []byte) {
	if bytes.HasSuffix(l, []byte(matchesTail)) || bytes.HasSuffix(l, []byte(fileTail)) || text.IsOmission(l) ||
		bytes.HasPrefix(l, []byte(listNotePrefix)) || text.IsPatternCount(l) {
		m.filteredBefore = true
	}
	path, rest := m.splitMatch(l)
	switch {
	case path == nil:
		m.handleOther(l)
		return
	case m.onlyCounts && string(rest) == "0":
		if m.emptyFiles++; m.emptyFiles > maxEmptyFiles {
			m.lossy = true
			return
		}
	case bytes.Equal(path, m.path):
		m.fileMatches++
		if m.written >= m.maxMatches || m.fileShown >= m.maxPerFile || m.written > m.maxMatches/2 && m.fileShown >= 8 {
			m.lossy = true
			return
		}
		m.lineBuffer = append(append(m.lineBuffer[:0], ' '), rest...)
		m.write(m.lineBuffer, 1)
		m.changed = true
		return
	}
	m.endFile()
	m.path, m.fileMatches, m.fileShown = append(m.path[:0], path...), 1, 0
	if m.written >= m.maxMatches && !m.onlyCounts {
		m.lossy = true
		return
	}
	m.write(l, len(l)-len(rest))
}

// write writes a match whose text begins at rest.
func (m *matchesPass) write(l []byte, rest int) {
	m.fileShown++
	m.written++
	if len(l) > m.maxWidth {
		l = m.cutAround(l, rest)
		m.lossy = true
	}
	m.out.Write(l)
}

// endFile ends the matches of a file.
func (m *matchesPass) endFile() {
	switch more := m.fileMatches - m.fileShown; {
	case len(m.path) == 0 || more == 0:
	case m.fileShown == 0:
		m.out.Write(fmt.Appendf(nil, "%s (%d%s", m.path, m.fileMatches, fileTail))
	default:
		m.out.Write(fmt.Appendf(nil, " ... (%d%s", more, matchesTail))
	}
	m.path, m.fileMatches, m.fileShown = m.path[:0], 0, 0
}

// handleOther handles a line without a path.
func (m *matchesPass) handleOther(l []byte) {
	switch {
	case len(l) == 0:
		m.endFile()
		m.out.Write(nil)
	case string(l) == "--":
		if m.fileMatches == m.fileShown {
			m.out.Write(l)
		}
	case isComplaint(l) && !bytes.Contains(l, []byte("inary file")):
		m.endFile()
		if m.complaints++; m.complaints <= maxComplaints {
			m.out.Write(l)
		}
	default:
		m.endFile()
		if m.written >= m.maxMatches && isMessage(l) {
			m.omittedMessages++
			m.lossy = true
			return
		}
		m.write(l, 0)
	}
}

// isMessage reports whether a line without a path is neither a name of a file nor a
// line that stays. The mark of a line that an earlier pass cut has spaces itself.
func isMessage(l []byte) bool {
	return bytes.IndexByte(l, ' ') > 0 && !text.IsPatternCount(l) && !bytes.HasSuffix(l, []byte(cutTail)) &&
		!bytes.Contains(l, []byte("inary file"))
}

// splitMatch splits a match into path and rest. path is nil if there is none.
func (m *matchesPass) splitMatch(l []byte) (path, rest []byte) {
	if len(l) == 0 || l[0] == ' ' || l[0] == '\t' {
		return nil, nil
	}
	if p := len(m.path); p > 0 && len(l) > p+1 && bytes.HasPrefix(l, m.path) {
		if l[p] == ':' {
			return m.path, l[p+1:]
		}
		if l[p] == '-' {
			if end := text.DigitsEnd(l, p+1); end > p+1 && end < len(l) && l[end] == '-' {
				return m.path, l[p+1:]
			}
		}
	}
	limit := min(len(l), 512)
	for at := 0; ; {
		i := bytes.IndexByte(l[at:limit], ':')
		if i < 0 {
			break
		}
		at += i
		if at == 1 && at+1 < len(l) && (l[2] == '\\' || l[2] == '/') { // the colon after a drive
			at++
			continue
		}
		if !isPathLike(l[:at]) {
			break
		}
		return l[:at], l[at+1:]
	}
	// A line of context: name.ext-12-text.
	if dot := bytes.IndexByte(l[:limit], '.'); dot >= 0 {
		for at := dot + 1; at < limit; at++ {
			if l[at] == '-' {
				if end := text.DigitsEnd(l, at+1); end > at+1 && end < len(l) && l[end] == '-' && isPathLike(l[:at]) {
					return l[:at], l[at+1:]
				}
			}
			if l[at] == ' ' {
				break
			}
		}
	}
	return nil, nil
}

// isPathLike reports whether a text may be a path.
func isPathLike(p []byte) bool {
	if len(p) == 0 || text.DigitsEnd(p, 0) == len(p) {
		return false
	}
	named := false
	for _, b := range p {
		switch b {
		case ' ', '"', '\'', '(', ')', '{', '}', '<', '>', ';', '=', ',', '|', '*', '\t':
			return false
		case '.', '/', '\\':
			named = true
		}
	}
	return named || bytes.HasSuffix(p, []byte("file"))
}

// cutAround shortens a long line to its beginning and the text near the match.
func (m *matchesPass) cutAround(l []byte, from int) []byte {
	part := (m.maxWidth - 100) / 2
	head := min(from+part/2, m.maxWidth/2)
	at := -1
	for _, w := range m.commandWords {
		if len(w) > 2 {
			if i := bytes.Index(l[min(from, len(l)):], w); i >= 0 {
				at = from + i
				break
			}
		}
	}
	if at < head+part/2 { // in the beginning, or not found
		return append(
			bytes.Clone(text.Prefix(l, head+part)),
			fmt.Appendf(nil, " ... (%d%s", len(l)-len(text.Prefix(l, head+part)), cutTail)...,
		)
	}
	start, end := at-part/2, min(len(l), at+part/2)
	for start < len(l) && !utf8.RuneStart(l[start]) {
		start++
	}
	shown := text.Prefix(l, end)
	if start >= len(shown) {
		start = len(shown)
	}
	first := text.Prefix(l, head)
	return fmt.Appendf(nil, "%s ... %s ... (%d%s", first, shown[start:], len(l)-len(first)-len(shown[start:]), cutTail)
}

func (m *matchesPass) End() strategy.Confidence {
	m.endFile()
	if m.filteredBefore || !m.changed && !m.lossy && m.complaints <= maxComplaints {
		return strategy.Fallback
	}
	if m.omittedMessages > 0 {
		m.out.Write(text.Omission(m.omittedMessages))
	}
	if n := m.emptyFiles - maxEmptyFiles; n > 0 {
		m.out.Write(fmt.Appendf(nil, "... (%s with 0%s", quantity.Count(n, "more file"), fileTail))
	}
	if n := m.complaints - maxComplaints; n > 0 {
		m.out.Write(fmt.Appendf(nil, "... (%s%s", quantity.Count(n, "more complaint"), fileTail))
		return strategy.Partial
	}
	if m.lossy {
		return strategy.Partial
	}
	return strategy.Full
}
