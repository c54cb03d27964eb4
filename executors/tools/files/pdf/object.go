package pdf

import (
	"bytes"
	"strconv"
)

// The objects of a PDF: nil, bool, float64, str, name, array, dict, *stream, ref, and keyword for the rest.
type (
	name    string
	str     string
	keyword string
	array   []any
	dict    map[name]any
	ref     int // the object's number; generations are not told apart
	stream  struct {
		dict dict
		data []byte // encoded
		num  int    // of its object
	}
)

const (
	maxDepth  = 50      // of nested arrays and dictionaries
	maxNested = 4 << 20 // objects in the arrays and dictionaries that a lexer reads
)

// lexer reads objects from data.
type lexer struct {
	data []byte
	pos  int
	refs bool // "1 0 R" is a reference, as outside of content streams
	kept int  // objects in arrays and dictionaries so far
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' || c == 0 }

func isDelimiter(c byte) bool { return bytes.IndexByte([]byte("()<>[]{}/%"), c) >= 0 }

func (l *lexer) skipSpace() {
	for l.pos < len(l.data) {
		switch c := l.data[l.pos]; {
		case isSpace(c):
			l.pos++
		case c == '%':
			for l.pos < len(l.data) && l.data[l.pos] != '\n' && l.data[l.pos] != '\r' {
				l.pos++
			}
		default:
			return
		}
	}
}

// end is the keyword after the last object.
const end keyword = ""

// next returns the next object, or end.
func (l *lexer) next() any { return l.object(0) }

func (l *lexer) object(depth int) any {
	l.skipSpace()
	if depth > 0 {
		l.kept++
	}
	if l.pos >= len(l.data) || depth > maxDepth || l.kept > maxNested {
		l.pos = len(l.data)
		return end
	}
	switch c := l.data[l.pos]; {
	case c == '/':
		l.pos++
		return l.name()
	case c == '(':
		return l.literal()
	case c == '<' && l.pos+1 < len(l.data) && l.data[l.pos+1] == '<':
		l.pos += 2
		return l.dict(depth)
	case c == '<':
		return l.hex()
	case c == '[':
		l.pos++
		var a array
		for {
			v := l.object(depth + 1)
			if v == keyword("]") || v == end {
				return a
			}
			a = append(a, v)
		}
	case c == '>' && l.pos+1 < len(l.data) && l.data[l.pos+1] == '>':
		l.pos += 2
		return keyword(">>")
	case isDelimiter(c):
		l.pos++
		return keyword(c)
	}
	return l.word()
}

func (l *lexer) dict(depth int) any {
	d := dict{}
	for {
		key := l.object(depth + 1)
		if key == keyword(">>") || key == end {
			return d
		}
		k, ok := key.(name)
		if !ok {
			continue
		}
		v := l.object(depth + 1)
		if v == keyword(">>") || v == end {
			return d
		}
		d[k] = v
	}
}

func (l *lexer) name() name {
	var b []byte
	for l.pos < len(l.data) && !isSpace(l.data[l.pos]) && !isDelimiter(l.data[l.pos]) {
		c := l.data[l.pos]
		if c == '#' && l.pos+2 < len(l.data) {
			if n, err := strconv.ParseUint(string(l.data[l.pos+1:l.pos+3]), 16, 8); err == nil {
				c = byte(n)
				l.pos += 2
			}
		}
		b = append(b, c)
		l.pos++
	}
	return name(b)
}

func (l *lexer) literal() str {
	l.pos++
	var b []byte
	for depth := 1; l.pos < len(l.data); l.pos++ {
		c := l.data[l.pos]
		switch c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				l.pos++
				return str(b)
			}
		case '\\':
			if l.pos++; l.pos == len(l.data) {
				return str(b)
			}
			switch c = l.data[l.pos]; c {
			case 'n':
				c = '\n'
			case 'r':
				c = '\r'
			case 't':
				c = '\t'
			case 'b':
				c = '\b'
			case 'f':
				c = '\f'
			case '\r':
				if l.pos+1 < len(l.data) && l.data[l.pos+1] == '\n' {
					l.pos++
				}
				continue
			case '\n':
				continue
			default:
				if c >= '0' && c <= '7' {
					n := 0
					for i := 0; i < 3 && l.pos < len(l.data) && l.data[l.pos] >= '0' && l.data[l.pos] <= '7'; i++ {
						n = n*8 + int(l.data[l.pos]-'0')
						l.pos++
					}
					l.pos--
					c = byte(n)
				}
			}
		}
		b = append(b, c)
	}
	return str(b)
}

func (l *lexer) hex() str {
	l.pos++
	var b []byte
	half, n := false, byte(0)
	for ; l.pos < len(l.data); l.pos++ {
		c := l.data[l.pos]
		if c == '>' {
			l.pos++
			break
		}
		v, ok := hexValue(c)
		if !ok {
			continue
		}
		if half {
			b = append(b, n<<4|v)
		}
		n, half = v, !half
	}
	if half {
		b = append(b, n<<4)
	}
	return str(b)
}

func hexValue(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c|0x20 >= 'a' && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}

// word reads a number, a reference or a keyword.
func (l *lexer) word() any {
	start := l.pos
	for l.pos < len(l.data) && !isSpace(l.data[l.pos]) && !isDelimiter(l.data[l.pos]) {
		l.pos++
	}
	w := string(l.data[start:l.pos])
	switch w {
	case "true":
		return true
	case "false":
		return false
	case "null":
		return nil
	}
	f, err := strconv.ParseFloat(w, 64)
	if err != nil || w[0]|0x20 >= 'a' {
		return keyword(w)
	}
	if l.refs && f >= 0 && f == float64(int(f)) {
		if n, ok := l.reference(int(f)); ok {
			return n
		}
	}
	return f
}

// reference reads the rest of "7 0 R" after the 7.
func (l *lexer) reference(n int) (ref, bool) {
	i := l.pos
	skip := func() {
		for i < len(l.data) && isSpace(l.data[i]) {
			i++
		}
	}
	skip()
	digits := i
	for i < len(l.data) && l.data[i] >= '0' && l.data[i] <= '9' && i < digits+5 {
		i++
	}
	if i == digits {
		return 0, false
	}
	gap := i
	skip()
	if i == gap || i >= len(l.data) || l.data[i] != 'R' || i+1 < len(l.data) && !isSpace(l.data[i+1]) && !isDelimiter(l.data[i+1]) {
		return 0, false
	}
	l.pos = i + 1
	return ref(n), true
}
