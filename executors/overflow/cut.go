package overflow

import (
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
)

const (
	// markRoom is the room for the marks of a cut, in characters.
	markRoom = 80
	inside   = "[…]" // marks a line that was cut
)

// cut truncates a text to at most limit characters: its head and its tail, in whole
// lines, around a line that says how much is missing. If whole lines would leave
// less than half of either, it cuts inside a line, and marks that.
func cut(text string, limit int) string {
	n := utf8.RuneCountInString(text)
	if n <= limit {
		return text
	}
	return bothEnds(text, max(limit-markRoom, 0), func(missing string) string {
		lines := ""
		if n := strings.Count(missing, "\n"); n > 0 {
			lines = counted(n, "line") + ", "
		}
		return "[… " + lines + counted(utf8.RuneCountInString(missing), "character") + " cut …]\n"
	})
}

// bothEnds returns the head and the tail of a text, together at most room
// characters. Between them are the whole lines that middle returns for the missing
// text.
func bothEnds(text string, room int, middle func(missing string) string) string {
	h, t, hWhole, tWhole := ends(text, room)
	mid := middle(text[h:t])
	var b strings.Builder
	b.Grow(h + len(mid) + len(text) - t + 2*len(inside) + 3)
	b.WriteString(text[:h])
	if !hWhole {
		b.WriteString(" " + inside)
	}
	if s := b.String(); s != "" && !strings.HasSuffix(s, "\n") {
		b.WriteByte('\n')
	}
	b.WriteString(mid)
	if !tWhole {
		b.WriteString(inside + " ")
	}
	b.WriteString(text[t:])
	return b.String()
}

// ends returns the end of the head of a text and the start of its tail, together at
// most room characters, and reports which of them consists of whole lines.
func ends(text string, room int) (h, t int, hWhole, tWhole bool) {
	head := room / 2
	h, hWhole = headEnd(text, executors.RuneOffset(text, head))
	t, tWhole = tailStart(text, h+executors.RuneOffset(text[h:], utf8.RuneCountInString(text[h:])-(room-head)))
	return h, t, hWhole, tWhole
}

// headEnd moves the end of a head back to the end of a line, if one is near.
func headEnd(text string, at int) (end int, whole bool) {
	if at == 0 || text[at-1] == '\n' {
		return at, true
	}
	if i := strings.LastIndexByte(text[:at], '\n') + 1; i > at/2 {
		return i, true
	}
	return at, false
}

// tailStart moves the start of a tail on to the start of a line, if one is near.
func tailStart(text string, at int) (start int, whole bool) {
	if at == 0 || at == len(text) || text[at-1] == '\n' {
		return at, true
	}
	if i := strings.IndexByte(text[at:], '\n') + 1; i > 0 && i < (len(text)-at)/2 {
		return at + i, true
	}
	return at, false
}
