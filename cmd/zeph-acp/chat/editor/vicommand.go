package editor

import (
	"strings"
	"unicode"
)

// execute executes a command of normal mode.
func (e *Editor) execute(c command) {
	if c = c.long(); c.op != "" {
		e.operate(c)
		return
	}
	n := max(c.count, 1)
	switch c.key {
	case "j", "k":
		step := 1
		if c.key == "k" {
			step = -1
		}
		for range n {
			if !e.upOrDown(step) {
				break
			}
			e.previous = e.last
		}
	case "u":
		for range n {
			e.undo()
		}
	case "/":
		e.startSearch()
	case "p", "P":
		e.put(c.key == "p", n)
	case "r":
		e.replaceCharacters(c.arg, n)
	case "~":
		to := e.cursor
		for range n {
			to = min(e.next(to), e.lineEnd(e.cursor))
		}
		e.startChange(other)
		e.splice(e.cursor, to, strings.Map(otherCase, e.text[e.cursor:to]))
	case "J":
		e.startChange(other)
		for range max(n, 2) - 1 {
			e.join()
		}
	case "i", "a", "I", "A", "o", "O":
		e.beginInsert(c.key)
	default:
		if to, _, ok := e.motion(c); ok {
			e.cursor = to
		}
	}
}

// otherCase returns a letter in the other case.
func otherCase(r rune) rune {
	if unicode.IsUpper(r) {
		return unicode.ToLower(r)
	}
	return unicode.ToUpper(r)
}

// beginInsert enters insert mode at the place that a command names.
func (e *Editor) beginInsert(key string) {
	e.startChange(other)
	start, end := e.lineStart(e.cursor), e.lineEnd(e.cursor)
	switch key {
	case "a":
		e.cursor = min(e.next(e.cursor), end)
	case "I":
		e.cursor = e.firstNonBlank(start)
	case "A":
		e.cursor = end
	case "o":
		e.splice(end, end, "\n")
	case "O":
		e.splice(start, start, "\n")
		e.cursor = start
	}
	e.toInsert()
}

// operate applies an operator to an object, to lines or up to the target of a motion.
func (e *Editor) operate(c command) {
	from, to, lines := e.cursor, e.cursor, false
	switch {
	case c.key == c.op:
		for range max(c.count, 1) - 1 {
			to = min(e.lineEnd(to)+1, len(e.text))
		}
		lines = true
	case c.arg != "" && one("ia", c.key):
		var ok bool
		if from, to, ok = e.object(c.key == "a", c.arg); !ok {
			return
		}
	default:
		target, shape, ok := e.motion(c)
		if !ok {
			return
		}
		from, to, lines = min(from, target), max(to, target), shape == linewise
		if shape == inclusive {
			to = min(e.next(to), e.lineEnd(to))
		}
	}
	if lines {
		from, to = e.lineStart(from), e.lineEnd(to)
	}
	if from == to && c.op != "c" && !lines {
		return
	}
	e.vi.register = register{strings.Clone(e.text[from:to]), lines}
	e.keep(e.vi.register.text)
	if c.op == "y" {
		if !lines || from < e.lineStart(e.cursor) {
			e.cursor = e.boundary(from)
		}
		return
	}
	e.startChange(other)
	switch {
	case c.op == "c":
		e.splice(from, to, "")
		e.toInsert()
	case lines:
		e.removeLines(from, to)
	default:
		e.splice(from, to, "")
	}
}

// removeLines removes whole lines, with the line feed after or before them.
func (e *Editor) removeLines(from, to int) {
	switch {
	case to < len(e.text):
		to++
	case from > 0:
		from--
	}
	e.splice(from, to, "")
	e.cursor = e.firstNonBlank(e.lineStart(e.cursor))
}

// put inserts the register after or before the cursor.
func (e *Editor) put(after bool, count int) {
	r := e.vi.register
	if r.text == "" && !r.lines {
		return
	}
	e.startChange(other)
	at := e.cursor
	switch {
	case r.lines && after:
		at = e.lineEnd(at)
		e.splice(at, at, strings.Repeat("\n"+r.text, count))
		e.cursor = e.firstNonBlank(at + 1)
	case r.lines:
		at = e.lineStart(at)
		e.splice(at, at, strings.Repeat(r.text+"\n", count))
		e.cursor = e.firstNonBlank(at)
	default:
		if after {
			at = min(e.next(at), e.lineEnd(at))
		}
		e.splice(at, at, strings.Repeat(r.text, count))
		e.cursor = e.prev(e.cursor)
	}
}

// replaceCharacters replaces characters of the line by another one, or all by a line feed.
func (e *Editor) replaceCharacters(by string, count int) {
	to, end := e.cursor, e.lineEnd(e.cursor)
	for range count {
		if to >= end {
			return
		}
		to = e.next(to)
	}
	e.startChange(other)
	if by == "\n" {
		e.splice(e.cursor, to, by)
		return
	}
	e.splice(e.cursor, to, strings.Repeat(by, count))
	e.cursor = e.prev(e.cursor)
}

// join joins the line with the next one, with a space between them.
func (e *Editor) join() {
	end := e.lineEnd(e.cursor)
	if end == len(e.text) {
		return
	}
	to := e.firstNonBlank(end + 1)
	between := " "
	if end == e.lineStart(end) || isSpace(e.text[end-1]) || to == len(e.text) || e.text[to] == '\n' || e.text[to] == ')' {
		between = ""
	}
	e.splice(end, to, between)
	e.cursor = e.boundary(end)
}
