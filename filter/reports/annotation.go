package reports

import (
	"bytes"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// annotation decodes an annotation of a workflow: "::error file=a.py,line=1,col=8,title=F401::message".
// Source: https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands
func (d *Decoder) annotation(l []byte) {
	head, message, ok := strings.Cut(string(l[2:]), "::")
	level, list, _ := strings.Cut(head, " ")
	f := problem{severity: level}
	switch level {
	case "error", "warning", "notice":
	default:
		ok = false
	}
	title := ""
	for pair := range strings.SplitSeq(list, ",") {
		key, value, _ := strings.Cut(pair, "=")
		value = unescapeProperty.Replace(value)
		switch key {
		case "file":
			f.file = value
		case "line":
			f.line = value
		case "col", "column":
			f.column = value
		case "title":
			title = value
		}
	}
	if !ok || f.file == "" || message == "" {
		d.Emit(l)
		return
	}
	f.message = unescapeMessage.Replace(message)
	first, _, _ := strings.Cut(f.message, "\n")
	name, _, _ := strings.Cut(first, ":")
	lines := f.message
	if name == "" || !strings.HasSuffix(f.file, name) { // the message does not name the place itself
		switch {
		case strings.HasSuffix(f.file, title), strings.Contains(f.message, title): // says no more
		case strings.ContainsAny(title, " \n"):
			f.message = title + ": " + f.message
		default:
			f.rule = title
		}
		var w problemWriter
		w.write(f)
		lines = strings.TrimPrefix(string(w.lines), "\n")
	}
	d.Decoded = true
	for line := range bytes.Lines(text.Sanitize([]byte(lines))) {
		d.Emit(bytes.TrimSuffix(line, []byte("\n")))
	}
}

var (
	unescapeMessage  = strings.NewReplacer("%25", "%", "%0D", "\r", "%0A", "\n")
	unescapeProperty = strings.NewReplacer("%25", "%", "%0D", "\r", "%0A", "\n", "%3A", ":", "%2C", ",")
)
