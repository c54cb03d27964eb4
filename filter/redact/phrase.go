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

// isMnemonic reports whether a value is a phrase of BIP 39: 12, 15, 18, 21 or 24 words of three to
// eight small letters.
func isMnemonic(v []byte) bool {
	words := bytes.FieldsFunc(v, func(r rune) bool { return r == ' ' || r == ',' })
	for _, w := range words {
		if len(w) < 3 || len(w) > 8 || bytes.ContainsFunc(w, func(r rune) bool { return r < 'a' || r > 'z' }) {
			return false
		}
	}
	return len(words) >= 12 && len(words) <= 24 && len(words)%3 == 0
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
	return inside || digits && (asData || !isCodeLike(v))
}

// isSentenceWord reports whether a word is one that sentences need.
func isSentenceWord(w []byte) bool {
	var buf [8]byte
	return len(w) <= len(buf) && isWord(text.AppendLower(buf[:0], w), sentenceWord)
}
