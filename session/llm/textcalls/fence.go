package textcalls

import (
	"strings"
)

// fence is the opening line of a fenced block as in CommonMark: three or more backticks
// or tildes, indented by at most three spaces. Size 0 means that there is no block.
type fence struct {
	mark         byte // ` or ~
	size, indent int
	lang         string // first word of the info string, lower case
	line         int    // 1-based
}

// openFence returns the fence that a line is; its size is 0 if the line is no fence.
func openFence(line string) fence {
	f := fence{indent: len(line) - len(strings.TrimLeft(line, " "))}
	rest := line[f.indent:]
	if len(line) > maxOpening || f.indent > 3 || rest == "" || rest[0] != '`' && rest[0] != '~' {
		return fence{}
	}
	f.mark = rest[0]
	info := strings.TrimLeft(rest, rest[:1])
	f.size = len(rest) - len(info)
	if f.size < 3 || f.mark == '`' && strings.Contains(info, "`") { // backticks in the info string make it inline code
		return fence{}
	}
	if words := strings.Fields(info); len(words) > 0 {
		f.lang = strings.ToLower(words[0])
	}
	return f
}

// mayBeFence reports whether a line that begins so can still become a fence.
func mayBeFence(begin string) bool {
	rest := strings.TrimLeft(begin, " ")
	switch {
	case len(begin) > maxOpening, len(begin)-len(rest) > 3:
		return false
	case rest == "":
		return true
	case rest[0] != '`' && rest[0] != '~':
		return false
	}
	info := strings.TrimLeft(rest, rest[:1])
	return info == "" || len(rest)-len(info) >= 3 && (rest[0] == '~' || !strings.Contains(info, "`"))
}

// closedBy reports whether a line closes the block: at least as many of the same mark,
// and nothing else.
func (f fence) closedBy(line string) bool {
	c := openFence(line)
	return c.mark == f.mark && c.size >= f.size && c.lang == ""
}

// fenced wraps text into a block that no line of it can close.
func fenced(lang, text string) string {
	longest, run := 2, 0
	for _, c := range []byte(text) {
		if run++; c != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	marks := strings.Repeat("`", longest+1)
	return marks + lang + "\n" + text + "\n" + marks
}

// cutIndent removes up to n leading spaces, the indent of the fence.
func cutIndent(line string, n int) string {
	for n > 0 && strings.HasPrefix(line, " ") {
		line, n = line[1:], n-1
	}
	return line
}
