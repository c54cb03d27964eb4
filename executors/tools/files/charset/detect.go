package charset

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxSample is how many bytes of a file the detector reads; an even number.
const maxSample = 64 << 10

// Detect returns the encoding of a file that is not UTF-8, nil if it is not sure or the content is
// not text. It decides by the byte order mark, by the zero bytes of UTF-16, and else by what the
// text would be in each encoding.
func Detect(content string) *Encoding {
	sample := content[:min(len(content), maxSample)]
	switch {
	case strings.HasPrefix(sample, markUTF32LE):
		return nil
	case strings.HasPrefix(sample, markLittle):
		return utf16(false, true).ifText(sample)
	case strings.HasPrefix(sample, markBig):
		return utf16(true, true).ifText(sample)
	case strings.IndexByte(sample, 0) >= 0:
		return detectWide(sample)
	}
	if n := strings.LastIndexByte(sample, '\n'); n > 0 && len(sample) < len(content) {
		sample = sample[:n+1]
	}
	switch {
	case controls(sample)*100 > len(sample):
		return nil
	case isMostlyUTF8(sample):
		return utf8Encoding(strings.HasPrefix(content, markUTF8))
	}
	return best(sample)
}

// ifText returns e if the sample is text in it, else nil.
func (e *Encoding) ifText(sample string) *Encoding {
	if e.badChars(sample)*50 > len(sample)/2 {
		return nil
	}
	return e
}

// isBad reports whether no text has this character: a control character, or an invalid or unassigned one.
func isBad(r rune) bool {
	switch r {
	case '\t', '\n', '\r', '\f', '\v', '\b', 0x1A, 0x1B:
		return false
	case utf8.RuneError:
		return true
	}
	return !unicode.IsGraphic(r) && !unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Co, r)
}

// controls counts the bytes that are control characters in each encoding.
func controls(sample string) int {
	n := 0
	for i := range len(sample) {
		if c := sample[i]; c < ' ' && isBad(rune(c)) || c == 0x7F {
			n++
		}
	}
	return n
}

// detectWide detects UTF-16 without a byte order mark: ASCII characters have a zero byte, always on the same
// side, and the other order is not text or has none of them.
func detectWide(sample string) *Encoding {
	if len(sample)%2 != 0 {
		return nil
	}
	var ascii [2]int // by the side of the zero byte: the first or the second of a unit
	for i := 0; i < len(sample); i += 2 {
		first, second := sample[i], sample[i+1]
		switch {
		case first == 0 && second == 0:
			return nil
		case first == 0 && second < utf8.RuneSelf && !isBad(rune(second)):
			ascii[0]++
		case second == 0 && first < utf8.RuneSelf && !isBad(rune(first)):
			ascii[1]++
		}
	}
	big := ascii[0] > ascii[1]
	most, least := max(ascii[0], ascii[1]), min(ascii[0], ascii[1])
	if most < 4 || most < 8*least || most*50 < len(sample)/2 { // 2% of the characters
		return nil
	}
	e := utf16(big, false)
	if e.badChars(sample) > 0 {
		return nil
	}
	return e
}

// isMostlyUTF8 reports whether content is UTF-8 with some invalid bytes, such as a line in another encoding.
// Text in other encodings has sequences of three bytes in UTF-8 only by chance.
func isMostlyUTF8(sample string) bool {
	valid, long, invalid := 0, 0, 0
	for i := 0; i < len(sample); {
		if sample[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(sample[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			invalid++
		case size > 2:
			long++
			valid++
		default:
			valid++
		}
		i += size
	}
	if invalid == 0 {
		return valid > 0
	}
	return valid >= 4*invalid && (long >= 4*invalid || valid >= 20*invalid)
}
