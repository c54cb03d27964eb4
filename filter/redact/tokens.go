package redact

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// canBeginToken reports whether a token can begin at at: not within a word, but
// after an escape of a terminal, a string or a URL.
func canBeginToken(l []byte, at int) bool {
	if at == 0 || !text.AlnumSet[l[at-1]] {
		return true
	}
	switch b := l[at-1]; {
	case at > 1 && l[at-2] == '\\':
		return b == 'n' || b == 'r' || b == 't'
	case at > 2 && l[at-3] == '%':
		return text.IsHexDigit(l[at-2]) && text.IsHexDigit(b)
	case b == 'm': // a colour
		i := at - 2
		for i >= 0 && at-i < 24 && (text.DigitSet[l[i]] || l[i] == ';' || l[i] == ':') {
			i--
		}
		return i > 0 && l[i] == '['
	}
	return false
}

// endsInHash reports whether the next bytes belong to a hash or another run of
// Base64. The name of a file is not one, although a slash precedes it.
func endsInHash(before []byte) bool {
	n := len(before)
	if n > 0 && before[n-1] == '/' {
		return isRandom(before[base64Start(before):])
	}
	return n > 0 && bytes.IndexByte([]byte("_-+"), before[n-1]) >= 0 ||
		n > 6 && (before[n-1] == '=' || before[n-1] == ':') && text.HasAnyPrefix(before[n-7:], "sha256", "sha512", "sha384")
}
