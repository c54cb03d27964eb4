package redact

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// isPassphrase reports whether a value is at least four random words, without the
// words that sentences need.
func isPassphrase(v []byte) bool {
	words, from := 0, 0
	for i := 0; i <= len(v); i++ {
		switch {
		case i < len(v) && v[i] >= 'a' && v[i] <= 'z':
		case i < len(v) && v[i] != ' ' && v[i] != '-', i-from < 3, i-from > 10, isSentenceWord(v[from:i]):
			return false
		default:
			words++
			from = i + 1
		}
	}
	return words >= 4
}

// isPhrase reports whether a quoted value with blanks is a password and not a
// text about one.
func isPhrase(v []byte, asData bool) bool {
	if len(v) > 80 || bytes.IndexByte([]byte(".?:"), v[len(v)-1]) >= 0 {
		return false
	}
	if isPassphrase(v) {
		return true
	}
	digits, inside := false, false
	for word := range bytes.FieldsSeq(v) {
		if isSentenceWord(word) {
			return false
		}
		for i, b := range word {
			digits = digits || text.DigitSet[b]
			inside = inside || i > 0 && i+1 < len(word) && text.DigitSet[b] && text.IsLetter(word[i-1]) && text.IsLetter(word[i+1])
		}
	}
	return inside || asData && digits
}

// isSentenceWord reports whether a word is one that sentences need.
func isSentenceWord(w []byte) bool {
	var buf [8]byte
	return len(w) <= len(buf) && isWord(text.AppendLower(buf[:0], w), sentenceWord)
}
