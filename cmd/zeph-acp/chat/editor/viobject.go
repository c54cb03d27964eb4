package editor

// brackets are the names of objects in brackets, and the brackets.
var brackets = [...]struct {
	names       string
	open, close byte
}{{"()b", '(', ')'}, {"[]", '[', ']'}, {"{}B", '{', '}'}, {"<>", '<', '>'}}

// object returns the range of an object at the cursor: a word, or text in quotes or brackets.
// With around it has the blanks beside a word, or the quotes or brackets.
func (e *Editor) object(around bool, name string) (from, to int, ok bool) {
	if one("wW", name) {
		from, to = e.word(around, name == "W")
		return from, to, true
	}
	if one("\"'`", name) {
		from, to, ok = e.quoted(name[0])
	}
	for _, b := range brackets {
		if one(b.names, name) {
			from, to, ok = e.bracketed(b.open, b.close)
		}
	}
	if ok && !around {
		from, to = from+1, to-1
	}
	return from, to, ok
}

// word returns the word or the blanks at the cursor, within the line.
func (e *Editor) word(around, big bool) (from, to int) {
	start, end := e.lineStart(e.cursor), e.lineEnd(e.cursor)
	extend := func(pos int) int {
		for class := e.class(pos, big); pos < end && e.class(pos, big) == class; {
			pos = e.next(pos)
		}
		return pos
	}
	class := e.class(e.cursor, big)
	for from = e.cursor; from > start && e.class(e.prev(from), big) == class; {
		from = e.prev(from)
	}
	to = extend(e.cursor)
	switch {
	case !around:
	case class == blank, to < end && e.class(to, big) == blank:
		to = extend(to)
	default:
		for from > start && e.class(e.prev(from), big) == blank {
			from = e.prev(from)
		}
	}
	return from, to
}

// quoted returns the first quoted part of the line that does not end before the cursor.
func (e *Editor) quoted(quote byte) (from, to int, ok bool) {
	end := e.lineEnd(e.cursor)
	open := -1
	for i := e.lineStart(e.cursor); i < end; i++ {
		switch {
		case e.text[i] == '\\' && open >= 0:
			i++
		case e.text[i] != quote:
		case open < 0:
			open = i
		case i >= e.cursor:
			return open, i + 1, true
		default:
			open = -1
		}
	}
	return 0, 0, false
}

// bracketed returns the innermost range in brackets around the cursor.
func (e *Editor) bracketed(open, closing byte) (from, to int, ok bool) {
	depth := 0
	for from = e.cursor; ; from-- {
		if from < 0 {
			return 0, 0, false
		}
		if from >= len(e.text) {
			continue
		}
		if c := e.text[from]; c == open {
			if depth == 0 {
				break
			}
			depth--
		} else if c == closing && from != e.cursor {
			depth++
		}
	}
	depth = 0
	for to = from; to < len(e.text); to++ {
		switch e.text[to] {
		case open:
			depth++
		case closing:
			if depth--; depth == 0 {
				return from, to + 1, true
			}
		}
	}
	return 0, 0, false
}
