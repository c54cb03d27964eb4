package agent

import "strings"

// withoutVolatile returns text with "#" for each part that differs between two runs of
// the same command: UUIDs, dates, times of day and durations. It is the expression
//
//	[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}
//	|\d{4}-\d\d-\d\d|\d{1,2}:\d\d:\d\d(?:\.\d+)?
//	|\d+(?:\.\d+)?\s?(?:ns|µs|us|ms|s)\b
//
// written by hand: the outcome of every call passes through it, and package regexp
// would cost more than the call.
func withoutVolatile(text string) string {
	var out strings.Builder
	done := 0
	for i := 0; i < len(text); {
		if !isHex(text[i]) {
			i++
			continue
		}
		n := volatileLen(text[i:], i == done || !isDigit(text[i-1]))
		if n == 0 {
			i++
			continue
		}
		out.WriteString(text[done:i])
		out.WriteByte('#')
		i += n
		done = i
	}
	if done == 0 {
		return text
	}
	out.WriteString(text[done:])
	return out.String()
}

// volatileLen returns the length of the volatile part that text begins with, or 0.
// fresh reports that no digit precedes text, since a duration can only begin at the
// first digit of a number.
func volatileLen(text string, fresh bool) int {
	if at(text, 8) == '-' && shaped(text, "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx") {
		return 36
	}
	switch {
	case !isDigit(text[0]):
		return 0
	case at(text, 4) == '-' && shaped(text, "0000-00-00"):
		return 10
	case at(text, 2) == ':' && shaped(text, "00:00:00"):
		return 8 + fraction(text[8:])
	case at(text, 1) == ':' && shaped(text, "0:00:00"):
		return 7 + fraction(text[7:])
	case !fresh:
		return 0
	}
	whole := digits(text)
	if f := fraction(text[whole:]); f > 0 {
		if n := unit(text[whole+f:]); n > 0 {
			return whole + f + n
		}
	}
	if n := unit(text[whole:]); n > 0 {
		return whole + n
	}
	return 0
}

// at returns the byte at index i, or 0 after the end.
func at(text string, i int) byte {
	if i < len(text) {
		return text[i]
	}
	return 0
}

// shaped reports whether text begins with shape. A "0" stands for any digit, and an "x"
// for a hexadecimal one.
func shaped(text, shape string) bool {
	if len(text) < len(shape) {
		return false
	}
	for i := range len(shape) {
		switch shape[i] {
		case 'x':
			if !isHex(text[i]) {
				return false
			}
		case '0':
			if !isDigit(text[i]) {
				return false
			}
		default:
			if text[i] != shape[i] {
				return false
			}
		}
	}
	return true
}

// fraction returns the length of a decimal point with the digits after it, or 0.
func fraction(text string) int {
	if !strings.HasPrefix(text, ".") {
		return 0
	}
	if n := digits(text[1:]); n > 0 {
		return 1 + n
	}
	return 0
}

// unit returns the length of a unit of time, with a space before it, or 0.
func unit(text string) int {
	space := 0
	if strings.IndexByte(" \t\n\f\r", at(text, 0)) >= 0 {
		space = 1
	}
	for _, name := range [...]string{"ns", "µs", "us", "ms", "s"} {
		if strings.HasPrefix(text[space:], name) && !isWord(at(text, space+len(name))) {
			return space + len(name)
		}
	}
	return 0
}

func digits(text string) (n int) {
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	return n
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

func isWord(c byte) bool { return isDigit(c) || c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' }
