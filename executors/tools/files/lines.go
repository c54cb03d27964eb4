package files

import (
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/align"
)

// document is the text of a file for editing: without byte order mark, and with
// "\n" after every line. It remembers the original endings, so that String returns
// the file byte for byte.
type document struct {
	bom  bool
	text string
	crlf []bool // for each "\n" in text, whether it stands for "\r\n"; nil means all "\n"
}

// parse returns a file's text as a document.
func parse(raw string) document {
	text, bom := strings.CutPrefix(raw, executors.ByteOrderMark)
	if !strings.Contains(text, "\r\n") {
		return document{bom: bom, text: text}
	}
	d := document{bom: bom, text: unixLines(text)}
	d.crlf = make([]bool, 0, strings.Count(text, "\n"))
	for i := 0; i < len(text); i++ {
		n := strings.IndexByte(text[i:], '\n')
		if n < 0 {
			break
		}
		i += n
		d.crlf = append(d.crlf, i > 0 && text[i-1] == '\r')
	}
	return d
}

// KeepLayout returns text with the byte order mark and the line endings of old. New
// lines end like the lines that they replace.
func KeepLayout(old, text string) string {
	d := parse(old)
	return d.replace([]int{0}, len(d.text), parse(text).text).String()
}

// unixLines returns text with "\n" as every line ending.
func unixLines(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// String returns the text of the file.
func (d document) String() string {
	var b strings.Builder
	b.Grow(len(d.text) + len(d.crlf) + len(executors.ByteOrderMark))
	if d.bom {
		b.WriteString(executors.ByteOrderMark)
	}
	rest := d.text
	for _, crlf := range d.crlf {
		n := strings.IndexByte(rest, '\n')
		b.WriteString(rest[:n])
		if crlf {
			b.WriteByte('\r')
		}
		b.WriteByte('\n')
		rest = rest[n+1:]
	}
	b.WriteString(rest)
	return b.String()
}

// mostlyCRLF reports whether a new line should end in "\r\n".
func (d document) mostlyCRLF() bool {
	n := 0
	for _, crlf := range d.crlf {
		if crlf {
			n++
		}
	}
	return 2*n > len(d.crlf)
}

// replace replaces the n bytes at each offset by text. The offsets ascend and do
// not overlap. Lines that occur in the old and in the new text keep their endings;
// new ones end like the lines that they replace.
func (d document) replace(offsets []int, n int, text string) document {
	var b strings.Builder
	b.Grow(len(d.text) + len(offsets)*max(0, len(text)-n))
	out := document{bom: d.bom}
	ends, at, usual := d.crlf, 0, d.mostlyCRLF()
	for _, off := range offsets {
		before, old := d.text[at:off], d.text[off:off+n]
		b.WriteString(before)
		b.WriteString(text)
		if d.crlf != nil {
			kept, cut := strings.Count(before, "\n"), strings.Count(old, "\n")
			near := usual
			if kept+cut < len(ends) {
				near = ends[kept+cut] // of the line in which the old text ends
			}
			out.crlf = append(out.crlf, ends[:kept]...)
			out.crlf = append(out.crlf, endings(old, ends[kept:kept+cut], text, near)...)
			ends = ends[kept+cut:]
		}
		at = off + n
	}
	b.WriteString(d.text[at:])
	out.text = b.String()
	out.crlf = append(out.crlf, ends...)
	return out
}

// endings returns the endings of the lines of text, which replaces old. ends are the
// endings of old's lines; if it has none, all lines of text end like near.
func endings(old string, ends []bool, text string, near bool) []bool {
	from, to := endedLines(old), endedLines(text)
	out := make([]bool, len(to))
	if len(from) == 0 {
		for i := range out {
			out[i] = near
		}
		return out
	}
	next := 0 // the first old line that is not yet matched
	pairs := append(align.Common(from, to), align.Pair{len(from), len(to)})
	done := 0
	for _, p := range pairs {
		for i := done; i < p[1]; i++ {
			out[i] = ends[max(0, min(next+i-done, max(next, p[0])-1))]
		}
		if p[1] < len(to) {
			out[p[1]] = ends[p[0]]
		}
		next, done = p[0]+1, p[1]+1
	}
	return out
}

// endedLines returns the lines of s that end in "\n".
func endedLines(s string) []string {
	lines := strings.SplitAfter(s, "\n")
	return lines[:len(lines)-1]
}
