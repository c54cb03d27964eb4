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

// webToken returns the end of a JSON web token of three or five parts. A
// truncated one may have less of the second.
func webToken(l []byte, from, body int) int {
	if !canBeginToken(l, from) {
		return 0
	}
	end := text.TokenSet.RunEnd(l, body)
	if end-body < 10 || end == len(l) || l[end] != '.' {
		return 0
	}
	parts := 1
	for end < len(l) && l[end] == '.' && parts < 5 {
		next := text.TokenSet.RunEnd(l, end+1)
		if parts == 1 && next-end < 12 && l[min(end+1, len(l)-1)] != '.' {
			return 0
		}
		end = next
		parts++
	}
	if isLowEntropy(l[body:end]) {
		return 0
	}
	return end
}

// webhook returns the end of a URL whose path is the secret.
func webhook(l []byte, _, body int) int {
	end := body
	for end < len(l) && end-body < maxUser && (text.TokenSet[l[end]] || l[end] == '/' || l[end] == '@') {
		end++
	}
	if v := l[body:end]; len(v) < 30 || isLowEntropy(v) || !isRandom(v) && !(len(v) > 36 && isUUID(v[:36])) {
		return 0
	}
	return end
}

// encodedLogin returns the end of registry logins in Base64, as Docker stores
// them.
func encodedLogin(l []byte, from, body int) int {
	const longest = 4 << 10
	if !canBeginToken(l, from) {
		return 0
	}
	return text.Base64Set.RunEnd(l[:min(len(l), body+longest)], body)
}

// passwordHash returns the end of the hash of a password.
func passwordHash(l []byte, _, body int) int {
	const least = 30
	end := body
	for end < len(l) && end-body < maxUser && (base64OrDotSet[l[end]] || l[end] == '$' || l[end] == ',') {
		end++
	}
	if v := l[body:end]; len(v) < least || isLowEntropy(v) || !isRandom(v) {
		return 0
	}
	return end
}

// atlasToken returns the end of a token of Terraform Cloud: 14 bytes, .atlasv1.
// and at least 60 more.
func atlasToken(l []byte, from, body int) int {
	end := text.Base64OrTokenSet.RunEnd(l, body)
	if end-body < 60 || from < 14 || !text.AlnumSet.All(l[from-14:from]) || isLowEntropy(l[body:end]) {
		return 0
	}
	return end
}

// signedKey returns the end of a key of Azure, which has a signature between a
// number of letters and digits before and after it.
func signedKey(before, after int) func(l []byte, from, body int) int {
	return func(l []byte, from, body int) int {
		end := text.AlnumSet.RunEnd(l, body)
		start := from - before
		if start < 0 || end != body+after || !canBeginToken(l, start) || !text.AlnumSet.All(l[start:from]) || isLowEntropy(l[start:end]) {
			return 0
		}
		return end
	}
}

// scanMailchimpKey looks for a key of Mailchimp: 32 hexadecimal digits, -us and the
// number of a data center.
func (m *Stream) scanMailchimpKey(l []byte, i int) {
	const size, maxDigits = 32, 2
	from, at := i-size, i+len("-us")
	end := text.DigitSet.RunEnd(l, at)
	if from < 0 ||
		end == at ||
		end > at+maxDigits ||
		end < len(l) && text.TokenSet[l[end]] ||
		!canBeginToken(l, from) ||
		!text.HexSet.All(l[from:i]) ||
		isLowEntropy(l[from:i]) {
		return
	}
	m.addHit(from, end, serviceKey)
}
