package process

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

// chunks cuts b into pieces of changing size.
func chunks(b []byte, size uint8) (all [][]byte) {
	for i := 0; len(b) > 0; i++ {
		n := min(1+(int(size)+i)%7, len(b))
		all = append(all, b[:n])
		b = b[n:]
	}
	return all
}

func FuzzRunes(f *testing.F) {
	f.Add([]byte("aé€😀"), uint8(0))
	f.Add([]byte("\xff\xe2\x82"), uint8(3))
	f.Add([]byte("\xf0\x9f\x98"), uint8(1))
	f.Fuzz(func(t *testing.T, b []byte, size uint8) {
		var r runeDecoder
		var got []byte
		for _, c := range chunks(b, size) {
			text := r.decode(c)
			if !utf8.Valid(text) {
				t.Fatalf("not UTF-8: %q", text)
			}
			got = append(got, text...)
		}
		got = append(got, r.finish()...)
		if utf8.Valid(b) && !bytes.Equal(got, b) {
			t.Errorf("changed %q to %q", b, got)
		}
		trim := func(b []byte) string { return strings.ReplaceAll(string(bytes.ToValidUTF8(b, nil)), "\uFFFD", "") }
		if trim(got) != trim(b) {
			t.Errorf("changed the text of %q to %q", b, got)
		}
	})
}

func FuzzBuffer(f *testing.F) {
	f.Add("aé€😀bcdefgh", uint8(3), uint8(4), uint8(0))
	f.Add("😀😀😀", uint8(0), uint8(5), uint8(1))
	f.Add("ééé", uint8(1), uint8(0), uint8(2))
	f.Fuzz(func(t *testing.T, s string, head, tail, size uint8) {
		s = strings.ToValidUTF8(s, "?")
		b := headTailBuffer{maxHead: int(head), maxTail: int(tail)}
		var r runeDecoder
		for _, c := range chunks([]byte(s), size) {
			b.write(r.decode(c))
		}
		first, last, dropped := b.parts()
		if !utf8.ValidString(first) || !utf8.ValidString(last) || len(first) > int(head) || len(last) > int(tail) {
			t.Fatalf("head %q of %d, tail %q of %d", first, head, last, tail)
		}
		if !strings.HasPrefix(s, first) || !strings.HasSuffix(s, last) || len(first)+len(last)+int(dropped) != len(s) {
			t.Errorf("head %q, tail %q, %d dropped of %q", first, last, dropped, s)
		}
		if len(s) <= int(tail) && dropped != 0 {
			t.Errorf("dropped %d of %q for nothing", dropped, s)
		}
		if lost := int(dropped) - max(len(s)-int(head)-int(tail), 0); lost > 2*(utf8.UTFMax-1) {
			t.Errorf("dropped %d bytes too many of %q", lost, s)
		}
	})
}
