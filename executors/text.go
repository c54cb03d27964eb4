package executors

import (
	"bytes"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// JoinLines returns the non-empty parts, each starting on its own line.
func JoinLines(parts ...string) string {
	var b strings.Builder
	last := byte('\n')
	for _, p := range parts {
		if p == "" {
			continue
		}
		if last != '\n' {
			b.WriteByte('\n')
		}
		b.WriteString(p)
		last = p[len(p)-1]
	}
	return b.String()
}

// markRoom is the room in runes for the marks of a cut.
const markRoom = 80

// Bound truncates s to at most limit runes: its head and its tail, in whole lines
// if lines are short, around a line that says how much is missing. cut reports whether
// text differs from s.
func Bound(s string, limit int) (text string, cut bool) { return BoundPart(s, limit, false) }

// BoundPart is like [Bound]; more means that a part of s is missing already.
func BoundPart(s string, limit int, more bool) (text string, cut bool) {
	if len(s) <= limit || utf8.RuneCountInString(s) <= limit {
		return s, false
	}
	e, missing := endsOf(s, max(limit-markRoom, 0))
	return e.bounded(utf8.RuneCountInString(missing), strings.Count(missing, "\n"), more, limit), true
}

// BoundReader truncates a text as BoundPart does, without loading all of it.
func BoundReader(text *io.SectionReader, limit int, more bool) (bounded string, cut bool) {
	size := text.Size()
	keep := max(limit-markRoom, 0)
	head, tail := int64(keep/2*utf8.UTFMax), int64((keep-keep/2)*utf8.UTFMax)
	if size <= int64(limit*utf8.UTFMax) || size <= head+tail {
		return BoundPart(window(text, 0, size), limit, more)
	}
	first, last := window(text, 0, head), lastRunes(window(text, size-tail, tail), keep-keep/2)
	first, last = wholeLines(first[:line.RuneOffset(first, keep/2)], last, window(text, size-int64(len(last))-1, 1))
	from, n := int64(len(first)), size-int64(len(first)+len(last))
	runes, lines := countRunes(io.NewSectionReader(text, from, n))
	e := newEnds(first, last, window(text, from, 1), window(text, from+n-1, 1))
	return e.bounded(runes, lines, more, limit), true
}

// window returns up to n bytes from an offset. It omits bytes that cannot be read or are not
// valid UTF-8.
func window(text io.ReaderAt, off, n int64) string {
	buf := make([]byte, max(n, 0))
	got, _ := text.ReadAt(buf, off)
	return strings.ToValidUTF8(string(buf[:got]), "")
}

// ReplaceMiddle returns the head and the tail of s, together at most keep runes, in
// whole lines if lines are short. Between them is the text middle, on its own lines.
func ReplaceMiddle(s string, keep int, middle string) string {
	if utf8.RuneCountInString(s) <= keep {
		return s
	}
	e, _ := endsOf(s, keep)
	return e.around(middle)
}

// ends is a text without its middle.
type ends struct {
	head, tail       string
	headCut, tailCut bool // it ends, or begins, inside a line
}

// endsOf returns the ends of a text of more than keep runes, and its middle.
func endsOf(s string, keep int) (e ends, middle string) {
	head := line.RuneOffset(s, keep/2)
	tail := line.RuneOffset(s[head:], utf8.RuneCountInString(s)-keep) + head
	first, last := wholeLines(s[:head], s[tail:], s[tail-1:tail])
	middle = s[len(first) : len(s)-len(last)]
	return newEnds(first, last, middle[:1], middle[len(middle)-1:]), middle
}

// newEnds returns a head and a tail; after and before are the bytes of the middle
// next to them.
func newEnds(head, tail, after, before string) ends {
	return ends{
		head, tail,
		head != "" && !strings.HasSuffix(head, "\n") && after != "\n",
		tail != "" && before != "\n",
	}
}

// bounded returns the ends around the line that says how much is missing, or ""
// if there is no room for that line.
func (e ends) bounded(runes, lines int, more bool, limit int) string {
	missing := quantity.CountGrouped(runes, "character")
	if lines > 0 {
		missing = quantity.CountGrouped(lines, "line") + ", " + missing
	}
	if more {
		missing = "more than " + missing
	}
	out := e.around(CutMark(missing))
	if utf8.RuneCountInString(out) > limit {
		return ""
	}
	return out
}

// around returns the ends around a middle. It marks lines that are cut.
func (e ends) around(middle string) string {
	const inside = "[…]"
	if e.headCut {
		e.head += " " + inside
	}
	if e.tailCut {
		e.tail = inside + " " + e.tail
	}
	return JoinLines(e.head, strings.TrimSuffix(middle, "\n")+"\n") + e.tail
}

// wholeLines removes a partial line from the end of a head and the beginning of a
// tail, unless that is half of it. before is the byte before the tail.
func wholeLines(head, tail, before string) (string, string) {
	if i := strings.LastIndexByte(head, '\n') + 1; i > len(head)/2 {
		head = head[:i]
	}
	if i := strings.IndexByte(tail, '\n') + 1; i > 0 && i < len(tail)/2 && before != "\n" {
		tail = tail[i:]
	}
	return head, tail
}

// lastRunes returns the last n runes of s, which may begin within a rune.
func lastRunes(s string, n int) string {
	at := len(s)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(s[:at])
		at -= size
	}
	for at < len(s) && !utf8.RuneStart(s[at]) {
		at++
	}
	return s[at:]
}

// countRunes returns the numbers of runes and of line feeds in r.
func countRunes(r io.Reader) (runes, lines int) {
	buf := make([]byte, 32<<10)
	for {
		got, err := r.Read(buf)
		for _, b := range buf[:got] {
			if utf8.RuneStart(b) {
				runes++
			}
		}
		lines += bytes.Count(buf[:got], []byte("\n"))
		if err != nil {
			return runes, lines
		}
	}
}

// CutMark returns the line that marks missing text, such as "3 bytes".
func CutMark(missing string) string {
	return "[… " + missing + " cut …]"
}

// ByteOrderMark begins some files of UTF-8 text; it is not part of the text.
const ByteOrderMark = "\uFEFF"
