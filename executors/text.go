package executors

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
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

// markRoom is the room in runes for the line that marks a cut.
const markRoom = 64

// Bound truncates s to at most limit runes: its head and its tail, in whole lines
// if lines are short, around a line that says how much is missing. more means that
// a part of s is missing already. cut reports whether text differs from s.
func Bound(s string, limit int, more bool) (text string, cut bool) {
	if len(s) <= limit {
		return s, false
	}
	n := utf8.RuneCountInString(s)
	if n <= limit {
		return s, false
	}
	keep := max(limit-markRoom, 0)
	head := RuneOffset(s, keep/2)
	tail := RuneOffset(s[head:], n-keep) + head // n-keep runes lie between
	first, last := wholeLines(s[:head], s[tail:])
	missing := utf8.RuneCountInString(s[len(first) : len(s)-len(last)])
	return around(first, int64(missing), more, last, limit)
}

// Bound truncates the text of the Spool as the function Bound does, without
// loading all of it.
func (s *Spool) Bound(limit int, more bool) (text string, cut bool) {
	size := s.Size()
	keep := max(limit-markRoom, 0)
	head, tail := int64(keep/2*utf8.UTFMax), int64((keep-keep/2)*utf8.UTFMax)
	if size <= int64(limit*utf8.UTFMax) || size <= head+tail {
		return Bound(s.Window(0, size), limit, more)
	}
	first, last := s.Window(0, head), s.Window(size-tail, tail)
	first, last = wholeLines(first[:RuneOffset(first, keep/2)], lastRunes(last, keep-keep/2))
	missing := countRunes(io.NewSectionReader(s, int64(len(first)), size-int64(len(first)+len(last))))
	return around(first, missing, more, last, limit)
}

// around returns a head and a tail around the line that says how much is missing,
// or "" if there is no room for that line.
func around(head string, missing int64, more bool, tail string, limit int) (string, bool) {
	out := JoinLines(head, CutMark(missing, "characters", more)+"\n") + tail
	if head == "" && tail == "" && limit < utf8.RuneCountInString(out) {
		return "", true
	}
	return out, true
}

// wholeLines removes a partial line from the end of a head and the beginning of a
// tail, unless that is half of it.
func wholeLines(head, tail string) (string, string) {
	if i := strings.LastIndexByte(head, '\n') + 1; i > len(head)/2 {
		head = head[:i]
	}
	if i := strings.IndexByte(tail, '\n') + 1; i > 0 && i < len(tail)/2 {
		tail = tail[i:]
	}
	return head, tail
}

// RuneOffset returns the byte offset of the rune with index n.
func RuneOffset(s string, n int) int {
	for i := range s {
		if n <= 0 {
			return i
		}
		n--
	}
	return len(s)
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

// countRunes returns the number of runes in r.
func countRunes(r io.Reader) (n int64) {
	buf := make([]byte, 32<<10)
	for {
		got, err := r.Read(buf)
		for _, b := range buf[:got] {
			if utf8.RuneStart(b) {
				n++
			}
		}
		if err != nil {
			return n
		}
	}
}

// CutMark returns the line that marks missing text.
func CutMark(n int64, unit string, more bool) string {
	least := ""
	if more {
		least = "more than "
	}
	return fmt.Sprintf("[… %s%s %s cut …]", least, Grouped(n), unit)
}

// Count returns a number with a noun, such as "1 line", "3 lines" or "2 entries".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if strings.HasSuffix(noun, "ch") {
		noun += "e"
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		noun = stem + "ie"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// ByteOrderMark begins some files of UTF-8 text; it is not part of the text.
const ByteOrderMark = "\uFEFF"

// Grouped writes 1234567 as 1,234,567.
func Grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
