package highlight

import "strings"

// IsDiffCode reports whether a line of a unified diff belongs to the file, before or after the
// change.
func IsDiffCode(line string) bool { return line != "" && strings.IndexByte(" +-", line[0]) >= 0 }

// Diff returns the pieces of the lines of a unified diff, without their signs. Each side of a hunk
// is read in the language of the file. Other lines have no pieces.
func (l Language) Diff(lines []string) [][]Piece {
	all := make([][]Piece, len(lines))
	for from := 0; from < len(lines); {
		n := 0
		for from+n < len(lines) && IsDiffCode(lines[from+n]) {
			n++
		}
		for _, signs := range []string{" -", " +"} {
			l.side(lines[from:from+n], signs, all[from:from+n])
		}
		from += max(n, 1)
	}
	return all
}

// side reads the lines of a hunk that have one of the signs.
func (l Language) side(hunk []string, signs string, all [][]Piece) {
	var numbers []int
	var text []string
	for i, line := range hunk {
		if strings.IndexByte(signs, line[0]) >= 0 {
			numbers, text = append(numbers, i), append(text, line[1:])
		}
	}
	if len(text) == 0 {
		return
	}
	for i, pieces := range l.Code(strings.Join(text, "\n")) {
		all[numbers[i]] = pieces
	}
}
