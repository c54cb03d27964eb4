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
