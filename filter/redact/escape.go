package redact

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// unescapedLine is a line without the escapes that hide a credential. They are those of JSON and
// of URLs. Examples are \u0026 in the password of a URL, \u003d after a name, \/ before a host,
// and password%3D.
type unescapedLine struct {
	text    []byte
	indices []int // the index in the line of each byte of text, and of its end
}

// parse removes the escapes from a line. It reports false if there are no
// escapes.
func (u *unescapedLine) parse(l []byte) bool {
	percent := bytes.Contains(l, []byte("%3"))
	if !percent && !bytes.Contains(l, []byte(`\u00`)) && !bytes.Contains(l, []byte(`\/`)) {
		return false
	}
	u.text, u.indices = u.text[:0], u.indices[:0]
	for i := 0; i < len(l); {
		b, n := l[i], 1
		if percent && b == '%' && i+2 < len(l) && text.IsHexDigit(l[i+1]) && text.IsHexDigit(l[i+2]) {
			if code := nibble(l[i+1])<<4 | nibble(l[i+2]); code > ' ' && code < 0x7f {
				b, n = code, len("%00")
			}
		} else if b == '\\' && i+1 < len(l) {
			switch code, ok := decodeEscape(l[i:]); {
			case l[i+1] == '/':
				b, n = '/', 2
			case ok:
				b, n = code, len(`\u0000`)
			case l[i+1] == '\\': // the next backslash is not an escape
				u.text, u.indices = append(u.text, b), append(u.indices, i)
				i++
			}
		}
		u.text, u.indices = append(u.text, b), append(u.indices, i)
		i += n
	}
	u.indices = append(u.indices, len(l))
	return true
}

// decodeEscape decodes the escape of a printable ASCII byte.
func decodeEscape(l []byte) (b byte, ok bool) {
	if len(l) < len(`\u0000`) || !bytes.HasPrefix(l, []byte(`\u00`)) || !text.IsHexDigit(l[4]) || !text.IsHexDigit(l[5]) {
		return 0, false
	}
	b = nibble(l[4])<<4 | nibble(l[5])
	return b, b >= ' ' && b < 0x7f
}

// nibble returns the value of a hexadecimal digit.
func nibble(b byte) byte {
	if b <= '9' {
		return b - '0'
	}
	return b&0xf + 9
}

// scanEscaped finds credentials that escapes hide.
func (m *Stream) scanEscaped(l []byte) {
	if !m.unescaped.parse(l) {
		return
	}
	n := len(m.hits)
	m.scanPlain(m.unescaped.text)
	for i := n; i < len(m.hits); i++ {
		h := &m.hits[i]
		h.from, h.to = m.unescaped.indices[h.from], m.unescaped.indices[h.to]
	}
}
