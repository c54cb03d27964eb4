package reports

import (
	"bytes"
	"encoding/json"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// maxReport is the size in bytes of the largest report that is decoded. It is held in memory.
const maxReport = 8 << 20

// Decoder decodes the reports among lines. Its methods are Line for each line and End after the last.
type Decoder struct {
	// Emit receives the lines. A line is valid until Emit returns.
	Emit func(line []byte)
	// Decoded reports that there was a report.
	Decoded bool

	failed  bool   // jest also wrote its report for people, before
	doc     []byte // the lines of a JSON text that has not ended, without line feeds
	ends    []int  // where they end
	open    int    // brackets that are open
	quoted  bool   // within a string
	escaped bool   // after a backslash in it
}

// Line handles the next line, without its line feed.
func (d *Decoder) Line(l []byte) {
	switch {
	case len(d.ends) > 0:
		d.hold(l)
	case beginsReport(l):
		d.hold(l)
	case bytes.HasPrefix(l, []byte("::")):
		d.annotation(l)
	default:
		d.failed = d.failed || bytes.HasPrefix(l, []byte("FAIL "))
		d.Emit(l)
	}
}

// End handles the end of the output, within a report that is incomplete.
func (d *Decoder) End() { d.release() }

// beginsReport reports whether a line may begin a report. Most lines that begin with a bracket are the
// text of a person, or an object without a member of a known form.
func beginsReport(l []byte) bool {
	if len(l) == 0 || l[0] != '{' && l[0] != '[' {
		return false
	}
	rest := bytes.TrimLeft(l[1:], " \t")
	switch {
	case len(rest) == 0:
		return true
	case l[0] == '[' && rest[0] != '{', l[0] == '{' && rest[0] != '"':
		return false
	}
	closed := l[len(l)-1] == ']' || l[len(l)-1] == '}'
	return !closed || len(l) > text.MaxLine/2 || hasForm(l)
}

// hold adds a line to the JSON text. A text that cannot become a report is released.
func (d *Decoder) hold(l []byte) {
	d.doc, d.ends = append(d.doc, l...), append(d.ends, len(d.doc)+len(l))
	for i, b := range l {
		switch {
		case d.escaped:
			d.escaped = false
		case d.quoted:
			d.quoted, d.escaped = b != '"', b == '\\'
		case b == '"':
			d.quoted = true
		case b == '{' || b == '[':
			d.open++
		case b == '}' || b == ']':
			if d.open--; d.open == 0 {
				d.decode(bytes.TrimSpace(l[i+1:]))
				return
			}
		}
	}
	if len(d.doc) > maxReport {
		d.release()
	}
}

// repeated is the line before failures that jest writes again.
const repeated = "Summary of all failing tests"

// decode replaces a complete JSON text by its lines. after is the rest of its last line.
func (d *Decoder) decode(after []byte) {
	var value any
	if len(after) == 0 && hasForm(d.doc) && json.Unmarshal(d.doc, &value) == nil {
		if lines, ok := linesOf(d.doc, value); ok {
			d.Decoded = true
			d.reset()
			if d.failed {
				d.Emit([]byte(repeated))
			}
			for l := range bytes.Lines(text.Sanitize(lines)) {
				d.Emit(bytes.TrimSuffix(l, []byte("\n")))
			}
			return
		}
	}
	d.release()
}

// release emits the lines of a text that is not a report.
func (d *Decoder) release() {
	doc, ends := d.doc, d.ends
	d.reset()
	from := 0
	for _, end := range ends {
		d.Emit(doc[from:end])
		from = end
	}
}

func (d *Decoder) reset() {
	d.doc, d.ends, d.open, d.quoted, d.escaped = d.doc[:0], d.ends[:0], 0, false, false
}
