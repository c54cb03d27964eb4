package text

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// noiseSuffix ends the line that NoiseCount makes.
const noiseSuffix = " noise lines removed)"

// NoiseCount returns the line that replaces n lines of noise.
func NoiseCount(n int) []byte {
	return append(strconv.AppendInt([]byte("("), int64(n), 10), noiseSuffix...)
}

// IsNoiseCount reports whether a line was made by NoiseCount.
func IsNoiseCount(l []byte) bool {
	return len(l) > 1 && l[0] == '(' && l[1] >= '0' && l[1] <= '9' && bytes.HasSuffix(l, []byte(noiseSuffix))
}

// Omissions returns the number of marks in lines that Omission made, also behind the name of a stream, and the
// number of lines that they stand for.
func Omissions(lines *Lines) (marks, omitted int, err error) {
	err = lines.Each(func(l []byte) {
		at := bytes.Index(l, []byte("... ("))
		if at < 0 || !IsOmission(l[at:]) {
			return
		}
		number := l[at+len("... ("):]
		if n, err := strconv.Atoi(string(number[:DigitsEnd(number, 0)])); err == nil {
			marks, omitted = marks+1, omitted+n
		}
	})
	return marks, omitted, err
}

// PatternsSuffix occurs in the last line of a deduplicated log.
const PatternsSuffix = " total lines)"

// IsPatternCount reports whether a line is the last one of a deduplicated log.
func IsPatternCount(l []byte) bool {
	rest := l[DigitsEnd(l, 0):]
	return len(rest) < len(l) && bytes.HasPrefix(rest, []byte(" unique patterns (")) && bytes.Contains(rest, []byte(PatternsSuffix))
}

// ShortenedMark occurs in each line that Shorten made.
const ShortenedMark = " bytes omitted) ... "

// Shorten returns a long line without its middle, about size bytes long.
func Shorten(l []byte, size int) []byte {
	head, tail := size*3/4, len(l)-size/4
	for head > 0 && !utf8.RuneStart(l[head]) {
		head--
	}
	for tail < len(l) && !utf8.RuneStart(l[tail]) {
		tail++
	}
	return fmt.Appendf(nil, "%s ... (%d"+ShortenedMark+"%s", l[:head], tail-head, l[tail:])
}

// IsFolded reports whether a line replaces lines that a digest folded.
func IsFolded(l []byte) bool {
	return len(l) > 10 && bytes.HasPrefix(l, []byte("... (")) && l[5] >= '0' && l[5] <= '9' &&
		bytes.HasSuffix(l, []byte(") ...")) && !IsOmission(l)
}

// Squeeze appends a line with at most two blanks in a row.
func Squeeze(dst, l []byte) []byte {
	in := len(l) - len(bytes.TrimLeft(l, " "))
	dst = append(dst, l[:in]...)
	blanks := 0
	for _, b := range l[in:] {
		if b == ' ' {
			if blanks++; blanks > 2 {
				continue
			}
		} else {
			blanks = 0
		}
		dst = append(dst, b)
	}
	return dst
}

// Prefix returns at most the first n bytes of l, and no part of a rune.
func Prefix(l []byte, n int) []byte {
	n = min(n, len(l))
	for n > 0 && n < len(l) && !utf8.RuneStart(l[n]) {
		n--
	}
	return l[:n]
}

// Omission returns the line that replaces n omitted lines.
func Omission(n int) []byte {
	noun := " lines"
	if n == 1 {
		noun = " line"
	}
	return append(strconv.AppendInt([]byte("... ("), int64(n), 10), noun+" omitted) ..."...)
}

// IsOmission reports whether a line was made by Omission.
func IsOmission(l []byte) bool {
	return bytes.HasPrefix(l, []byte("... (")) && bytes.HasSuffix(l, []byte(" omitted) ..."))
}
