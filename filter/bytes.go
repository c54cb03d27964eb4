package filter

func byteTexts(list ...string) [][]byte {
	var out [][]byte
	for _, s := range list {
		out = append(out, []byte(s))
	}
	return out
}

// What kinds of bytes are in a word.
const (
	isDigit = 1 << iota
	isHex   // a letter of a hexadecimal number
	isAlpha // another letter
)

var kinds = func() (table [256]uint8) {
	for b := range table {
		switch c := byte(b); {
		case c >= '0' && c <= '9':
			table[b] = isDigit
		case c >= 'a' && c <= 'f', c >= 'A' && c <= 'F':
			table[b] = isHex
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			table[b] = isAlpha
		}
	}
	return table
}()

// calendar reports whether a word is a month or a weekday.
func calendar(word []byte) bool {
	switch string(word) {
	case "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun":
		return true
	}
	return false
}

// run gives the end of the digits that begin at start.
func run(line []byte, start int) int {
	for start < len(line) && kinds[line[start]] == isDigit {
		start++
	}
	return start
}

// unindent cuts blanks and tabs off.
func unindent(line []byte) []byte {
	for len(line) > 0 && (line[0] == ' ' || line[0] == '\t') {
		line = line[1:]
	}
	return line
}

// skip gives the end of a number that nothing but punctuation follows; else the
// place itself.
func (c *byteSet) skip(v []byte, at int) int {
	if end := c.run(v, at); end == len(v) || !alnumSet[v[end]] {
		return end
	}
	return at
}

// byteSet is a set of bytes.
type byteSet [256]bool

func setOf(in string) *byteSet {
	c := &byteSet{}
	for i := 0; i < len(in); i++ {
		if i+2 < len(in) && in[i+1] == '-' {
			for b := int(in[i]); b <= int(in[i+2]); b++ {
				c[b] = true
			}
			i += 2
			continue
		}
		c[in[i]] = true
	}
	return c
}

var (
	digitSet   = setOf("0-9")
	hexSet     = setOf("0-9a-f")
	capitalSet = setOf("A-Z0-9")
	alnumSet   = setOf("A-Za-z0-9")
	tokenSet   = setOf("A-Za-z0-9_-")
	dottedSet  = setOf("A-Za-z0-9_.-")
	base64Set  = setOf("A-Za-z0-9+/=")
	nameSet    = setOf("A-Za-z0-9_.-")
	spaceSet   = setOf(" \t\r")
)

// run is the end of the bytes of a class from a place on.
func (c *byteSet) run(l []byte, at int) int {
	for at < len(l) && c[l[at]] {
		at++
	}
	return at
}

// all reports whether there are no other bytes.
func (c *byteSet) all(v []byte) bool { return c.run(v, 0) == len(v) }

var (
	base64OrTokenSet = setOf("A-Za-z0-9_+/=-")
	urlSet           = setOf("A-Za-z0-9_%+/=-")
)

func hexDigit(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F'
}

func hasAny(text []byte, words ...string) bool {
	for _, w := range words {
		if len(text) >= len(w) && string(text[:len(w)]) == w {
			return true
		}
	}
	return false
}

// appendLower appends a text in lower case.
func appendLower(out, text []byte) []byte {
	for _, b := range text {
		if b >= 'A' && b <= 'Z' {
			b += 'a' - 'A'
		}
		out = append(out, b)
	}
	return out
}

func isUpper(b byte) bool { return b >= 'A' && b <= 'Z' }

func isLetter(b byte) bool { return alnumSet[b] && !digitSet[b] }

func hasDigit(v []byte) bool {
	for _, b := range v {
		if digitSet[b] {
			return true
		}
	}
	return false
}
