package wire

import (
	"bytes"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// JSON may write a character beyond U+FFFF as two escapes, its surrogates. If a server cuts
// a text between UTF-16 units, one is at the end of an event and the other at the start of
// the next. Decoded separately, each is an invalid character.
var (
	highAtEnd  = lazyregexp.New(`(?i)(?:^|[^\\])(?:\\\\)*(\\ud[89ab][0-9a-f]{2})"`)
	lowAtStart = lazyregexp.New(`(?i):\s*"(\\ud[c-f][0-9a-f]{2})`)
)

// surrogates joins the halves of characters. The zero value is ready.
type surrogates struct {
	high []byte // the escape that waits for its other half
}

// join returns the data of an event, with a half character moved to the next event.
func (s *surrogates) join(data []byte) []byte {
	if !bytes.Contains(data, []byte(`\ud`)) && !bytes.Contains(data, []byte(`\uD`)) {
		s.high = nil
		return data
	}
	if at := lowAtStart.FindSubmatchIndex(data); at != nil && s.high != nil {
		data = append(append(bytes.Clone(data[:at[2]]), s.high...), data[at[2]:]...)
	}
	s.high = nil
	if at := highAtEnd.FindSubmatchIndex(data); at != nil {
		s.high = bytes.Clone(data[at[2]:at[3]])
		data = append(bytes.Clone(data[:at[2]]), data[at[3]:]...)
	}
	return data
}
