package gitpatch

import (
	"fmt"
	"strings"
)

// Hunks returns the hunks of a patch of one file, with the unchanged lines around them. It is empty if the patch
// changes no text.
func Hunks(patch string) (parts []Part) {
	var old, current strings.Builder
	end := func() {
		if n := len(parts) - 1; n >= 0 {
			parts[n].Old, parts[n].New = old.String(), current.String()
		}
		old.Reset()
		current.Reset()
	}
	var last byte // the first character of the line before
	for line := range strings.Lines(patch) {
		if oldLine, newLine, ok := hunkStart(line); ok {
			end()
			parts = append(parts, Part{OldLine: oldLine, NewLine: newLine})
			last = 0
			continue
		}
		if len(parts) == 0 {
			continue // in the header
		}
		text := line[1:]
		switch line[0] {
		case '-':
			old.WriteString(text)
		case '+':
			current.WriteString(text)
		case ' ':
			old.WriteString(text)
			current.WriteString(text)
		case '\\': // the line before has no newline
			if last != '+' {
				trimNewline(&old)
			}
			if last != '-' {
				trimNewline(&current)
			}
		}
		last = line[0]
	}
	end()
	return parts
}

// hunkStart returns the lines at which a hunk begins. In an empty range it is the line before.
func hunkStart(line string) (oldLine, newLine int, ok bool) {
	if !strings.HasPrefix(line, "@@ -") {
		return 0, 0, false
	}
	fields := strings.Fields(line)
	if len(fields) < 4 {
		return 0, 0, false
	}
	start := func(span string) (n int) {
		_, _ = fmt.Sscan(strings.SplitN(span[1:], ",", 2)[0], &n) // otherwise it stays 0
		return n
	}
	return start(fields[1]), start(fields[2]), true
}

func trimNewline(b *strings.Builder) {
	text := strings.TrimSuffix(b.String(), "\n")
	b.Reset()
	b.WriteString(text)
}
