// Package line shortens texts for a line on the screen or in a message. Its functions never
// cut a character.
package line

import (
	"strings"
	"unicode/utf8"
)

// Join returns a text on one line: each run of white space becomes a blank.
func Join(text string) string { return strings.Join(strings.Fields(text), " ") }

// First returns the first line of a text that is not blank.
func First(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return first
}

// RuneOffset returns the byte offset of the rune with index n.
func RuneOffset(s string, n int) int {
	for i := range s {
		if n <= 0 {
			return i
		}
		n--
	}
	return len(s)
}

// Prefix returns at most the first n bytes of s, and no part of a character.
func Prefix(s string, n int) string {
	n = min(n, len(s))
	for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Truncate returns at most the first n bytes of s, and no part of a character. It marks a cut
// by "…".
func Truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return Prefix(s, n) + "…"
}

// TruncateRunes returns at most the first n characters of s. It marks a cut by "…".
func TruncateRunes(s string, n int) string {
	if at := RuneOffset(s, n); at < len(s) {
		return s[:at] + "…"
	}
	return s
}
