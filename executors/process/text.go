package process

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// runeDecoder converts one stream to valid UTF-8, however it is cut into chunks. An
// incomplete rune waits for the next chunk, and invalid bytes become U+FFFD. Later
// steps can therefore treat each chunk as text.
type runeDecoder struct {
	incomplete []byte // the beginning of a rune, at most 3 bytes
}

// decode returns the text of the next chunk. It may share memory with chunk.
func (r *runeDecoder) decode(chunk []byte) []byte {
	if len(r.incomplete) > 0 {
		chunk = append(r.incomplete, chunk...)
	}
	whole := len(chunk) - incompleteLen(chunk)
	r.incomplete = bytes.Clone(chunk[whole:])
	if chunk = chunk[:whole]; utf8.Valid(chunk) {
		return chunk
	}
	return bytes.ToValidUTF8(chunk, []byte("\uFFFD"))
}

// finish returns the text for an incomplete rune at the end of the stream.
func (r *runeDecoder) finish() []byte {
	if len(r.incomplete) == 0 {
		return nil
	}
	r.incomplete = nil
	return []byte("\uFFFD")
}

// incompleteLen returns the length of an incomplete rune at the end of b.
func incompleteLen(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if c := b[len(b)-n]; utf8.RuneStart(c) {
			if utf8.FullRune(b[len(b)-n:]) {
				return 0
			}
			return n
		}
	}
	return 0
}

// headTailBuffer keeps the first head and the last tail bytes of the text written to
// it, both cut between runes. Its memory grows with the kept text.
type headTailBuffer struct {
	maxHead, maxTail int // limits in bytes
	head             []byte
	headFull         bool   // head takes no more
	tail             []byte // a ring once it has maxTail bytes
	oldest           int    // index of the oldest byte in the ring, which is overwritten next
	dropped          int64  // bytes between head and tail
}

// write adds text.
func (b *headTailBuffer) write(text []byte) {
	if !b.headFull {
		n := runeCut(text, b.maxHead-len(b.head))
		b.head = append(b.head, text[:n]...)
		text, b.headFull = text[n:], n < len(text)
	}
	if over := len(text) - b.maxTail; over > 0 { // only its end fits
		b.dropped += int64(len(b.tail) + over)
		b.tail, b.oldest = b.tail[:0], 0
		text = text[over:]
	}
	n := min(b.maxTail-len(b.tail), len(text))
	b.tail = append(b.tail, text[:n]...)
	b.dropped += int64(len(text) - n)
	for text = text[n:]; len(text) > 0; text = text[n:] {
		n = copy(b.tail[b.oldest:], text)
		b.oldest = (b.oldest + n) % b.maxTail
	}
}

// parts returns the kept text, and the number of bytes dropped from its middle.
func (b *headTailBuffer) parts() (head, tail string, dropped int64) {
	if b.dropped == 0 {
		return string(b.head), string(b.tail), 0
	}
	var s strings.Builder
	s.Grow(len(b.tail))
	s.Write(b.tail[b.oldest:])
	s.Write(b.tail[:b.oldest])
	tail = s.String()
	skip := 0
	for skip < len(tail) && skip < utf8.UTFMax-1 && !utf8.RuneStart(tail[skip]) {
		skip++
	}
	return string(b.head), tail[skip:], b.dropped + int64(skip)
}

// text returns the kept text, with a line in place of dropped bytes.
func (b *headTailBuffer) text() (s string, cut bool) {
	head, tail, dropped := b.parts()
	if dropped == 0 {
		return head + tail, false
	}
	return executors.JoinLines(head, executors.CutMark(quantity.CountGrouped(dropped, "byte"))+"\n") + tail, true
}

// runeCut returns the largest length up to n at which text can be cut between runes.
func runeCut(text []byte, n int) int {
	if n >= len(text) {
		return len(text)
	}
	n = max(n, 0)
	for back := 0; n > 0 && back < utf8.UTFMax && !utf8.RuneStart(text[n]); back++ {
		n--
	}
	return n
}
