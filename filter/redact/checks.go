package redact

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// checks decide whether a candidate can be a credential.
var checks = map[string]func(c *candidate) bool{
	"": func(c *candidate) bool { return hasEntropy(c.value) },
	"random": func(c *candidate) bool {
		return hasEntropy(c.value) && isRandom(c.value) && !endsInHash(c.line[:c.from])
	},
	"random or uuid": func(c *candidate) bool {
		return hasEntropy(c.value) && (isRandom(c.value) || len(c.value) > 36 && hasShape(c.value[:36], "uuid"))
	},
	"secret": func(c *candidate) bool { return !isPlaceholder(c.value) && isRandom(c.value) },
	"password": func(c *candidate) bool {
		return isBelievable(c.value, passwordName, quotedForm) && !hasShape(c.value, "option") && !hasShape(c.value, "version")
	},
	"data":   func(c *candidate) bool { return isBelievable(c.value, passwordName, dataForm) },
	"likely": func(c *candidate) bool { return bytes.IndexByte(c.value, ' ') < 0 && isLikely(c.value) },
	"argument": func(c *candidate) bool {
		return text.HasDigit(c.value) && isBelievable(c.value, passwordName, quotedForm)
	},
	"short name": func(c *candidate) bool {
		return text.HasDigit(c.value) && (c.quoted || !isCodeLike(c.value)) && isBelievable(c.value, passwordName, quotedForm)
	},
	"mnemonic":  func(c *candidate) bool { return isMnemonic(c.value) },
	"pin":       isPIN,
	"name":      func(c *candidate) bool { return isBelievable(c.value, c.class(), form{quoted: c.quoted}) },
	"data name": func(c *candidate) bool { return isBelievable(c.value, c.class(), dataForm) },
	"quoted name": func(c *candidate) bool {
		n := c.class()
		return c.to < len(c.line) && !isCodeLike(c.value) && isBelievable(c.value, n, quotedForm) && (n == passwordName && text.HasDigit(c.value) || isRandom(c.value))
	},
	"setting": func(c *candidate) bool { // alone on its line
		const shortest = 16
		from, _ := c.name()
		return len(c.value) >= shortest && bytes.IndexByte(c.value, ' ') < 0 && len(bytes.TrimSpace(c.line[:from])) == 0 &&
			c.class() >= tokenName && isBelievable(c.value, c.class(), bareForm) && isRandom(c.value)
	},
}

// hasEntropy reports whether a value has enough different characters and does not call itself an
// example.
func hasEntropy(v []byte) bool {
	v = v[:min(len(v), 256)]
	return !isLowEntropy(v) && !rules().example.Find(v)
}

// isPIN reports whether a value is a PIN and not the number of a pin: four to eight digits, and nothing
// but the name before it, in capitals, or the word of an owner in the line.
func isPIN(c *candidate) bool {
	if len(c.value) < 4 || len(c.value) > 8 || !text.DigitSet.All(c.value) {
		return false
	}
	before := bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(c.line[:c.keyword]), []byte("export ")))
	alone := len(before) == 0 || string(before) == "export"
	return alone && c.line[c.keyword] == 'P' && c.to == len(c.line) || owners.Find(c.line)
}

// owners are words for who or what has a PIN.
var owners = text.NewWords("user", "name", "card", "account", "login", "customer", "phone", "sim", "puk")

// mechanisms find what no expression can. The keyword begins at from and ends at body.
var mechanisms = map[string]func(m *Stream, l []byte, from, body int){
	"authorization":  func(m *Stream, l []byte, _, body int) { m.scanAuthorization(l, body-1) },
	"cell":           (*Stream).scanCell,
	"cookie file":    (*Stream).scanCookieFile,
	"copied":         (*Stream).scanCopied,
	"database login": (*Stream).scanDatabaseLogin,
	"encoded key":    (*Stream).scanEncodedKey,
	"encoded text":   (*Stream).scanEncoded,
	"piped":          (*Stream).scanPiped,
	"tuples":         (*Stream).scanTuples,
	"web key":        (*Stream).scanWebKeys,
}
