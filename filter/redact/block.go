package redact

import (
	"bytes"
	"encoding/base64"

	"github.com/zeph-acp/zeph-acp/filter/text"
)

// keyBlock is the state of a PEM private key that began on an earlier line.
type keyBlock struct {
	open       bool
	counted    bool // the key was counted as found
	width      int  // bytes of a full line of the body; 0 before the first
	lastSeen   bool // a shorter line of the body came, so it was the last
	prefixByte byte // the byte before the body on each line; 0 means none
}

// scanKeyMarker looks for the begin or the end of a private key after dashes.
func (m *Stream) scanKeyMarker(l []byte, at int) {
	for at < len(l) && l[at] == ' ' {
		at++
	}
	const begin, end = "BEGIN ", "END "
	var open bool
	switch rest := l[at:]; {
	case text.HasAnyPrefix(rest, begin):
		open = true
		at += len(begin)
	case !text.HasAnyPrefix(rest, end):
		return
	}
	dashes := bytes.Index(l[at:min(len(l), at+80)], []byte("----"))
	if dashes < 0 || !bytes.Contains(l[at:at+dashes], []byte("PRIVATE KEY")) {
		return
	}
	if !open {
		m.endKey(l, at)
		return
	}
	at += dashes
	for at < len(l) && l[at] == '-' {
		at++
	}
	m.Release()
	m.block = keyBlock{open: true}
	const maxBegins = 16 // a line with more of them holds no keys
	if m.keyBegins++; m.keyBegins > maxBegins {
		return
	}
	rest := l[at:]
	if stop := bytes.Index(rest, []byte("-----END")); stop >= 0 {
		rest = rest[:stop]
		m.block.open = false
	} else if stop := bytes.Index(rest, []byte("---- END")); stop >= 0 {
		rest = rest[:stop]
		m.block.open = false
	} else if stop := bytes.IndexAny(rest, "\"'`<"); stop >= 0 {
		rest = rest[:stop]
	}
	if isMostlyBase64(rest) && !isMask(rest) {
		m.addHit(at, at+len(rest), privateKey)
	}
	m.block.counted = isMostlyBase64(rest)
}

// isMostlyBase64 reports whether a text has enough Base64 to be part of a key.
func isMostlyBase64(body []byte) bool {
	const least = 16
	n := 0
	for _, b := range body {
		if text.Base64Set[b] {
			n++
		}
	}
	return n >= least && 4*n >= 3*len(body)
}

// endKey masks the text before the end of a private key whose begin is missing.
// at is the index of the marker.
func (m *Stream) endKey(l []byte, at int) {
	from := at
	for from > 0 && (l[from-1] == '-' || l[from-1] == ' ') {
		from--
	}
	if start := base64Start(l[:from]); !m.block.open && isMostlyBase64(l[start:from]) &&
		!bytes.Contains(l[start:from], []byte(maskBegin)) && bytes.IndexByte(l[start:from], '-') < 0 {
		m.addHit(start, from, privateKey)
	} else {
		m.maskHeld()
	}
	m.block = keyBlock{}
}

// base64Start returns the start of the Base64 at the end of a text. Its line
// ends may be escaped.
func base64Start(body []byte) int {
	from := len(body)
	for from > 0 && (text.Base64Set[body[from-1]] || body[from-1] == '\\') {
		from--
	}
	return from
}

// scanKeyLine looks for the body of a private key on a line after its begin.
func (m *Stream) scanKeyLine(l []byte) {
	b := &m.block
	from, to := keyBody(l)
	run := l[from:to]
	switch prefix := l[:from]; {
	case bytes.Contains(l, []byte("---- END")), bytes.Contains(l, []byte("-----END")): // handled by marker
		end := bytes.Index(l, []byte("----"))
		if part := bytes.TrimLeft(l[:end], " \t"); isMostlyBase64(part) && !isMask(part) {
			m.addHit(end-len(part), end, privateKey)
			m.countKeyOnce()
		}
		return
	case endsInMask(l):
		if b.width == 0 && !bytes.HasSuffix(trimTrailingMarks(l), []byte(rules().masks[privateKey])) { // of another value
			b.open = false
		}
		return
	case b.width == 0 && len(run) < 40 && isKeyHeader(l): // a longer run follows the place that grep prints
		return
	case len(run) == 0, b.lastSeen && run[0] != '=':
	case b.width == 0:
		if len(run) >= 16 && (len(run) >= 40 || len(bytes.TrimSpace(prefix)) == 0) && len(prefix) <= 120 {
			b.width = len(run)
			b.prefixByte = lastByte(prefix)
			m.addHit(from, to, privateKey)
			m.countKeyOnce()
			return
		}
	case len(run) <= b.width+2 && (len(run) >= b.width && len(prefix) <= 120 || lastByte(prefix) == b.prefixByte):
		b.lastSeen = len(run) < b.width
		if len(run) >= minValue {
			m.addHit(from, to, privateKey)
			m.countKeyOnce()
		}
		return
	case isBase64Line(l): // the whole body on one line
		m.addHit(0, len(l), privateKey)
		m.countKeyOnce()
		return
	}
	b.open = false
}

func isBase64Line(l []byte) bool {
	return len(l) > 100 && isMostlyBase64(l) && bytes.IndexByte(l, ' ') < 0
}

// countKeyOnce counts the lines of one key once.
func (m *Stream) countKeyOnce() {
	if m.block.counted {
		m.found[privateKey]--
	}
	m.block.counted = true
}

func lastByte(prefix []byte) byte {
	if len(prefix) == 0 {
		return 0
	}
	if b := prefix[len(prefix)-1]; b != '\t' {
		return b
	}
	return ' '
}

// endsInMask reports whether a line ends in a mask.
func endsInMask(l []byte) bool {
	l = trimTrailingMarks(l)
	if i := bytes.LastIndex(l, []byte(maskBegin)); i >= 0 {
		return bytes.IndexByte(l[i:], ']') == len(l)-i-1
	}
	return len(l) > 0 && l[len(l)-1] == '*'
}

// isKeyHeader reports whether a line can stand between the begin of a key and its
// body.
func isKeyHeader(l []byte) bool {
	i := bytes.Index(l, []byte(": "))
	return len(bytes.TrimSpace(l)) == 0 || i > 0 && i < 40 && bytes.IndexByte(bytes.TrimSpace(l[:i]), ' ') < 0
}

// trimTrailingMarks removes the marks that a program prints after a line of a text,
// such as quotes.
func trimTrailingMarks(l []byte) []byte {
	for len(l) > 0 {
		n := len(l)
		switch b := l[n-1]; {
		case b == ' ' || b == '\t' || b == '\r' || b == '"' || b == '\'' || b == ',' || b == ';' || b == ')' || b == '\\' || b == '`':
			l = l[:n-1]
		case n > 1 && (b == 'n' || b == 'r') && l[n-2] == '\\':
			l = l[:n-2]
		case n > 1 && b == '+' && (l[n-2] == ' ' || l[n-2] == '"' || l[n-2] == '\''):
			l = l[:n-1]
		default:
			return l
		}
	}
	return l
}

// keyBody returns the bounds of the Base64 at the end of a line.
func keyBody(l []byte) (from, to int) {
	l = trimTrailingMarks(l)
	from = len(l)
	for from > 0 && text.Base64Set[l[from-1]] {
		from--
	}
	if from == 0 && len(l) > 1 && l[0] == '+' { // a line of a diff
		from = 1
	}
	return from, len(l)
}

// heldLines are lines that may belong to a private key whose begin is missing.
// Only the end of the key shows whether they do.
type heldLines struct {
	text []byte
	ends []int // the end of each line in text
}

// maxHeldKey limits the held lines, in bytes. The largest keys are smaller.
const maxHeldKey = 32 << 10

// holdLine reports whether it holds a line back. If not, it passes on the held
// lines.
func (m *Stream) holdLine(l []byte) bool {
	if !mayBeKeyBody(l, len(m.held.ends) > 0) || m.block.open {
		if len(m.held.ends) > 0 {
			m.Release()
		}
		return false
	}
	if len(m.held.text)+len(l) > maxHeldKey {
		m.Release()
	}
	m.held.text = append(m.held.text, l...)
	m.held.ends = append(m.held.ends, len(m.held.text))
	return true
}

// mayBeKeyBody reports whether a line may belong to the body of a key. If more, it
// follows such a line and may be short.
func mayBeKeyBody(l []byte, more bool) bool {
	const long = 40
	n := len(l)
	switch {
	case n < 4 || l[n-1] <= ' ':
		return false
	case n >= long:
		if !text.Base64Set[l[n-long/2]] || !text.Base64Set[l[n-long/4]] {
			return false
		}
	case !more && !(text.Base64Set[l[0]] && text.Base64Set[l[n/2]] && text.Base64Set[l[n/4]] && text.Base64Set[l[3*n/4]]):
		return false
	}
	from, to := keyBody(l)
	return to-from >= long || to > from && from <= 1 || more && to-from >= 4
}

// Release passes on the held lines.
func (m *Stream) Release() {
	from := 0
	for _, end := range m.held.ends {
		l := m.held.text[from:end:end]
		m.emit(l, m.seen.hash(l))
		from = end
	}
	m.held.text, m.held.ends = m.held.text[:0], m.held.ends[:0]
}

// maskHeld masks the held lines and passes them on.
func (m *Stream) maskHeld() {
	from, counted := 0, false
	for _, end := range m.held.ends {
		l := m.held.text[from:end]
		from = end
		if at, to := keyBody(l); to-at >= minValue && !endsInMask(l) {
			m.spareBuffer = append(m.spareBuffer[:0], l[:at]...)
			m.spareBuffer = appendMask(m.spareBuffer, privateKey, to-at)
			l = append(m.spareBuffer, l[to:]...)
			m.spareBuffer = l
			if !counted {
				counted = true
				m.found[privateKey]++
			}
		}
		m.emit(l, m.seen.hash(l))
	}
	m.held.text, m.held.ends = m.held.text[:0], m.held.ends[:0]
}

// scanEncodedKey looks for a PEM private key that is encoded in Base64. If the lines of the
// encoding are short, the key continues on the next ones.
func (m *Stream) scanEncodedKey(l []byte, from, body int) {
	if !canBeginToken(l, from) {
		return
	}
	head := l[from:text.Base64Set.RunEnd(l[:min(len(l), from+64)], body)]
	var plain [48]byte
	n, _ := base64.StdEncoding.Decode(plain[:], head[:len(head)/4*4])
	if !bytes.Contains(plain[:n], []byte("PRIVATE KEY")) {
		return
	}
	end := text.Base64Set.RunEnd(l, body)
	m.addHit(from, end, privateKey)
	const longest = 80
	if end == len(l) && end-from <= longest && l[end-1] != '=' {
		m.block = keyBlock{open: true, counted: true, width: end - from, prefixByte: lastByte(l[:from])}
	}
}
