package shell

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

func FuzzBoundBoth(f *testing.F) {
	f.Add(strings.Repeat("line\n", 50), "", 100, true)
	f.Add(strings.Repeat("é", 300), strings.Repeat("\n", 300), 200, false)
	f.Fuzz(func(t *testing.T, s, other string, limit int, more bool) {
		if limit < 0 || limit > 1<<20 {
			return
		}
		a, b, _ := boundBoth(strings.ToValidUTF8(s, "?"), strings.ToValidUTF8(other, "?"), limit, more)
		if n := utf8.RuneCountInString(a + b); n > limit {
			t.Errorf("boundBoth: %d runes, limit %d", n, limit)
		}
	})
}

// For every output, in pieces of any size, the full text is its beginning and
// end, the result's text is the beginning and end of the full text, and the
// counts are right.
func FuzzCapture(f *testing.F) {
	f.Add("aé€😀bcdefgh\n", uint16(3), uint16(4), uint16(1000), uint8(0))
	f.Add("😀", uint16(40000), uint16(5000), uint16(1), uint8(1))
	f.Add("line\n", uint16(20000), uint16(60000), uint16(99), uint8(6))
	f.Fuzz(func(t *testing.T, s string, times, limit, chars uint16, size uint8) {
		s = strings.Repeat(strings.ToValidUTF8(s, "?"), int(times)*64/(len(s)+1))
		c := newCapture(int(limit) + 1)
		for rest := []byte(s); len(rest) > 0; {
			n := min(len(rest), 1+int(size)*997)
			for n < len(rest) && !utf8.RuneStart(rest[n]) {
				n++
			}
			c.Add(rest[:n])
			rest = rest[n:]
		}
		out := outputOf(c)
		full := out.Text
		if out.Full != nil {
			full = out.Full.Window(0, out.Full.Size())
		}
		if !utf8.ValidString(full) || out.Truncated != (len(s) > len(full)) && out.Truncated != (out.Lost > 0) {
			t.Fatalf("truncated %t, lost %d of %d, kept %d", out.Truncated, out.Lost, len(s), len(full))
		}
		if !out.Truncated && full != s {
			t.Fatalf("got %d of %d bytes, want all: it is not truncated", len(full), len(s))
		}
		if out.Truncated {
			head, tail, ok := strings.Cut(full, "[… "+quantity.CountGrouped(out.Lost, "byte")+" cut …]\n")
			if !strings.HasPrefix(s, strings.TrimSuffix(head, "\n")) || !strings.HasSuffix(s, tail) || !ok ||
				int64(len(head)+len(tail))+out.Lost-int64(len(s)) > 1 || int64(len(head)+len(tail))+out.Lost < int64(len(s)) {
				t.Fatalf("head %d, tail %d, lost %d of %d", len(head), len(tail), out.Lost, len(s))
			}
		}
		res := out.result(ending{note: "[exit 1]", failed: true}, int(chars))
		res.Bound(int(chars))
		if n := utf8.RuneCountInString(res.ForModel()); n > max(int(chars), 9) || !utf8.ValidString(res.ForModel()) {
			t.Fatalf("got %d characters, want valid UTF-8 with %d at most", n, max(int(chars), 9))
		}
		if res.Full == nil {
			return
		}
		all := res.Full.Window(0, res.Full.Size())
		// Without room for the note, it is a part of the full text.
		if res.Full.Close(); all != full && all != executors.JoinLines(full, "[exit 1]") {
			t.Fatalf("full has %d bytes of %d", len(all), len(full))
		}
	})
}
