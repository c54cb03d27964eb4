package redact

import (
	"bytes"
	"encoding/base64"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// quotedNames are the ends of names that configuration files separate from a quoted value by a
// blank: secret "...", X-Api-Key "...".
var quotedNames = []string{`secret "`, `Secret "`, `-Key "`, `_key "`, `oken "`, `PSK "`, `XAUTH "`, `pass "`, `pwd "`, `rization "`}

// scanQuoted looks for a quoted value after the name that ends at the blank before body.
func (m *Stream) scanQuoted(l []byte, _, body int) {
	to := body - len(` "`)
	from := nameStart(l, to)
	name := l[from:to]
	if equalFold(name, "authorization") {
		m.scanAuthorization(l, body-1)
		return
	}
	n := classifyName(name)
	if string(name) == "XAUTH" {
		n = passwordName
	}
	if n == otherName {
		return
	}
	v := valueFrom(l, body-1)
	if value := l[v.from:v.to]; v.to < len(l) && !isCodeLike(value) && isBelievable(value, n, quotedForm) && (n == passwordName && text.HasDigit(value) || isRandom(value)) {
		m.addHit(v.from, v.to, namedSecret)
	}
}

// settingNames are the ends of names that configuration files separate from a bare value by a
// blank, on a line of their own: shared_key VALUE.
var settingNames = []string{"_key ", "-key ", "secret ", "token "}

// scanSetting looks for a value that is the rest of the line after a name at its beginning.
func (m *Stream) scanSetting(l []byte, _, body int) {
	const shortest = 16
	from := nameStart(l, body-1)
	value := withoutPunctuation(bytes.TrimRight(l[body:], " \t\r"))
	if len(value) < shortest || bytes.IndexByte(value, ' ') >= 0 || len(bytes.TrimSpace(l[:from])) > 0 {
		return
	}
	if n := classifyName(l[from : body-1]); n >= tokenName && isBelievable(value, n, bareForm) && isRandom(value) {
		m.addHit(body, body+len(value), namedSecret)
	}
}

// encodedNames are "password" and "PASSWORD" in Base64, at each alignment and without the
// digits that the bytes around them share.
var encodedNames = []string{"cGFzc3dvcm", "Bhc3N3b3Jk", "wYXNzd29yZ", "UEFTU1dPUk", "BBU1NXT1JE", "QQVNTV09SR"}

// scanEncoded looks for credentials in a text that is encoded in Base64 and has the name of a
// password.
func (m *Stream) scanEncoded(l []byte, from, body int) {
	const longest = 8 << 10
	if body <= m.decodedTo {
		return
	}
	for from > 0 && text.Base64Set[l[from-1]] && l[from-1] != '=' && body-from < longest {
		from--
	}
	to := text.Base64Set.RunEnd(l[:min(len(l), body+longest)], body)
	m.decodedTo = to
	encoded := bytes.TrimRight(l[from:to], "=")
	plain := make([]byte, base64.RawStdEncoding.DecodedLen(len(encoded)))
	n, err := base64.RawStdEncoding.Decode(plain, encoded)
	if err != nil || !isText(plain[:n]) {
		return
	}
	inside := Stream{anchors: m.anchors}
	for line := range bytes.Lines(plain[:n]) {
		if inside.scan(bytes.TrimRight(line, "\r\n")); len(inside.hits) > 0 {
			m.addHit(from, to, inside.hits[0].kind)
			return
		}
	}
}

// isText reports whether all bytes are those of a text in ASCII.
func isText(b []byte) bool {
	for _, c := range b {
		if c < ' ' && !text.SpaceSet[c] && c != '\n' && c != '\r' || c >= 0x7f {
			return false
		}
	}
	return len(b) > 0
}
