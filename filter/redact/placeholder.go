package redact

import (
	"bytes"
	"slices"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// isPlaceholder reports whether a value only stands for a credential: a variable,
// a template, an example or a mask.
func isPlaceholder(v []byte) bool {
	if len(v) == 0 || isMask(v) || isLowEntropy(v) {
		return true
	}
	switch b := v[0]; b {
	case '<', '{', '[', '`':
		if !isRandom(v) || bytes.IndexByte(v[1:], closingMark(b)) >= 0 {
			return true
		}
	case '$':
		if len(v) > 1 && (v[1] == '{' || v[1] == '(' || !hasShape(v, "password-hash") && isShellVariable(v)) {
			return true
		}
	case '%':
		if v[len(v)-1] == '%' || len(v) <= 3 {
			return true
		}
	case '@', ':', '&', '*', '!', '#', '?':
		if isIdentifier(v[1:]) && !text.HasDigit(v) {
			return true
		}
	}
	if bytes.Contains(v, []byte("${")) ||
		bytes.Contains(v, []byte("$var$")) || // a name of a bundler
		bytes.Contains(v, []byte("{{")) ||
		bytes.Contains(v, []byte("...")) ||
		bytes.Contains(v, []byte("…")) ||
		bytes.Contains(v, []byte("•")) {
		return true
	}
	return rules().example.Find(v) || rules().madeUp.Find(v) && !(isWhollyRandom(v) && len(v) >= 40) && !isDisguised(v) || isDummy(v)
}

// isDisguised reports whether a value with words of placeholders has enough other
// text to be a password.
func isDisguised(v []byte) bool {
	const marks, least = "!@#$%^&*+=?~", 3
	if !text.HasDigit(v) || bytes.IndexByte(v, ' ') >= 0 {
		return false
	}
	var buf, lowBuf [64]byte
	rest := append(buf[:0], v...)
	low := text.AppendLower(lowBuf[:0], v)
	for _, word := range rules().Words["made-up"] {
		for i := bytes.Index(low, []byte(word)); i >= 0; i = bytes.Index(low, []byte(word)) {
			low = slices.Delete(low, i, i+len(word))
			rest = slices.Delete(rest, i, i+len(word))
		}
	}
	if isMixedWords(rest) {
		return true
	}
	letters := 0
	for _, b := range rest {
		if text.IsLetter(b) {
			letters++
		}
	}
	return letters >= least && bytes.ContainsAny(v, marks)
}

func closingMark(b byte) byte {
	switch b {
	case '<':
		return '>'
	case '{':
		return '}'
	case '[':
		return ']'
	}
	return b
}

// isShellVariable reports whether a value is a shell variable.
func isShellVariable(v []byte) bool {
	end := text.NameSet.RunEnd(v, 1)
	return end == len(v) && (inCapitals(v[1:]) || isIdentifier(v[1:]) || len(v) == 2) || len(v) < 3
}

// isDummy reports whether the letters of a value are a common stand-in.
func isDummy(v []byte) bool {
	var buf [24]byte
	low := buf[:0]
	for _, b := range v {
		if !text.AlnumSet[b] || text.DigitSet[b] {
			continue
		}
		if len(low) == len(buf) {
			return false
		}
		low = text.AppendLower(low, []byte{b})
	}
	return isWord(low, dummyWord)
}

// isLowEntropy reports whether a value has too few different characters, or mostly
// characters in alphabetical order.
func isLowEntropy(v []byte) bool {
	if len(v) == 0 {
		return true
	}
	var seen [256]bool
	distinct, next := 0, 0
	for i, b := range v {
		if !seen[b] {
			seen[b] = true
			distinct++
		}
		if i > 0 && (b == v[i-1]+1 || b == v[i-1] || b == '0' && v[i-1] == '9') {
			next++
		}
	}
	switch {
	case len(v) >= 16 && distinct < 6, len(v) >= 8 && distinct < 4, distinct < 3:
		return true
	}
	return len(v) >= 6 && next*10 >= len(v)*6
}
