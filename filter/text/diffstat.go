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
	digits := DigitsEnd(rest, 0)
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
	n := DigitsEnd(l, 0)
	return n > 0 && (bytes.HasPrefix(l[n:], []byte(" file changed")) || bytes.HasPrefix(l[n:], []byte(" files changed")))
}
