package files

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/zeph-acp/zeph-acp/executors/filechange"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// maxDiff bounds the diffs of one call, in bytes of JSON: a call's frame also
// carries its input and stays under 1 MiB.
const maxDiff = 256 << 10

// textChanges returns what the client shows of a changed text file: the whole file before and after or, for a
// large file, only the lines around each change.
func textChanges(path string, before *string, after string) []filechange.Change {
	text := validUTF8(after)
	whole := filechange.Change{Op: filechange.OpOfWrite(before), Path: path, New: &text, Type: typeOf(after)}
	size := jsonSize(text)
	if before != nil {
		old := validUTF8(*before)
		whole.Old = &old
		whole.Type = cmp.Or(whole.Type, typeOf(*before))
		size += jsonSize(old)
	}
	if size <= maxDiff {
		return []filechange.Change{whole}
	}
	if before == nil {
		text, whole.Cut = cutJSON(text, maxDiff)
		return []filechange.Change{whole}
	}
	return parts(whole)
}

// typeOf returns the type of a file with this text. JSON cannot hold a text that is not UTF-8, and git shows no
// text with a zero byte.
func typeOf(text string) string {
	if !utf8.ValidString(text) || strings.Contains(text, "\x00") {
		return filechange.Binary
	}
	return ""
}

// parts returns the changed parts of a text with some lines around them, as many as fit.
func parts(whole filechange.Change) []filechange.Change {
	var all []filechange.Change
	left := maxDiff
	hunks := splitUnified(string(diff.Diff("a", []byte(*whole.Old), "b", []byte(*whole.New))))
	for i, h := range hunks {
		part, cutOld, cutNew := whole, false, false
		if size := jsonSize(h.old) + jsonSize(h.new); size > left {
			h.old, cutOld = cutJSON(h.old, left/2)
			h.new, cutNew = cutJSON(h.new, left/2)
		}
		left -= jsonSize(h.old) + jsonSize(h.new)
		full := left < 1<<10 // too little is left for another part
		part.Old, part.New, part.OldLine, part.NewLine = &h.old, &h.new, h.oldLine, h.newLine
		part.Cut = cutOld || cutNew || full && i+1 < len(hunks)
		all = append(all, part)
		if full {
			break
		}
	}
	return all
}

// hunk is one changed part, before and after, with the 1-based lines at which it begins.
type hunk struct {
	old, new         string
	oldLine, newLine int
}

// splitUnified parses a unified diff. The library returns only its text, but every library that
// returns hunks performs worse on files of 20,000 lines. The port of gopls' diff (go-udiff) merges
// changes into a few very large hunks after the first hundred. go-difflib and gotextdiff need 50 to
// 350 times as long for 400 changes. go-diff needs eight seconds for a file whose every line has
// changed.
func splitUnified(text string) []hunk {
	var all []hunk
	var at hunk
	var before, after strings.Builder
	end := func() {
		if at.old, at.new = before.String(), after.String(); at.old != "" || at.new != "" {
			all = append(all, at)
		}
		before.Reset()
		after.Reset()
	}
	begin := func(header string) { // such as " -3,7 +4,8 @@"
		_, _ = fmt.Sscanf(header, " -%d,%d +%d,", &at.oldLine, new(int), &at.newLine)
	}
	_, text, _ = strings.Cut(text, "\n@@") // after the names of the files
	lines := strings.SplitAfter(text, "\n")
	begin(lines[0])
	for i, line := range lines[1:] {
		if i+2 < len(lines) && strings.HasPrefix(lines[i+2], `\`) { // "\ No newline at end of file"
			line = strings.TrimSuffix(line, "\n")
		}
		switch {
		case strings.HasPrefix(line, "@@"):
			end()
			begin(line[2:])
		case strings.HasPrefix(line, " "):
			before.WriteString(line[1:])
			after.WriteString(line[1:])
		case strings.HasPrefix(line, "-"):
			before.WriteString(line[1:])
		case strings.HasPrefix(line, "+"):
			after.WriteString(line[1:])
		}
	}
	end()
	return all
}

// validUTF8 returns text as valid UTF-8, for JSON; a binary file is shown changed.
func validUTF8(text string) string { return strings.ToValidUTF8(text, "\uFFFD") }

// jsonSize returns the size of s as a JSON string, in bytes.
func jsonSize(s string) int {
	n := len(s)
	for i := range len(s) {
		n += escapeGrowth(s[i])
	}
	return n
}

// escapeGrowth returns how many more bytes than one a byte needs in a JSON string.
func escapeGrowth(c byte) int {
	switch {
	case c == '"', c == '\\', c == '\n', c == '\r', c == '\t':
		return 1
	case c < ' ':
		return 5
	}
	return 0
}

// cutJSON truncates s to maxBytes bytes of JSON, and marks the cut.
func cutJSON(s string, maxBytes int) (text string, cut bool) {
	n := 0
	for i := range len(s) {
		if n += 1 + escapeGrowth(s[i]); n > maxBytes {
			return cutText(s, max(0, i-64)), true
		}
	}
	return s, false
}

// cutText truncates s to n bytes, and marks the cut.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	head := line.Prefix(s, n)
	return fmt.Sprintf("%s\n[… %s]\n", head, quantity.Count(len(s)-len(head), "more byte"))
}
