package redact

import (
	"bytes"
	"encoding/base64"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

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
