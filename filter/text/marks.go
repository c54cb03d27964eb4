package text

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode/utf8"
)

const noiseTail = " noise lines removed)"

func NoiseCount(n int) []byte {
	return append(strconv.AppendInt([]byte("("), int64(n), 10), noiseTail...)
}

func IsNoiseCount(l []byte) bool {
	return len(l) > 1 && l[0] == '(' && l[1] >= '0' && l[1] <= '9' && bytes.HasSuffix(l, []byte(noiseTail))
}

const PatternsTail = " total lines)"

func IsPatternCount(l []byte) bool {
	rest := l[DigitsEnd(l, 0):]
	return len(rest) < len(l) && bytes.HasPrefix(rest, []byte(" unique patterns (")) && bytes.Contains(rest, []byte(PatternsTail))
}

// ShortenedMark is in a line without its middle.
const ShortenedMark = " bytes omitted) ... "

// Shorten is a long line without its middle.
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

// IsFolded reports whether a line is one that folded made.
func IsFolded(l []byte) bool {
	return len(l) > 10 && bytes.HasPrefix(l, []byte("... (")) && l[5] >= '0' && l[5] <= '9' && bytes.HasSuffix(l, []byte(") ...")) && !IsOmission(l)
}

// Squeeze appends a line with fewer blanks between its words.
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

// Prefix is the begin of a text, without half a character.
func Prefix(l []byte, n int) []byte {
	n = min(n, len(l))
	for n > 0 && n < len(l) && !utf8.RuneStart(l[n]) {
		n--
	}
	return l[:n]
}

// Omission is the line that stands for n lines.
func Omission(n int) []byte {
	what := " lines"
	if n == 1 {
		what = " line"
	}
	return append(strconv.AppendInt([]byte("... ("), int64(n), 10), what+" omitted) ..."...)
}

// IsOmission reports whether a line is one that omission made.
func IsOmission(l []byte) bool {
	return bytes.HasPrefix(l, []byte("... (")) && bytes.HasSuffix(l, []byte(" omitted) ..."))
}
