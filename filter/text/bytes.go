package text

func ByteTexts(list ...string) [][]byte {
	var out [][]byte
	for _, s := range list {
		out = append(out, []byte(s))
	}
	return out
}

// What kinds of bytes are in a word.
const (
	Digit     = 1 << iota
	HexLetter // a letter of a hexadecimal number
	Letter    // another letter
)

var Class = func() (table [256]uint8) {
	for b := range table {
		switch c := byte(b); {
		case c >= '0' && c <= '9':
			table[b] = Digit
		case c >= 'a' && c <= 'f', c >= 'A' && c <= 'F':
			table[b] = HexLetter
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			table[b] = Letter
		}
	}
	return table
}()

// IsCalendarWord reports whether a word is a month or a weekday.
func IsCalendarWord(word []byte) bool {
	switch string(word) {
	case "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun":
		return true
	}
	return false
}

// DigitsEnd gives the end of the digits that begin at start.
func DigitsEnd(line []byte, start int) int {
	for start < len(line) && Class[line[start]] == Digit {
		start++
	}
	return start
}

// Unindent cuts blanks and tabs off.
func Unindent(line []byte) []byte {
	for len(line) > 0 && (line[0] == ' ' || line[0] == '\t') {
		line = line[1:]
	}
	return line
}

// skip gives the end of a number that nothing but punctuation follows; else the
// place itself.
func (c *ByteSet) Skip(v []byte, at int) int {
	if end := c.Run(v, at); end == len(v) || !AlnumSet[v[end]] {
		return end
	}
	return at
}

// ByteSet is a set of bytes.
type ByteSet [256]bool

func SetOf(in string) *ByteSet {
	c := &ByteSet{}
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
	DigitSet   = SetOf("0-9")
	HexSet     = SetOf("0-9a-f")
	CapitalSet = SetOf("A-Z0-9")
	AlnumSet   = SetOf("A-Za-z0-9")
	TokenSet   = SetOf("A-Za-z0-9_-")
	DottedSet  = SetOf("A-Za-z0-9_.-")
	Base64Set  = SetOf("A-Za-z0-9+/=")
	NameSet    = SetOf("A-Za-z0-9_.-")
	SpaceSet   = SetOf(" \t\r")
)

// DigitsEnd is the end of the bytes of a class from a place on.
func (c *ByteSet) Run(l []byte, at int) int {
	for at < len(l) && c[l[at]] {
		at++
	}
	return at
}

// all reports whether there are no other bytes.
func (c *ByteSet) All(v []byte) bool { return c.Run(v, 0) == len(v) }

var (
	Base64OrTokenSet = SetOf("A-Za-z0-9_+/=-")
	URLSet           = SetOf("A-Za-z0-9_%+/=-")
)

func HexDigit(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F'
}

func HasAnyPrefix(text []byte, words ...string) bool {
	for _, w := range words {
		if len(text) >= len(w) && string(text[:len(w)]) == w {
			return true
		}
	}
	return false
}

// AppendLower appends a text in lower case.
func AppendLower(out, text []byte) []byte {
	for _, b := range text {
		if b >= 'A' && b <= 'Z' {
			b += 'a' - 'A'
		}
		out = append(out, b)
	}
	return out
}

func IsUpper(b byte) bool { return b >= 'A' && b <= 'Z' }

func IsLetter(b byte) bool { return AlnumSet[b] && !DigitSet[b] }

func HasDigit(v []byte) bool {
	for _, b := range v {
		if DigitSet[b] {
			return true
		}
	}
	return false
}
