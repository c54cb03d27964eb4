package logs

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// logItem is a record or a mark to be written at its place in the log.
type logItem struct {
	shown
	suffix    []byte
	important bool
	omitted   int // lines left out here; there is no record
}

// write writes the entries, without the middle of very many.
func (f *logFold) write(out *text.Lines) {
	keep := f.kept()
	var items []logItem
	for i, e := range f.entries {
		if keep != nil && !keep[i] {
			items = append(items, logItem{shown: shown{at: e.at}, omitted: e.lines})
			continue
		}
		items = e.items(items)
	}
	slices.SortStableFunc(items, func(a, b logItem) int { return cmp.Compare(a.at, b.at) })
	omitted := 0
	for _, i := range items {
		if i.omitted > 0 {
			omitted += i.omitted
			continue
		}
		if omitted > 0 {
			out.Write(text.Omission(omitted))
			omitted = 0
		}
		f.writeRecord(out, i)
	}
	if omitted > 0 {
		out.Write(text.Omission(omitted))
	}
}

// patterns returns the number of different records of an entry, without those that are only counted.
func (e *logEntry) patterns() int {
	switch {
	case e.aside:
		return 0
	case e.joined():
		return 1
	}
	return len(e.variants)
}

// joined reports whether one record stands for all of the entry.
func (e *logEntry) joined() bool {
	return e.differInWords || e.similar && e.maxVariants == routineVariants
}

// items appends what is written for an entry.
func (e *logEntry) items(items []logItem) []logItem {
	from := len(items)
	if !e.joined() {
		for _, v := range e.variants {
			items = append(items, logItem{shown: v.shown, suffix: v.suffix(), important: e.important})
		}
		if e.aside {
			return append(items, logItem{shown: e.shown, important: true})
		}
		if e.more == 0 {
			return items
		}
		mark := append(append([]byte("... "), bytes.TrimLeft(e.similarSuffix(e.more), " ")...), " ..."...)
		items = append(items, logItem{shown: shown{append(mark, until(e.text, e.latest.text)...), e.uncounted.at}, important: true})
	} else {
		last := e.latest.text
		items = append(items, logItem{shown: e.shown, suffix: append(e.similarSuffix(e.records), until(e.text, last)...), important: e.important})
	}
	for i := range e.stats {
		if s := &e.stats[i]; s.kind == text.Measure && s.varies() {
			items = e.addMarked(items, from, s.min.record, "min "+s.name)
			items = e.addMarked(items, from, s.max.record, "max "+s.name)
		}
	}
	if e.latest.at < e.lastAt || e.differInWords { // the suffix has the last name
		return items
	}
	return e.addMarked(items, from, e.latest, "last")
}

// addMarked appends one of the similar records, unless it is among the items already.
func (e *logEntry) addMarked(items []logItem, from int, record shown, why string) []logItem {
	if len(record.text) == 0 || len(record.text) >= maxRoutine || bytes.Count(record.text, []byte{'\n'}) > 3 {
		return items
	}
	why = string(bytes.TrimSpace([]byte(why)))
	for i := range items[from:] {
		if it := &items[from+i]; it.at == record.at && it.text != nil && !bytes.HasPrefix(it.text, []byte("... (")) {
			if n := len(it.suffix); n > 0 && bytes.HasSuffix(it.suffix, []byte("]")) && why != "last" {
				it.suffix = append(append(it.suffix[:n-1], ", "+why...), ']')
			}
			return items
		}
	}
	return append(items, logItem{shown: record, suffix: []byte(" [" + why + "]"), important: e.important})
}

// suffix returns how often equal records occurred, or similar ones if their ids differ, and the time of the last.
func (v *variant) suffix() []byte {
	if v.records == 1 {
		return nil
	}
	form := " (x%d)"
	if v.differ {
		form = " (%d similar)"
	}
	return append(fmt.Appendf(nil, form, v.records), until(v.text, v.latest)...)
}

// maxRanges limits the ranges of an entry that are written.
const maxRanges = 8

// similarSuffix returns how many records are similar, and the ranges of their numbers.
func (e *logEntry) similarSuffix(records int) []byte {
	b := fmt.Appendf(nil, " (%d similar", records)
	sep := ": "
	ranges := 0
	for i := range e.stats {
		s := &e.stats[i]
		if !s.varies() || i > 0 && s.kind == text.Name && e.stats[i-1].kind == text.Name && bytes.Equal(s.max.text, e.stats[i-1].max.text) { // two numbers of one name
			continue
		}
		if ranges++; ranges > maxRanges {
			b = append(b, ", …"...)
			break
		}
		b = append(b, sep...)
		if s.name != "" {
			b = append(append(b, s.name...), ' ')
		}
		b = append(append(append(b, s.min.text...), "…"...), s.max.text...)
		sep = ", "
	}
	if e.names != nil {
		if sep == ", " {
			sep = "; "
		}
		b = e.names.append(append(b, sep...))
	}
	return append(b, ')')
}

// until returns the time of the last record, if it differs from that of the first.
func until(first, last []byte) []byte {
	if len(last) == 0 {
		return nil
	}
	if t := lastTime(first, last); t != nil {
		return append([]byte(" … "), t...)
	}
	return nil
}

// Limits of one written record.
const (
	maxRoutine   = 1000 // bytes of a line that reports no problem
	maxFrames    = 16   // frames of a stack trace
	maxMoreLines = 12   // further lines of a record that reports no problem
)

// writeRecord writes one record.
func (f *logFold) writeRecord(out *text.Lines, i logItem) {
	body := i.text
	if bytes.IndexByte(body, '\n') >= 0 {
		f.writeLines(out, body, i.suffix, i.important)
		return
	}
	if !i.important && len(body) > maxRoutine+200 {
		body = text.Shorten(body, maxRoutine)
		f.lossy = true
	}
	out.Write(append(body[:len(body):len(body)], i.suffix...))
}

// writeLines writes an entry of several lines, with some of the frames of a stack
// trace.
func (f *logFold) writeLines(out *text.Lines, body, suffix []byte, important bool) {
	lines := bytes.Split(body, []byte{'\n'})
	lines[0] = append(lines[0][:len(lines[0]):len(lines[0])], suffix...)
	if !important && len(lines) > maxMoreLines+4 {
		for _, l := range lines[:maxMoreLines] {
			out.Write(l)
		}
		out.Write(text.Omission(len(lines) - maxMoreLines - 1))
		out.Write(lines[len(lines)-1])
		f.lossy = true
		return
	}
	for i := 0; i < len(lines); {
		n := 0
		for i+n < len(lines) && isStackFrame(lines[i+n]) {
			n++
		}
		if n <= maxFrames {
			n = max(n, 1)
			for _, l := range lines[i : i+n] {
				out.Write(l)
			}
			i += n
			continue
		}
		f.lossy = true
		omitted, left := 0, maxFrames-6
		for j, l := range lines[i : i+n] {
			ownCode := !isLibraryFrame(l)
			if j >= 4 && j < n-2 && (!ownCode || left == 0) {
				omitted++
				continue
			}
			if j >= 4 && j < n-2 {
				left--
			}
			if omitted > 0 {
				out.Write(text.Omission(omitted))
				omitted = 0
			}
			out.Write(l)
		}
		i += n
	}
}

// isStackFrame reports whether a line is a frame of a stack trace.
func isStackFrame(l []byte) bool {
	return len(l) > 0 && (l[0] == ' ' || l[0] == '\t') && !text.Important(l)
}

// isLibraryFrame reports whether a frame is in a library.
func isLibraryFrame(l []byte) bool {
	l = bytes.TrimPrefix(bytes.TrimLeft(l, " \t"), []byte("at "))
	for _, p := range libraryPackages {
		if bytes.HasPrefix(l, p) {
			return true
		}
	}
	for _, p := range libraryPaths {
		if bytes.Contains(l, p) {
			return true
		}
	}
	return false
}

var (
	libraryPackages = text.ByteTexts(
		"java.", "javax.", "jakarta.", "jdk.", "sun.", "com.sun.", "org.springframework.", "org.apache.",
		"org.hibernate.", "io.netty.", "reactor.", "kotlin.", "kotlinx.", "scala.", "akka.", "org.eclipse.",
		"org.junit.", "com.fasterxml.", "System.", "Microsoft.", "java.base/", "app//org.", "net.sf.cglib.",
		"io.undertow.", "com.zaxxer.",
	)
	libraryPaths = text.ByteTexts(
		"node:internal", "node_modules", "site-packages", "dist-packages", "/usr/lib/python",
		"/usr/local/lib/python", "/rustc/", ".cargo/registry", "/usr/local/go/src/", "/go/pkg/mod/",
		"(internal/", "/gems/", "vendor/",
	)
)
