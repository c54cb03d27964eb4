package search

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"
)

// scan is the search of one file.
type scan struct {
	*Searcher
	*Buffer
	name string
	data []byte // without byte order mark

	stopped   func() bool // reports whether the result is no longer needed
	work      int         // steps of the regex since stopped was last called
	lines     int         // line breaks before the offset counted
	counted   int
	firstLine int  // the line of the first match, from 1
	writtenTo int  // the lines before this offset are written or skipped
	trailing  int  // lines still to write after the last match
	knownText bool // the data is known not to be binary
	more      bool
}

// byNeedles tries the lines that contain a needle. It returns false when no more
// can be shown.
func (sc *scan) byNeedles() bool {
	f := Finder{data: sc.data}
	f.start(sc.needles)
	for from, end := range f.Lines() {
		if !sc.tryLine(from, end) {
			return false
		}
	}
	return true
}

// workAtOnce is the number of steps of a regex between two calls of stopped.
const workAtOnce = 1 << 20

// blockLen is the approximate size of a block for a regex without needles, in
// bytes. On larger blocks package regexp uses a slower algorithm, and a cancel
// waits longer.
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
		// A "\r" is not part of a line, but the regex would see it in a block.
		if sc.blockwise && bytes.IndexByte(block, '\r') < 0 && !sc.re.Match(block, sc.stopped) {
			at = end
			continue
		}
		for at < end {
			to := lineEnd(sc.data, at)
			if sc.re.Match(bytes.TrimSuffix(sc.data[at:to], []byte("\r")), sc.stopped) && !sc.tryLine(at, to) {
				return false
			}
			at = to + 1
		}
	}
	return true
}

// lineEnd returns the end of the line that contains the offset at.
func lineEnd(data []byte, at int) int {
	if n := bytes.IndexByte(data[at:], '\n'); n >= 0 {
		return at + n
	}
	return len(data)
}

// tryLine tries one line and writes it if it matches. It returns false when no more
// can be shown.
func (sc *scan) tryLine(from, end int) bool {
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
	if !sc.knownText {
		if sc.knownText = bytes.IndexByte(sc.data, 0) < 0; !sc.knownText { // a binary
			return false
		}
	}
	sc.writeTrailing(from)
	if len(sc.ends) > 0 {
		sc.ends[len(sc.ends)-1] = len(sc.out)
	}
	if len(sc.ends) == sc.maxMatches || len(sc.out) > sc.maxBytes {
		sc.more = true
		return false
	}
	before := from
	for n := 0; n < sc.context && before > sc.writtenTo; n++ {
		before = bytes.LastIndexByte(sc.data[:before-1], '\n') + 1
	}
	if sc.context > 0 && before > sc.writtenTo && len(sc.ends) > 0 {
		sc.out = append(sc.out, separator...)
	}
	for before < from {
		before = sc.writeLine(before, '-', nil)
	}
	sc.writtenTo = sc.writeLine(from, ':', loc)
	if len(sc.ends) == 0 {
		sc.firstLine = sc.lines + 1
	}
	sc.trailing = sc.context
	sc.ends = append(sc.ends, len(sc.out))
	return true
}

// separator is written where context is shown and lines are left out.
const separator = "--\n"

// writeTrailing writes the lines after the last match that are before end.
func (sc *scan) writeTrailing(end int) {
	for ; sc.trailing > 0 && sc.writtenTo < end; sc.trailing-- {
		sc.writtenTo = sc.writeLine(sc.writtenTo, '-', nil)
	}
	sc.trailing = 0
}

// writeLine writes the line at from; a long line is cut around loc. It returns the
// start of the next line.
func (sc *scan) writeLine(from int, mark byte, loc []int) (next int) {
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
	if len(line) <= MaxLine && utf8.Valid(line) {
		sc.out = append(sc.out, line...)
	} else {
		sc.out = append(sc.out, cutAround(line, at)...)
	}
	sc.out = append(sc.out, '\n')
	return end + 1
}

// cutAround returns at most MaxLine bytes of a line, including the byte at.
func cutAround(line []byte, at int) string {
	from, to := 0, len(line)
	if to > MaxLine {
		from = max(0, min(at-MaxLine/3, to-MaxLine))
		to = from + MaxLine
		for from > 0 && !utf8.RuneStart(line[from]) && to-from > MaxLine-utf8.UTFMax {
			from++
		}
		for to < len(line) && !utf8.RuneStart(line[to]) && to > from+MaxLine/2 {
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
