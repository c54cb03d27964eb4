package text

import (
	"bytes"
	"cmp"
)

// ByteSet is a set of bytes.
type ByteSet [256]bool

// The sets that several packages need.
var (
	DigitSet         = SetOf("0-9")
	HexSet           = SetOf("0-9a-f")
	CapitalSet       = SetOf("A-Z0-9")
	AlnumSet         = SetOf("A-Za-z0-9")
	TokenSet         = SetOf("A-Za-z0-9_-")
	DottedSet        = SetOf("A-Za-z0-9_.-")
	NameSet          = SetOf("A-Za-z0-9_.-")
	Base64Set        = SetOf("A-Za-z0-9+/=")
	Base64OrTokenSet = SetOf("A-Za-z0-9_+/=-")
	URLSet           = SetOf("A-Za-z0-9_%+/=-")
	SpaceSet         = SetOf(" \t\r")
)

// SetOf returns the set of the bytes in a text. Two bytes around a hyphen stand for
// a range.
func SetOf(in string) ByteSet {
	c := ByteSet{}
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

// RunEnd returns the end of the run of bytes of the set that begins at at.
func (c *ByteSet) RunEnd(l []byte, at int) int {
	for at < len(l) && c[l[at]] {
		at++
	}
	return at
}

// All reports whether all bytes of v are in the set.
func (c *ByteSet) All(v []byte) bool { return c.RunEnd(v, 0) == len(v) }

// SkipRun returns the end of a run that only punctuation follows, and otherwise at.
func (c *ByteSet) SkipRun(v []byte, at int) int {
	if end := c.RunEnd(v, at); end == len(v) || !AlnumSet[v[end]] {
		return end
	}
	return at
}

// The classes of bytes in a word.
const (
	Digit     = 1 << iota
	HexLetter // a letter of a hexadecimal number
	Letter    // any other letter
)

// Class holds the class of each byte; 0 means none.
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

// DigitsEnd returns the end of the digits that begin at start.
func DigitsEnd(line []byte, start int) int {
	for start < len(line) && Class[line[start]] == Digit {
		start++
	}
	return start
}

// IsCalendarWord reports whether a word is the short name of a month or weekday.
func IsCalendarWord(word []byte) bool {
	switch string(word) {
	case "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec", "Mon", "Tue",
		"Wed", "Thu", "Fri", "Sat", "Sun":
		return true
	}
	return false
}

// IsUpper reports whether b is an ASCII capital.
func IsUpper(b byte) bool { return b >= 'A' && b <= 'Z' }

// IsLetter reports whether b is an ASCII letter.
func IsLetter(b byte) bool { return AlnumSet[b] && !DigitSet[b] }

// IsHexDigit reports whether b is a hexadecimal digit.
func IsHexDigit(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'a' && b <= 'f' || b >= 'A' && b <= 'F'
}

// HasDigit reports whether v has a digit.
func HasDigit(v []byte) bool {
	for _, b := range v {
		if DigitSet[b] {
			return true
		}
	}
	return false
}

// HasAnyPrefix reports whether text begins with any of the words.
func HasAnyPrefix(text []byte, words ...string) bool {
	for _, w := range words {
		if len(text) >= len(w) && string(text[:len(w)]) == w {
			return true
		}
	}
	return false
}

// AppendLower appends text with its ASCII letters in lower case.
func AppendLower(out, text []byte) []byte {
	for _, b := range text {
		if b >= 'A' && b <= 'Z' {
			b += 'a' - 'A'
		}
		out = append(out, b)
	}
	return out
}

// Unindent removes leading blanks and tabs.
func Unindent(line []byte) []byte {
	for len(line) > 0 && (line[0] == ' ' || line[0] == '\t') {
		line = line[1:]
	}
	return line
}

// ByteTexts converts strings to byte slices.
func ByteTexts(list ...string) [][]byte {
	out := make([][]byte, len(list))
	for i, s := range list {
		out[i] = []byte(s)
	}
	return out
}

// NumberLess reports whether a is before b by their numbers. The names differ only in
// these.
func NumberLess(a, b []byte) bool {
	for len(a) > 0 && len(b) > 0 {
		n, m := DigitsEnd(a, 0), DigitsEnd(b, 0)
		if n == 0 || m == 0 {
			a, b = a[1:], b[1:]
			continue
		}
		x, y := bytes.TrimLeft(a[:n], "0"), bytes.TrimLeft(b[:m], "0")
		if c := cmp.Or(len(x)-len(y), bytes.Compare(x, y), m-n); c != 0 {
			return c < 0
		}
		a, b = a[n:], b[m:]
	}
	return false
}
