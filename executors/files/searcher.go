package files

import (
	"bytes"
	"fmt"
	"regexp/syntax"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/pattern"
)

// maxMatchLine bounds the bytes shown of a line that is found.
const maxMatchLine = 300

// searcher looks for a regex in the lines of files: "path:line: text" is what it
// finds, "path-line- text" the lines around. It may be used concurrently.
type searcher struct {
	re      *pattern.Pattern
	needles needles // one is in each line that re finds something in; nil: not known
	whole   bool    // re finds something in a text if it does in one of its lines
	context int     // lines shown before and after a match
	most    int     // matches shown
	room    int     // bytes shown
}

// newSearcher makes the searcher of a regex; the error is as of [pattern.Compile].
func newSearcher(expr string, context, most, room int) (*searcher, error) {
	re, err := pattern.Compile(expr)
	if err != nil {
		return nil, err
	}
	return &searcher{
		re:      re,
		needles: needlesOf(expr),
		whole:   !anchoredToText(expr),
		context: context, most: most, room: room,
	}, nil
}

// anchoredToText reports whether a regex speaks of the begin or end of the text,
// so that it means another thing for a line than for a whole file.
func anchoredToText(pattern string) bool {
	re, err := syntax.Parse(pattern, syntax.Perl)
	return err != nil || hasTextAnchor(re)
}

func hasTextAnchor(re *syntax.Regexp) bool {
	if re.Op == syntax.OpBeginText || re.Op == syntax.OpEndText {
		return true
	}
	for _, sub := range re.Sub {
		if hasTextAnchor(sub) {
			return true
		}
	}
	return false
}

// fileMatches is what is shown of one file.
type fileMatches struct {
	text  string
	ends  []int // in text, of each match with the lines around it
	path  string
	line  int  // 1-based, of the first match
	more  bool // there are more matches, but never as many are shown
	large bool // the file was not searched
}

// searching is the memory for searching one file after the other.
type searching struct {
	data []byte // of the file
	out  []byte
	ends []int
}

// scan is the search of one file.
type scan struct {
	*searcher
	*searching
	name string
	data []byte // without byte order mark

	stopped func() bool // nothing of it is needed any more
	work    int         // steps of the regex since it was asked
	lines   int         // line breaks before counted
	counted int
	first   int // the line of the first match, from 1
	done    int // what is before is written, or left out
	after   int // lines still to write after the last match
	text    bool
	more    bool
}

// mayMatch reports whether it is worth to search data.
func (s *searcher) mayMatch(data []byte) bool { return s.needles == nil || s.needles.in(data) }

// file searches data, the content of the file that is shown as name. Of a binary
// and once stopped it finds nothing.
func (s *searcher) file(b *searching, name string, data []byte, stopped func() bool) fileMatches {
	b.out, b.ends = b.out[:0], b.ends[:0]
	sc := scan{searcher: s, searching: b, name: name, data: bytes.TrimPrefix(data, []byte(executors.ByteOrderMark)), stopped: stopped}
	complete := false
	if s.needles != nil {
		complete = sc.byNeedles()
	} else {
		complete = sc.byBlocks()
	}
	if complete {
		sc.trail(len(sc.data))
	}
	if len(b.ends) == 0 {
		return fileMatches{}
	}
	b.ends[len(b.ends)-1] = len(b.out)
	return fileMatches{text: string(b.out), ends: append([]int(nil), b.ends...), line: sc.first, more: sc.more}
}

// byNeedles tries the lines that have a needle. It returns false when no more
// can be shown.
func (sc *scan) byNeedles() bool {
	var f finder
	f.start(sc.needles)
	for at := 0; ; {
		if at = f.find(sc.data, at); at < 0 {
			return true
		}
		from := bytes.LastIndexByte(sc.data[:at], '\n') + 1
		end := lineEnd(sc.data, at)
		if !sc.line(from, end) {
			return false
		}
		at = end + 1
	}
}

// workAtOnce is how many steps of a regex are done on lines without a look whether
// the search is stopped.
const workAtOnce = 1 << 20

// blockLen is about how much a regex without needles is tried on at once: with
// more, package regexp turns to a slower way, and a cancel waits longer.
const blockLen = 8 << 10

// byBlocks tries all lines, block by block. It returns false when no more can be
// shown.
func (sc *scan) byBlocks() bool {
	for at := 0; at < len(sc.data); {
		if sc.stopped() {
			return false
		}
		end := len(sc.data)
		if at+blockLen < end {
			end = min(end, lineEnd(sc.data, at+blockLen)+1)
		}
		block := sc.data[at:end]
		// A "\r" is no part of a line, but the regex would see it in the whole.
		if sc.whole && bytes.IndexByte(block, '\r') < 0 && !sc.re.Match(block, sc.stopped) {
			at = end
			continue
		}
		for at < end {
			to := lineEnd(sc.data, at)
			if !sc.line(at, to) {
				return false
			}
			at = to + 1
		}
	}
	return true
}

// lineEnd is where the line ends that at is in.
func lineEnd(data []byte, at int) int {
	if n := bytes.IndexByte(data[at:], '\n'); n >= 0 {
		return at + n
	}
	return len(data)
}

// line tries one line and writes it if it matches. It returns false when no more
// can be shown.
func (sc *scan) line(from, end int) bool {
	line := bytes.TrimSuffix(sc.data[from:end], []byte("\r"))
	loc := sc.re.Find(line, sc.stopped)
	if sc.work += sc.re.Cost(len(line)); sc.work > workAtOnce {
		if sc.work = 0; sc.stopped() {
			return false
		}
	}
	if loc == nil {
		return true
	}
	if !sc.text {
		if sc.text = bytes.IndexByte(sc.data, 0) < 0; !sc.text { // a binary
			return false
		}
	}
	sc.trail(from)
	if len(sc.ends) > 0 {
		sc.ends[len(sc.ends)-1] = len(sc.out)
	}
	if len(sc.ends) == sc.most || len(sc.out) > sc.room {
		sc.more = true
		return false
	}
	before := from
	for n := 0; n < sc.context && before > sc.done; n++ {
		before = bytes.LastIndexByte(sc.data[:before-1], '\n') + 1
	}
	if sc.context > 0 && before > sc.done && len(sc.ends) > 0 {
		sc.out = append(sc.out, separator...)
	}
	for before < from {
		before = sc.write(before, '-', nil)
	}
	sc.done = sc.write(from, ':', loc)
	if len(sc.ends) == 0 {
		sc.first = sc.lines + 1
	}
	sc.after = sc.context
	sc.ends = append(sc.ends, len(sc.out))
	return true
}

// separator stands where context is shown and lines are left out.
const separator = "--\n"

// trail writes the lines after the last match that are before end.
func (sc *scan) trail(end int) {
	for ; sc.after > 0 && sc.done < end; sc.after-- {
		sc.done = sc.write(sc.done, '-', nil)
	}
	sc.after = 0
}

// write shows the line at from, of a long one what is around loc. It returns
// where the next line begins.
func (sc *scan) write(from int, mark byte, loc []int) (next int) {
	sc.lines += bytes.Count(sc.data[sc.counted:from], []byte("\n"))
	sc.counted = from
	end := lineEnd(sc.data, from)
	line := bytes.TrimSuffix(sc.data[from:end], []byte("\r"))
	at := 0
	if loc != nil {
		at = loc[0]
	}
	sc.out = append(append(sc.out, sc.name...), mark)
	sc.out = append(strconv.AppendInt(sc.out, int64(sc.lines+1), 10), mark, ' ')
	if len(line) <= maxMatchLine && utf8.Valid(line) {
		sc.out = append(sc.out, line...)
	} else {
		sc.out = append(sc.out, cutAround(line, at)...)
	}
	sc.out = append(sc.out, '\n')
	return end + 1
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

// matches is what is shown of all files. Each file is taken over as a whole, in
// order; what is too much is cut here, so that it does not matter which files
// were searched meanwhile.
type matches struct {
	*searcher
	out   strings.Builder
	hits  int
	more  bool // there are more matches than are shown
	large int  // files not searched

	places places
}

// take takes over what was found in the next file. It returns false when nothing
// more can be shown.
func (m *matches) take(f fileMatches) bool {
	if f.large {
		m.large++
	}
	from := 0
	for i, end := range f.ends {
		if m.hits == m.most || m.out.Len() > m.room {
			m.more = true
			return false
		}
		if i == 0 && m.hits > 0 && m.context > 0 {
			m.out.WriteString(separator)
		}
		if i == 0 {
			m.places.add(f.path, f.line)
		}
		m.out.WriteString(f.text[from:end])
		from = end
		m.hits++
	}
	m.more = f.more
	return !f.more
}

// result gives all that was found.
func (m *matches) result(pattern string) string {
	if m.hits == 0 {
		return "No matches for: " + executors.OneLine(pattern)
	}
	text := strings.TrimSuffix(m.out.String(), "\n")
	if m.more {
		text += fmt.Sprintf("\n[the first %s; there are more: narrow the pattern, or give a path or include]", executors.Count(m.hits, "match"))
	}
	return text
}
