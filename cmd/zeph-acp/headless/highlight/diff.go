package highlight

import (
	"slices"
	"strings"
)

// IsDiffCode reports whether a line of a unified diff belongs to the file, before or after the
// change.
func IsDiffCode(line string) bool { return line != "" && strings.IndexByte(" +-", line[0]) >= 0 }

// Diff returns the pieces of the lines of a unified diff, without their signs. Each side of a hunk
// is read in the language of the file. In lines that replace each other the words that differ are
// marked. Other lines have no pieces.
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
	markChanged(lines, all)
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
	code := strings.Join(text, "\n")
	before := l.before(code)
	for i, pieces := range l.Code(before + code)[strings.Count(before, "\n"):] {
		all[numbers[i]] = pieces
	}
}

// before returns a line that begins a comment or a string, if a text ends one that it has not
// begun: a hunk may begin inside of it.
func (l Language) before(text string) string {
	for _, b := range brackets {
		begin, end := b[0], b[1]
		at := strings.Index(text, end)
		if at < 0 || begin != end && strings.Contains(text[:at], begin) || begin == end && !endsFirst(text, end) {
			continue
		}
		whole := begin + "\n" + text[:at+len(end)]
		if !slices.ContainsFunc(l.Code(whole), func(line []Piece) bool {
			return len(line) > 0 && line[0].Class != Comment && line[0].Class != String
		}) {
			return begin + "\n"
		}
	}
	return ""
}

// endsFirst reports whether the first quotes of a text end a string: they have no partner, and stand on a
// line of their own that does not follow the head of a function.
func endsFirst(text, quotes string) bool {
	before, after, _ := strings.Cut(text, quotes)
	end := strings.LastIndexByte(before, '\n') + 1
	head, line := before[:end], before[end:]
	rest, _, _ := strings.Cut(after, "\n")
	return len(quotes) > 1 && strings.Count(text, quotes)%2 == 1 && strings.TrimSpace(line+rest) == "" &&
		!strings.HasSuffix(strings.TrimSpace(head), ":")
}
