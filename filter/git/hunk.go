package git

import (
	"bytes"
	"strconv"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// hunk is a hunk of a diff, held until it is complete.
type hunk struct {
	open               bool // lines may be added
	oldStart, oldCount int  // first line, 1-based, and number of lines
	newStart, newCount int
	header             []byte // its first line
	heading            []byte // the text after the numbers of header
	text               []byte // its other lines, without line feeds
	ends               []int  // end of each line in text
}

// maxHunk is the largest hunk that is processed as a whole, in bytes.
const maxHunk = 1 << 20

// parseHunk reads "@@ -12,7 +12,9 @@ heading".
func parseHunk(l []byte) (h hunk, ok bool) {
	rest, ok := bytes.CutPrefix(l, []byte("@@ -"))
	if !ok {
		return h, false
	}
	if h.oldStart, h.oldCount, rest, ok = parseSpan(rest); !ok {
		return h, false
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(" +")); !ok {
		return h, false
	}
	if h.newStart, h.newCount, rest, ok = parseSpan(rest); !ok {
		return h, false
	}
	if rest, ok = bytes.CutPrefix(rest, []byte(" @@")); !ok {
		return h, false
	}
	h.header = bytes.Clone(l)
	h.heading = h.header[len(l)-len(rest):]
	return h, true
}

// parseSpan parses "12,7", or "12" for one line.
func parseSpan(b []byte) (start, count int, rest []byte, ok bool) {
	if start, b, ok = leadingNumber(b); !ok {
		return 0, 0, nil, false
	}
	if len(b) == 0 || b[0] != ',' {
		return start, 1, b, true
	}
	count, b, ok = leadingNumber(b[1:])
	return start, count, b, ok
}

func leadingNumber(b []byte) (n int, rest []byte, ok bool) {
	for len(b) > 0 && b[0] >= '0' && b[0] <= '9' && n < 1<<40 {
		n, b, ok = n*10+int(b[0]-'0'), b[1:], true
	}
	return n, b, ok
}

// add adds a line. It reports false if the hunk is too long.
func (h *hunk) add(l []byte) bool {
	h.text = append(h.text, l...)
	h.ends = append(h.ends, len(h.text))
	return len(h.text) <= maxHunk
}

func (h *hunk) line(i int) []byte {
	if i == 0 {
		return h.text[:h.ends[0]]
	}
	return h.text[h.ends[i-1]:h.ends[i]]
}

// writeWhole writes the whole hunk.
func (h *hunk) writeWhole(write func([]byte)) {
	write(h.header)
	for i := range h.ends {
		write(h.line(i))
	}
}

// writeTrimmed writes the hunk with less context, as git would with a smaller
// --unified. If lines between two changes are left out, they become two hunks.
// An incomplete hunk stays unchanged, since the numbers of its lines are
// uncertain.
func (h *hunk) writeTrimmed(context int, write func([]byte)) {
	oldLines, newLines := 0, 0
	for i := range h.ends {
		switch lineSign(h.line(i)) {
		case ' ':
			oldLines, newLines = oldLines+1, newLines+1
		case '+':
			newLines++
		case '-':
			oldLines++
		}
	}
	if oldLines != h.oldCount || newLines != h.newCount || oldLines == 0 || newLines == 0 || h.nextChange(0) == len(h.ends) {
		h.writeWhole(write)
		return
	}
	oldAt, newAt := h.oldStart, h.newStart // numbers of the next line
	heading := h.heading
	for i := 0; i < len(h.ends); {
		first := h.nextChange(i)
		if first == len(h.ends) {
			break
		}
		from := max(i, first-context)
		for ; i < from; i++ { // context
			heading = headingAfter(h.line(i), heading)
			oldAt, newAt = oldAt+1, newAt+1
		}
		to := h.contextEnd(first, context)
		part := hunk{oldStart: oldAt, newStart: newAt}
		last := heading
		for j := from; j < to; j++ {
			l := h.line(j)
			s := lineSign(l)
			if s == ' ' || s == '-' {
				part.oldCount++
				last = headingAfter(l, last)
			}
			if s == ' ' || s == '+' {
				part.newCount++
			}
		}
		if from == 0 && to == len(h.ends) {
			h.writeWhole(write)
			return
		}
		write(part.newHeader(heading))
		for j := from; j < to; j++ {
			write(h.line(j))
		}
		heading, i = last, to
		oldAt, newAt = oldAt+part.oldCount, newAt+part.newCount
	}
}

// nextChange returns the index of the first changed line from i on.
func (h *hunk) nextChange(i int) int {
	for i < len(h.ends) && h.sign(i) == ' ' {
		i++
	}
	return i
}

// contextEnd returns the end of the context after a change. It ends before the
// context of the next change.
func (h *hunk) contextEnd(i, context int) int {
	for {
		for i < len(h.ends) && h.sign(i) != ' ' {
			i++
		}
		next := h.nextChange(i)
		if next == len(h.ends) || next-i > 2*context {
			i = min(i+context, next)
			if i < len(h.ends) && lineSign(h.line(i)) == '\\' {
				i++
			}
			return i
		}
		i = next
	}
}

// sign returns the sign of a line. The line about a missing line feed has the
// sign of the line before it.
func (h *hunk) sign(i int) byte {
	s := lineSign(h.line(i))
	if s == '\\' && i > 0 {
		s = lineSign(h.line(i - 1))
	}
	return s
}

// newHeader returns the first line of the hunk.
func (h *hunk) newHeader(heading []byte) []byte {
	// A side without lines in the hunk is numbered by the line before.
	start := func(at, count int) int {
		if count == 0 {
			return at - 1
		}
		return at
	}
	l := appendSpan([]byte("@@ -"), start(h.oldStart, h.oldCount), h.oldCount)
	l = appendSpan(append(l, " +"...), start(h.newStart, h.newCount), h.newCount)
	return append(append(l, " @@"...), heading...)
}

func appendSpan(l []byte, start, count int) []byte {
	l = strconv.AppendInt(l, int64(start), 10)
	if count != 1 {
		l = strconv.AppendInt(append(l, ','), int64(count), 10)
	}
	return l
}

// lineSign returns the first byte of a line of a hunk.
func lineSign(l []byte) byte {
	if len(l) == 0 {
		return ' '
	}
	return l[0]
}

// headingAfter returns the heading of a hunk that begins after a line, as git
// chooses it: the line, if it begins with a letter, or else the heading before.
func headingAfter(l, before []byte) []byte {
	const maxHeading = 80 // bytes
	if len(l) < 2 || !text.IsLetter(l[1]) && l[1] != '_' && l[1] != '$' {
		return before
	}
	return append([]byte(" "), bytes.TrimRight(l[1:min(len(l), 1+maxHeading)], " ")...)
}
