package text

import "bytes"

// ShortStat appends a line of git's statistics of changed files without
// padding, and with one sign each for additions and deletions: " a/file.go | 12
// +++++++-----" becomes " a/file.go | 12 +-". It reports false for other lines.
func ShortStat(dst, l []byte) ([]byte, bool) {
	if len(l) < 6 || l[0] != ' ' || l[1] == ' ' {
		return dst, false
	}
	bar := bytes.LastIndex(l, []byte(" | "))
	if bar < 2 {
		return dst, false
	}
	name := bytes.TrimRight(l[1:bar], " ")
	rest := bytes.TrimLeft(l[bar+3:], " ")
	dst = append(append(append(dst, ' '), name...), " | "...)
	if bytes.HasPrefix(rest, []byte("Bin")) {
		return append(dst, bytes.TrimRight(rest, " ")...), true
	}
	digits := 0
	for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
		digits++
	}
	if digits == 0 {
		return dst, false
	}
	dst = append(dst, rest[:digits]...)
	graph := bytes.TrimSpace(rest[digits:])
	plus := len(graph) - len(bytes.TrimLeft(graph, "+"))
	if minus := graph[plus:]; len(bytes.Trim(minus, "-")) > 0 {
		return dst, false
	}
	if len(graph) > 0 {
		dst = append(dst, ' ')
	}
	if plus > 0 {
		dst = append(dst, '+')
	}
	if plus < len(graph) {
		dst = append(dst, '-')
	}
	return dst, true
}

// IsStatSum reports whether a line sums up the statistics of changed files.
func IsStatSum(l []byte) bool {
	l = bytes.TrimLeft(l, " ")
	n := 0
	for n < len(l) && l[n] >= '0' && l[n] <= '9' {
		n++
	}
	return n > 0 && (bytes.HasPrefix(l[n:], []byte(" file changed")) || bytes.HasPrefix(l[n:], []byte(" files changed")))
}
