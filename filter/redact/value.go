package redact

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// Limits on the length of a value, in bytes. The upper one also keeps the scan
// of a line full of beginnings linear.
const (
	minValue = 4
	maxValue = 2 << 10
)

// form is how a value is written.
type form struct {
	quoted bool // it has quotes, or another end that is certain
	asData bool // it is not code: NAME=value is data, and name = value may be code
}

// The usual forms.
var (
	bareForm   = form{}
	quotedForm = form{quoted: true}
	dataForm   = form{quoted: true, asData: true}
)

// isBelievable reports whether a value of this form can be the credential that its
// name implies.
func isBelievable(v []byte, n nameClass, f form) bool {
	if len(v) < minValue || len(v) > maxValue || isPlaceholder(v) && !isSaltedHash(v) {
		return false
	}
	if bytes.IndexByte(v, ' ') >= 0 {
		return n >= secretName && f.quoted && isPhrase(v, f.asData)
	}
	if n == passwordName && isSaltedHash(v) {
		return true
	}
	if !f.quoted && (!f.asData && (isCodeLike(v) || v[0] == ':' || isCompoundName(v)) || hasShape(v, "hex-number")) {
		return false
	}
	switch n {
	case passwordName:
		return isBelievablePassword(v, f)
	case secretName:
		if f.asData && len(v) >= 12 && text.HasDigit(v) && isBelievablePassword(v, quotedForm) && !bytes.Contains(v, []byte("secret")) {
			return true
		}
		if len(v) == len("0x")+64 && text.HasAnyPrefix(v, "0x") { // the key of a wallet; 40 digits are an address
			v = v[len("0x"):]
		}
		return len(v) >= 8 && !isReference(v) && !isPath(v) && (isRandom(v) || isMixedWords(v))
	case tokenName:
		return len(v) >= 10 && !isReference(v) && !hasShape(v, "uuid") && !hasShape(v, "address") && !isPath(v) && (isRandom(v) || isMixedWords(v))
	case weakName:
		return len(v) >= 16 && !isReference(v) && !hasShape(v, "uuid") && !hasShape(v, "fingerprint") && !isPath(v) && isRandom(v)
	}
	return false
}

// isBelievablePassword is isBelievable for the value of a passwordName without blanks.
func isBelievablePassword(v []byte, f form) bool {
	letters, numbers, others := 0, 0, 0
	for _, b := range v {
		switch {
		case text.DigitSet[b]:
			numbers++
		case text.AlnumSet[b] || b >= 0x80:
			letters++
		default:
			others++
		}
	}
	switch {
	case isReference(v):
		return false
	case hasShape(v, "password-hash"), isSaltedHash(v):
		return true
	case isPath(v):
		return false
	case letters == 0:
		return (f.quoted || f.asData) && others == 0 && numbers >= 6 || f.asData && numbers+others >= 8 && others > 0 && numbers > 0
	case isWordy(v):
		return f.asData && len(v) >= 8 || isRandom(v) || isPassphrase(v)
	}
	return len(v) >= 6 && (numbers > 0 || others > 0)
}

// isSaltedHash reports whether a value is the hash of a password as LDAP stores it.
func isSaltedHash(v []byte) bool {
	const shortest = 16
	n := saltedHashPrefix(v)
	return n > 0 && len(v) >= n+shortest && !isMask(v[n:])
}

// saltedHashPrefix returns the length of the scheme before such a hash, or 0.
func saltedHashPrefix(v []byte) int {
	if text.HasAnyPrefix(v, "{SSHA", "{SHA", "{CRYPT}", "{PBKDF2", "{SMD5}", "{ARGON2}") {
		return bytes.IndexByte(v[:min(len(v), len("{PBKDF2-SHA512}"))], '}') + 1
	}
	return 0
}

// isReference reports whether a value is a reference to a secret.
func isReference(v []byte) bool {
	return text.HasAnyPrefix(v, rules().Words["reference"]...)
}

// isPath reports whether a value is a path.
func isPath(v []byte) bool {
	return v[0] == '/' && bytes.Count(v, []byte("/")) > 1 && (!text.HasDigit(v) || !isRandom(v))
}

// isWordy reports whether a value consists of words: letters separated by single
// punctuation marks or blanks.
func isWordy(v []byte) bool {
	parted := true
	for _, b := range v {
		switch {
		case b >= 'a' && b <= 'z' || text.IsUpper(b) || b >= 0x80:
			parted = false
		case parted || text.DigitSet[b]:
			return false
		case bytes.IndexByte([]byte("-_./:,' @|+"), b) >= 0:
			parted = true
		case b == '!' || b == '?' || b == ';':
			parted = true
		default:
			return false
		}
	}
	return true
}

// isCodeLike reports whether a bare value is an expression of a program.
func isCodeLike(v []byte) bool {
	for i, b := range v {
		switch b {
		case '(', ')', '[', ']', '{', '}', '<', '>', '`', '"', '\'', '|':
			return true
		case '*', '&':
			if i == 0 && (isIdentifier(v[1:]) || isCompoundName(v[1:])) {
				return true
			}
		case '.':
			// A member of an object; its name does not begin with a digit.
			if i > 0 && !(i+1 < len(v) && text.DigitSet[v[i+1]]) && !isHyphenated(v) && i+1 < len(v) &&
				isIdentifier(v[:i]) && !(len(v)-i > 16 && text.AlnumSet.All(v[i+1:]) && isRandom(v[i+1:])) {
				return true
			}
		case ':', '-':
			if i+1 < len(v) && (v[i+1] == ':' || v[i+1] == '>') {
				return true
			}
		}
	}
	return false
}

// isHyphenated reports whether a hyphen joins a number to a word. Programs write
// a subtraction with blanks.
func isHyphenated(v []byte) bool {
	i := bytes.IndexByte(v, '-')
	return i > 0 && i+1 < len(v) && text.AlnumSet[v[i-1]] && text.AlnumSet[v[i+1]] && text.HasDigit(v)
}

// isIdentifier reports whether a value can be a name in a program and does not
// look random.
func isIdentifier(v []byte) bool {
	return len(v) > 0 && !text.DigitSet[v[0]] && text.TokenSet.All(v) && !isRandom(v)
}

// isCompoundName reports whether a value is a name of several words: WIN32_ERROR,
// byLastLine2.
func isCompoundName(v []byte) bool {
	if inCapitals(v) && text.TokenSet.All(v) && bytes.IndexByte(v, '_') > 0 || len(v) < 12 && isWordy(v) {
		return true
	}
	if !isIdentifier(v) || bytes.IndexByte(v, '-') >= 0 || isMixedWords(v) {
		return false
	}
	parts := 0
	for i := 1; i < len(v); i++ {
		if v[i] == '_' || text.IsUpper(v[i]) && !text.IsUpper(v[i-1]) && !text.DigitSet[v[i-1]] {
			parts++
		}
	}
	return parts > 0 && !endsInNumber(v)
}

// isMixedWords reports whether a value mixes words and numbers more than names
// do, as Tr0ub4dor-9Kx and hunter2_Zeta_9Kx. It has capitals, small letters and
// at least two numbers, one of them at the beginning of a word or inside it.
func isMixedWords(v []byte) bool {
	upper, lower, numbers, odd := false, false, 0, false
	for i := 0; i < len(v); {
		b := v[i]
		if !text.DigitSet[b] {
			switch {
			case text.IsUpper(b):
				upper = true
			case b >= 'a' && b <= 'z':
				lower = true
			case b != '-' && b != '_' && b != '.':
				return false
			}
			i++
			continue
		}
		end := text.DigitSet.RunEnd(v, i)
		numbers++
		begins := i == 0 || !text.AlnumSet[v[i-1]]
		if end < len(v) && (v[end] >= 'a' && v[end] <= 'z' || begins && text.IsUpper(v[end])) {
			odd = true
		}
		i = end
	}
	return upper && lower && odd && numbers >= 2 && len(v) >= minLearned
}

// endsInNumber reports whether a value ends in a number, such as a year, but
// not in the size of a type.
func endsInNumber(v []byte) bool {
	from := len(v)
	for from > 0 && text.DigitSet[v[from-1]] {
		from--
	}
	switch string(v[from:]) {
	case "16", "32", "64", "128", "256", "384", "512":
		return false
	}
	return len(v)-from >= 2
}

// isMixedText reports whether a value has letters and other characters.
func isMixedText(v []byte) bool {
	letters, others := false, false
	for _, b := range v {
		if text.AlnumSet[b] && !text.DigitSet[b] || b >= 0x80 {
			letters = true
		} else {
			others = true
		}
	}
	return letters && others && !isWordy(v)
}
