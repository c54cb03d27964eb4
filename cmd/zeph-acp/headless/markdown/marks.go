package markdown

import "unicode/utf8"

// marks are the places in a text where a mark may end. They are found in one pass: a search
// from each open mark would take time that grows with the square of the length.
type marks struct {
	code          map[int][]int     // the runs of backquotes by their length
	closing       map[closing][]int // the ends of emphasis
	brackets      map[int]int       // from each [ and ( to the bracket that closes it
	oddBackquotes []bool            // by index: the text before it has an odd number of backquotes
}

// closing is a kind of end: the character and number of its marks, and whether an odd number
// of backquotes precedes it.
type closing struct {
	mark          byte
	count         int
	oddBackquotes bool
}

// newMarks finds the places in one pass.
func newMarks(text string) *marks {
	m := &marks{code: map[int][]int{}, closing: map[closing][]int{}, brackets: map[int]int{}, oddBackquotes: make([]bool, len(text)+1)}
	var square, round []int // brackets that are open
	escaped := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		m.oddBackquotes[i+1] = m.oddBackquotes[i] != (c == '`')
		if first := i == 0 || text[i-1] != c; first && c == '`' {
			n := runLength(text[i:])
			m.code[n] = append(m.code[n], i)
		} else if first && (c == '*' || c == '_') {
			m.addRun(text, i)
		}
		if escaped = !escaped && i > 0 && text[i-1] == '\\'; escaped {
			continue
		}
		switch c {
		case '[':
			square = append(square, i)
		case '(':
			round = append(round, i)
		case ']':
			square = m.close(square, i)
		case ')':
			round = m.close(round, i)
		}
	}
	return m
}

// close records that the last open bracket ends at i, and returns those before it.
func (m *marks) close(open []int, i int) []int {
	if len(open) == 0 {
		return nil
	}
	m.brackets[open[len(open)-1]] = i
	return open[:len(open)-1]
}

// addRun adds the ends of emphasis that a run of marks can be: its last one, two or three. A
// mark after a space, and an underscore before a word, end nothing.
func (m *marks) addRun(text string, i int) {
	mark, length := text[i], runLength(text[i:])
	after, _ := utf8.DecodeRuneInString(text[i+length:])
	if mark == '_' && isWord(after) {
		return
	}
	for n := 1; n <= min(length, 3); n++ {
		at := i + length - n
		if at == 0 || text[at-1] == ' ' || text[at-1] == '\\' || n == 1 && length > 1 {
			continue
		}
		k := closing{mark, n, m.oddBackquotes[i]}
		m.closing[k] = append(m.closing[k], at)
	}
}

// nextCode returns the first run of n backquotes at or after from, or -1. From may only grow.
func (m *marks) nextCode(n, from int) int {
	at, rest := next(m.code[n], from)
	m.code[n] = rest
	return at
}

// nextClosing returns the end of an emphasis whose text begins at from, or -1. That text is
// not empty, and has no open code. From may only grow.
func (m *marks) nextClosing(mark byte, n, from int) int {
	k := closing{mark, n, m.oddBackquotes[from]}
	at, rest := next(m.closing[k], from+1)
	m.closing[k] = rest
	return at
}

// next returns the first place at or after from, or -1, and the places from there on.
func next(places []int, from int) (at int, rest []int) {
	for len(places) > 0 && places[0] < from {
		places = places[1:]
	}
	if len(places) == 0 {
		return -1, nil
	}
	return places[0], places
}

// runLength returns the number of equal bytes with which a text begins.
func runLength(text string) int {
	n := 1
	for n < len(text) && text[n] == text[0] {
		n++
	}
	return n
}
