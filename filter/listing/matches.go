package listing

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
)

// groupMatches shortens search results.
type groupMatches struct {
	max     int // matches to keep
	perFile int
	width   int // bytes of a line to keep
}

// newGroupMatches makes the strategy "group_matches". The matches of a file
// follow the first one, without the path. It keeps max_matches in all,
// max_per_file of a file, and only 8 of a file after half of max_matches; the
// rest is counted by file. Lines longer than width are cut to the text near the
// match.
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
	m := &matchesPass{groupMatches: g, out: out}
	for i, w := range strings.Fields(run.Command) {
		switch {
		case i == 0:
		case w == "-c" || w == "--count" || w == "--count-matches" || strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "--") && strings.HasSuffix(w, "c"):
			m.counts = true
		case !strings.HasPrefix(w, "-") && len(w) > 2:
			m.wanted = append(m.wanted, []byte(strings.Trim(w, `\b^$()"'`)))
		}
	}
	return m
}

type matchesPass struct {
	groupMatches
	out     *text.Lines
	wanted  [][]byte // words of the command that may be the search pattern
	counts  bool     // the command prints only counts
	path    []byte   // the current file
	n       int      // matches of that file
	shown   int      // matches kept of that file
	total   int      // lines kept
	rest    int      // omitted lines without a path
	zeros   int      // files without a match
	others  int      // complaints
	again   bool
	changed bool
	lossy   bool
	line    []byte
}

const (
	matchesTail  = " more matches in this file) ..."
	fileTail     = " matches)"
	cutTail      = " bytes omitted)"
	maxZeros     = 20
	maxComplains = 10
)

func (m *matchesPass) Line(l []byte) {
	if bytes.HasSuffix(l, []byte(matchesTail)) || bytes.HasSuffix(l, []byte(fileTail)) || text.IsOmission(l) {
		m.again = true
	}
	path, rest := m.parse(l)
	switch {
	case path == nil:
		m.other(l)
		return
	case m.counts && string(rest) == "0":
		if m.zeros++; m.zeros > maxZeros {
			m.lossy = true
			return
		}
	case bytes.Equal(path, m.path):
		m.n++
		if m.total >= m.max || m.shown >= m.perFile || m.total > m.max/2 && m.shown >= 8 {
			m.lossy = true
			return
		}
		m.line = append(append(m.line[:0], ' '), rest...)
		m.write(m.line, 1)
		m.changed = true
		return
	}
	m.file()
	m.path, m.n, m.shown = append(m.path[:0], path...), 1, 0
	if m.total >= m.max && !m.counts {
		m.lossy = true
		return
	}
	m.write(l, len(l)-len(rest))
}

// write writes a match whose text begins at rest.
func (m *matchesPass) write(l []byte, rest int) {
	m.shown++
	m.total++
	if len(l) > m.width {
		l = m.around(l, rest)
		m.lossy = true
	}
	m.out.Write(l)
}

// file ends the matches of a file.
func (m *matchesPass) file() {
	switch more := m.n - m.shown; {
	case len(m.path) == 0 || more == 0:
	case m.shown == 0:
		m.out.Write(fmt.Appendf(nil, "%s (%d%s", m.path, m.n, fileTail))
	default:
		m.out.Write(fmt.Appendf(nil, " ... (%d%s", more, matchesTail))
	}
	m.path, m.n, m.shown = m.path[:0], 0, 0
}

// other handles a line without a path.
func (m *matchesPass) other(l []byte) {
	switch {
	case len(l) == 0:
		m.file()
		m.out.Write(nil)
	case string(l) == "--":
		if m.n == m.shown {
			m.out.Write(l)
		}
	case isComplaint(l) && !bytes.Contains(l, []byte("inary file")):
		m.file()
		if m.others++; m.others <= maxComplains {
			m.out.Write(l)
		}
	default:
		m.file()
		if m.total >= m.max && isMessage(l) {
			m.rest++
			m.lossy = true
			return
		}
		m.write(l, 0)
	}
}

// isMessage reports whether a line without a path is neither a name of a file nor a
// line that stays. The mark of a line that an earlier pass cut has spaces itself.
func isMessage(l []byte) bool {
	return bytes.IndexByte(l, ' ') > 0 && !text.IsPatternCount(l) && !bytes.HasSuffix(l, []byte(cutTail)) && !bytes.Contains(l, []byte("inary file"))
}

// parse splits a match into path and rest. path is nil if there is none.
func (m *matchesPass) parse(l []byte) (path, rest []byte) {
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
		if !pathLike(l[:at]) {
			break
		}
		return l[:at], l[at+1:]
	}
	// A line of context: name.ext-12-text.
	if dot := bytes.IndexByte(l[:limit], '.'); dot >= 0 {
		for at := dot + 1; at < limit; at++ {
			if l[at] == '-' {
				if end := text.DigitsEnd(l, at+1); end > at+1 && end < len(l) && l[end] == '-' && pathLike(l[:at]) {
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

// pathLike reports whether a text may be a path.
func pathLike(p []byte) bool {
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

// around shortens a long line to its beginning and the text near the match.
func (m *matchesPass) around(l []byte, from int) []byte {
	part := (m.width - 100) / 2
	head := min(from+part/2, m.width/2)
	at := -1
	for _, w := range m.wanted {
		if len(w) > 2 {
			if i := bytes.Index(l[min(from, len(l)):], w); i >= 0 {
				at = from + i
				break
			}
		}
	}
	if at < head+part/2 { // in the beginning, or not found
		return append(bytes.Clone(text.Prefix(l, head+part)), fmt.Appendf(nil, " ... (%d%s", len(l)-len(text.Prefix(l, head+part)), cutTail)...)
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
	m.file()
	if m.again || !m.changed && !m.lossy && m.others <= maxComplains {
		return strategy.Fallback
	}
	if m.rest > 0 {
		m.out.Write(text.Omission(m.rest))
	}
	if n := m.zeros - maxZeros; n > 0 {
		m.out.Write(fmt.Appendf(nil, "... (%d more files with 0%s", n, fileTail))
	}
	if n := m.others - maxComplains; n > 0 {
		m.out.Write(fmt.Appendf(nil, "... (%d more complaints%s", n, fileTail))
		return strategy.Partial
	}
	if m.lossy {
		return strategy.Partial
	}
	return strategy.Full
}
