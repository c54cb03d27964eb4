package files

import (
	"fmt"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// maxDiff bounds the diffs of one call, in bytes of JSON: a call's frame also
// carries its input and stays under 1 MiB.
const maxDiff = 256 << 10

// clientDiffs returns the diffs for the client: the whole texts, or the hunks around the
// change if the texts are large.
func clientDiffs(path string, before *string, after string) []executors.Diff {
	whole := executors.Diff{Path: path, New: validUTF8(after)}
	size := jsonSize(whole.New)
	if before != nil {
		text := validUTF8(*before)
		whole.Old = &text
		size += jsonSize(text)
	}
	if size <= maxDiff {
		return []executors.Diff{whole}
	}
	if before == nil {
		whole.New = cutJSON(whole.New, maxDiff)
		return []executors.Diff{whole}
	}
	return hunks(path, *whole.Old, whole.New)
}

// hunks returns the changed parts with some lines around them, as many as fit.
func hunks(path, before, after string) []executors.Diff {
	var all []executors.Diff
	left := maxDiff
	for _, h := range splitUnified(string(diff.Diff("a", []byte(before), "b", []byte(after)))) {
		if size := jsonSize(h.old) + jsonSize(h.new); size > left {
			h.old, h.new = cutJSON(h.old, left/2), cutJSON(h.new, left/2)
		}
		left -= jsonSize(h.old) + jsonSize(h.new)
		all = append(all, executors.Diff{Path: path, Old: &h.old, New: h.new})
		if left < 1<<10 { // too little for another hunk
			break
		}
	}
	return all
}

// hunk is one changed part, before and after.
type hunk struct{ old, new string }

// splitUnified parses a unified diff. The library returns only its text, but every library that
// returns hunks performs worse on files of 20,000 lines. The port of gopls' diff (go-udiff) merges
// changes into a few very large hunks after the first hundred. go-difflib and gotextdiff need 50 to
// 350 times as long for 400 changes. go-diff needs eight seconds for a file whose every line has
// changed.
func splitUnified(text string) []hunk {
	var all []hunk
	var before, after strings.Builder
	end := func() {
		if before.Len()+after.Len() > 0 {
			all = append(all, hunk{before.String(), after.String()})
		}
		before.Reset()
		after.Reset()
	}
	_, text, _ = strings.Cut(text, "\n@@") // after the names of the files
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines[1:] {
		if i+2 < len(lines) && strings.HasPrefix(lines[i+2], `\`) { // "\ No newline at end of file"
			line = strings.TrimSuffix(line, "\n")
		}
		switch {
		case strings.HasPrefix(line, "@@"):
			end()
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
func cutJSON(s string, maxBytes int) string {
	n := 0
	for i := range len(s) {
		if n += 1 + escapeGrowth(s[i]); n > maxBytes {
			return cutText(s, max(0, i-64))
		}
	}
	return s
}

// cutText truncates s to n bytes, and marks the cut.
func cutText(s string, n int) string {
	if len(s) <= n {
		return s
	}
	head := line.Prefix(s, n)
	return fmt.Sprintf("%s\n[… %s]\n", head, quantity.Count(len(s)-len(head), "more byte"))
}
