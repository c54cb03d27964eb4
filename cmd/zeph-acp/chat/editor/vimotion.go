package editor

import (
	"strings"
	"unicode"
)

// Shapes of the text between the cursor and the target of a motion, for an operator.
const (
	exclusive = iota // up to the target
	inclusive        // with the character at the target
	linewise
)

// motion returns the target of a motion.
func (e *Editor) motion(c command) (to, shape int, ok bool) {
	n := max(c.count, 1)
	to = e.cursor
	start, end := e.lineStart(to), e.lineEnd(to)
	switch c.key {
	case "h":
		for i := 0; i < n && to > start; i++ {
			to = e.prev(to)
		}
	case "l", " ":
		for i := 0; i < n && to < end; i++ {
			to = e.next(to)
		}
	case "0":
		to = start
	case "^":
		to = e.firstNonBlank(start)
	case "$":
		for range n - 1 {
			end = e.lineEnd(min(end+1, len(e.text)))
		}
		to = end
	case "j", "k", "G", "gg":
		return e.lineMotion(c, n)
	case "w", "W", "e", "E", "b", "B":
		return e.wordMotion(c, n)
	default:
		return e.findMotion(c, n)
	}
	return to, exclusive, true
}

// lineMotion returns the target of a motion to another line.
func (e *Editor) lineMotion(c command, n int) (to, shape int, ok bool) {
	to = e.cursor
	switch {
	case c.key == "j":
		for range n {
			if to = e.lineEnd(to) + 1; to > len(e.text) {
				return 0, 0, false
			}
		}
		return to, linewise, true
	case c.key == "k":
		for range n {
			if to = e.lineStart(to) - 1; to < 0 {
				return 0, 0, false
			}
		}
		return to, linewise, true
	case c.key == "G" && c.count == 0:
		to = e.lineStart(len(e.text))
	default:
		to = 0
		for i := 1; i < n && e.lineEnd(to) < len(e.text); i++ {
			to = e.lineEnd(to) + 1
		}
	}
	return e.firstNonBlank(to), linewise, true
}

// firstNonBlank returns the first character of a line that is no blank, or its end.
func (e *Editor) firstNonBlank(start int) int {
	i := start
	for i < len(e.text) && (e.text[i] == ' ' || e.text[i] == '\t') {
		i++
	}
	return e.boundary(i)
}

// findMotion returns the target of f F t T, or of ; and , which repeat the last of them.
func (e *Editor) findMotion(c command, n int) (to, shape int, ok bool) {
	last, again := e.vi.find, one(";,", c.key)
	switch {
	case !again:
		e.vi.find = command{key: c.key, arg: c.arg}
		last = e.vi.find
	case last.key == "":
		return 0, 0, false
	case c.key == ",":
		last.key = map[string]string{"f": "F", "F": "f", "t": "T", "T": "t"}[last.key]
	}
	start, end := e.lineStart(e.cursor), e.lineEnd(e.cursor)
	forward, until := one("ft", last.key), one("tT", last.key)
	to = e.cursor
	step := e.prev
	if forward {
		step = e.next
	}
	is := func(pos int) bool { return pos < end && e.text[pos:e.next(pos)] == last.arg }
	if again && until { // from the character before it, to the next one
		if beside := e.next(to); forward && is(beside) {
			to = beside
		} else if to > start && !forward && is(e.prev(to)) {
			to = e.prev(to)
		}
	}
	for found := 0; found < n; {
		if forward && to >= end || !forward && to <= start {
			return 0, 0, false
		}
		if to = step(to); is(to) {
			found++
		}
	}
	switch {
	case until && forward:
		to = e.prev(to)
	case until:
		to = e.next(to)
	}
	if forward {
		return to, inclusive, true
	}
	return to, exclusive, true
}

// Classes of characters, which vi's words consist of.
const (
	blank = iota
	punctuation
	wordCharacter
)

// class returns the class of the character at pos. For W, B and E all but blanks is one class.
func (e *Editor) class(pos int, big bool) int {
	switch r := e.rune(pos); {
	case r == 0, unicode.IsSpace(r):
		return blank
	case big, r == '_', inWord(r):
		return wordCharacter
	}
	return punctuation
}

// wordMotion returns the target of a motion by words.
func (e *Editor) wordMotion(c command, n int) (to, shape int, ok bool) {
	big := c.key < "a"
	to = e.cursor
	key := strings.ToLower(c.key)
	if key == "w" && c.op == "c" && e.class(to, big) != blank { // as e, but not into the next word
		to = e.lastOfWord(to, big)
		for range n - 1 {
			to = e.endOfWord(to, big)
		}
		return to, inclusive, true
	}
	for i := range n {
		switch was := to; key {
		case "w":
			to = e.nextWord(to, big)
			if end := e.lineEnd(was); i == n-1 && c.op != "" && to > end { // the line feed stays
				to = end
			}
		case "e":
			to, shape = e.endOfWord(to, big), inclusive
		case "b":
			to = e.previousWord(to, big)
		}
	}
	return to, shape, true
}

// nextWord returns the beginning of the next word, or an empty line before it.
func (e *Editor) nextWord(pos int, big bool) int {
	was, class := pos, e.class(pos, big)
	for class != blank && pos < len(e.text) && e.class(pos, big) == class {
		pos = e.next(pos)
	}
	for pos < len(e.text) && e.class(pos, big) == blank && (pos == was || !e.emptyLine(pos)) {
		pos = e.next(pos)
	}
	return pos
}

// endOfWord returns the last character of the next word that ends after pos.
func (e *Editor) endOfWord(pos int, big bool) int {
	for pos = e.next(pos); pos < len(e.text) && e.class(pos, big) == blank; {
		pos = e.next(pos)
	}
	if pos == len(e.text) {
		return e.prev(pos)
	}
	return e.lastOfWord(pos, big)
}

// lastOfWord returns the last character of the word at pos.
func (e *Editor) lastOfWord(pos int, big bool) int {
	class := e.class(pos, big)
	for next := e.next(pos); next < len(e.text) && e.class(next, big) == class; next = e.next(pos) {
		pos = next
	}
	return pos
}

// previousWord returns the beginning of the word before pos, or an empty line after it.
func (e *Editor) previousWord(pos int, big bool) int {
	for pos = e.prev(pos); pos > 0 && e.class(pos, big) == blank && !e.emptyLine(pos); {
		pos = e.prev(pos)
	}
	class := e.class(pos, big)
	for class != blank && pos > 0 && e.class(e.prev(pos), big) == class {
		pos = e.prev(pos)
	}
	return pos
}

// emptyLine reports whether pos is the line feed of an empty line.
func (e *Editor) emptyLine(pos int) bool {
	return e.text[pos] == '\n' && (pos == 0 || e.text[pos-1] == '\n')
}
