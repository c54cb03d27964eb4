package logs

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// If many different records are left, similar ones are folded. Then the middle
// is cut.
const (
	foldOver       = 40       // entries beyond which similar ones are folded
	minFoldByNames = 4        // entries to fold that differ in names, paths and numbers
	minFoldByWord  = 8        // entries to fold that differ in one word
	cutOver        = 120      // entries beyond which the middle is cut
	cutBytes       = 12 << 10 // bytes beyond which the middle is cut
	cutEnds        = 25       // entries kept at each end
	maxProblems    = 300      // entries kept that report problems
)

// logFold reduces the number of entries.
type logFold struct {
	entries []*logEntry
	lossy   bool // entries were folded that differ in words
}

func (f *logFold) fold() {
	if len(f.entries) > foldOver {
		f.foldSimilar(func(e *logEntry) bool { return !e.important }, minFoldByNames, minFoldByWord)
	}
	problems := 0
	for _, e := range f.entries {
		if e.important {
			problems++
		}
	}
	if problems > maxProblems {
		f.foldSimilar(func(e *logEntry) bool { return e.important }, minFoldByWord, minFoldByWord)
	}
}

// foldSimilar folds eligible entries: at least minByNames entries that differ only in
// names and paths, or at least minByWord entries that differ in one word.
func (f *logFold) foldSimilar(eligible func(*logEntry) bool, minByNames, minByWord int) {
	var h maphash.Hash
	f.foldByKey(func(e *logEntry, keys []uint64) []uint64 {
		if !eligible(e) || strings.Contains(e.key, "\n") {
			return keys
		}
		h.Reset()
		for w := range strings.SplitSeq(e.key, " ") {
			if strings.ContainsAny(w, "#/@\\") || strings.Contains(strings.TrimRight(w, ".,:"), ".") || len(w) > 40 {
				w = "*"
			}
			h.WriteString(w)
			h.WriteByte(' ')
		}
		return append(keys, h.Sum64())
	}, minByNames)
	f.foldByKey(func(e *logEntry, keys []uint64) []uint64 {
		if !eligible(e) || strings.Contains(e.key, "\n") || len(e.key) > 1000 {
			return keys
		}
		for from := 0; from < len(e.key); {
			to := strings.IndexByte(e.key[from:], ' ')
			if to < 0 {
				to = len(e.key)
			} else {
				to += from
			}
			if from > 0 && to > from+1 { // the first word says the most
				h.Reset()
				h.WriteString(e.key[:from])
				h.WriteByte(0)
				h.WriteString(e.key[to:])
				keys = append(keys, h.Sum64())
			}
			from = to + 1
		}
		return keys
	}, minByWord)
}

// foldByKey folds entries that share a key with others, at least minimum in all, into the
// first of them. keysOf appends the hashes of the keys of an entry.
func (f *logFold) foldByKey(keysOf func(*logEntry, []uint64) []uint64, minimum int) {
	var all []uint64 // hashes of the keys of all entries
	ends := make([]int, len(f.entries))
	count := make(map[uint64]int, len(f.entries))
	for i, e := range f.entries {
		all = keysOf(e, all)
		ends[i] = len(all)
	}
	for _, k := range all {
		count[k]++
	}
	first := map[uint64]*logEntry{}
	kept := f.entries[:0]
	from := 0
	for i, e := range f.entries {
		keys := all[from:ends[i]]
		from = ends[i]
		best, most := uint64(0), minimum-1
		for _, k := range keys {
			if n := count[k]; n > most {
				best, most = k, n
			}
		}
		if most < minimum {
			kept = append(kept, e)
			continue
		}
		into := first[best]
		if into == nil {
			first[best] = e
			kept = append(kept, e)
			continue
		}
		into.records += e.records + e.uncounted
		into.lines += e.lines
		if e.lastLine > into.lastLine {
			into.lastLine, into.latest = e.lastLine, e.latest
		}
		into.showsLatest = len(into.latest) < maxRoutine && into.records > 2
		into.differInWords, f.lossy = true, true
	}
	f.entries = kept
}

// write writes the entries, without the middle of very many.
func (f *logFold) write(out *text.Lines) {
	keep := f.kept()
	omitted := 0
	for i, e := range f.entries {
		if keep != nil && !keep[i] {
			omitted += e.lines
			continue
		}
		if omitted > 0 {
			out.Write(text.Omission(omitted))
			omitted = 0
		}
		f.writeEntry(out, e)
	}
	if omitted > 0 {
		out.Write(text.Omission(omitted))
	}
}

// kept returns which entries stay, or nil if all do.
func (f *logFold) kept() []bool {
	size, problems := 0, 0
	for _, e := range f.entries {
		size += min(len(e.text), maxRoutine)
		if e.important {
			problems++
		}
	}
	if n := len(f.entries); n <= cutOver && (n <= 2*foldOver || size <= cutBytes) {
		return nil
	}
	keep := make([]bool, len(f.entries))
	seen := 0
	for i, e := range f.entries {
		ends := i < cutEnds || i >= len(keep)-cutEnds
		if !e.important {
			keep[i] = keep[i] || ends
			continue
		}
		seen++
		if seen > maxProblems-100 && seen <= problems-100 && !ends {
			continue
		}
		for near := max(0, i-2); near <= min(len(keep)-1, i+1); near++ {
			keep[near] = true
		}
	}
	for _, k := range keep {
		if !k {
			f.lossy = true
			return keep
		}
	}
	return nil
}

// Limits of one written record.
const (
	maxRoutine   = 1000 // bytes of a line that reports no problem
	maxFrames    = 16   // frames of a stack trace
	maxMoreLines = 12   // further lines of a record that reports no problem
)

// writeEntry writes one entry.
func (f *logFold) writeEntry(out *text.Lines, e *logEntry) {
	body := e.text
	if bytes.IndexByte(body, '\n') < 0 {
		if !e.important && len(body) > maxRoutine+200 {
			body = text.Shorten(body, maxRoutine)
			f.lossy = true
		}
		out.Write(append(body[:len(body):len(body)], e.suffix()...))
	} else {
		f.writeLines(out, e)
	}
	if e.showsLatest {
		first, rest, more := bytes.Cut(e.latest, []byte{'\n'})
		out.Write(append([]byte("... "), first...))
		for more {
			first, rest, more = bytes.Cut(rest, []byte{'\n'})
			out.Write(first)
		}
	}
	if e.uncounted > 0 {
		l := fmt.Appendf(nil, "... (%d more like it, with other numbers) ...", e.uncounted)
		if until := lastTime(e.text, e.latest); until != nil {
			l = append(append(l, ' '), until...)
		}
		out.Write(l)
	}
}

// writeLines writes an entry of several lines, with some of the frames of a stack
// trace.
func (f *logFold) writeLines(out *text.Lines, e *logEntry) {
	lines := bytes.Split(e.text, []byte{'\n'})
	lines[0] = append(lines[0][:len(lines[0]):len(lines[0])], e.suffix()...)
	if !e.important && len(lines) > maxMoreLines+4 {
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
