package headless

import (
	"fmt"
	"slices"
	"strings"
)

// The extents of long texts in a terminal.
var (
	foldCommand = extent{10, 10} // of a command's output
	foldText    = extent{7, 3}   // of another result
	foldDiff    = extent{45, 15} // of a change that needs no permission
)

// maxLine is the longest line that a terminal shows in full, in bytes: a larger one is
// data, such as minified code.
const maxLine = 500

// extent is the number of lines that are shown of a long text, at its beginning and its end.
type extent struct{ head, tail int }

// fold shows the beginning of a text whose lines come one by one, and keeps its end.
type fold struct {
	extent
	seen int      // lines
	kept []string // the last lines that are not shown
}

// add reports whether the next line belongs to the beginning. Otherwise it keeps the line.
func (f *fold) add(line string) (show bool) {
	if f.seen++; f.seen <= f.head {
		return true
	}
	// One line more, since "1 more line" would take as much space.
	if f.kept = append(f.kept, line); len(f.kept) > f.tail+1 {
		f.kept = slices.Delete(f.kept, 0, 1)
	}
	return false
}

// rest returns the end of the text, and how many lines are missing before it.
func (f *fold) rest() (missing int, last []string) {
	missing, last = f.seen-f.head-len(f.kept), f.kept
	if missing > 0 {
		missing, last = missing+1, last[1:]
	}
	return max(missing, 0), last
}

// foldLines returns the lines of a text as a terminal shows them, with one in place of those that
// are missing.
func foldLines[T any](lines []T, e extent, leftOut func(missing int) T) []T {
	missing := len(lines) - e.head - e.tail
	if missing <= 1 { // "1 more line" would take as much space
		return lines
	}
	all := append(slices.Clone(lines[:e.head]), leftOut(missing))
	return append(all, lines[len(lines)-e.tail:]...)
}

// leftOut returns a line in place of a number of lines, with the command that shows them.
func (s *Screen) leftOut(lines int) string {
	s.folded = true
	all := s.More
	if all == "" && s.session != "" {
		all = ": zeph-acp sessions show " + s.session[:min(8, len(s.session))] + " | less"
	}
	return fmt.Sprintf("… %s more lines%s", thousands(lines), all)
}

// thousands returns a number with commas.
func thousands(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// shortened returns a line as a terminal shows it.
func shortened(line string) string {
	if len(line) <= maxLine {
		return line
	}
	head := strings.ToValidUTF8(line[:maxLine], "")
	return fmt.Sprintf("%s … (%s bytes more)", head, thousands(len(line)-len(head)))
}

// overwritten returns a line as a terminal shows it in the end: a program that prints \r
// writes it again.
func overwritten(line string) string {
	line = strings.TrimRight(line, "\r")
	return line[strings.LastIndexByte(line, '\r')+1:]
}
