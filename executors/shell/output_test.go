package shell

import (
	"bytes"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
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
		var r runes
		var got []byte
		for _, c := range chunks(b, size) {
			text := r.next(c)
			if !utf8.Valid(text) {
				t.Fatalf("not UTF-8: %q", text)
			}
			got = append(got, text...)
		}
		got = append(got, r.end()...)
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
		b := buffer{head: int(head), tail: int(tail)}
		var r runes
		for _, c := range chunks([]byte(s), size) {
			b.write(r.next(c))
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

func FuzzBound(f *testing.F) {
	f.Add(strings.Repeat("line\n", 50), "", 100, true)
	f.Add(strings.Repeat("é", 300), strings.Repeat("\n", 300), 200, false)
	f.Fuzz(func(t *testing.T, s, other string, limit int, more bool) {
		if limit < 0 || limit > 1<<20 {
			return
		}
		s, other = strings.ToValidUTF8(s, "?"), strings.ToValidUTF8(other, "?")
		got, cut := executors.Bound(s, limit, more)
		if n := utf8.RuneCountInString(got); n > limit || !utf8.ValidString(got) || cut == (got == s) {
			t.Errorf("executors.Bound(%q, %d) = %q (%d runes), %t", s, limit, got, n, cut)
		}
		a, b, _ := boundBoth(s, other, limit, more)
		if n := utf8.RuneCountInString(a + b); n > limit {
			t.Errorf("boundBoth: %d runes, limit %d", n, limit)
		}
	})
}

func TestLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type event struct {
			at   time.Duration
			text string
		}
		var got []event
		begin := time.Now()
		l := startLive(10, func(b []byte) { got = append(got, event{time.Since(begin), string(b)}) })
		say := func(s string) { l.write([]byte(s)); synctest.Wait() }
		say("a")
		say("b")
		say("c")
		time.Sleep(liveInterval)
		synctest.Wait()
		time.Sleep(time.Second)
		say("é")
		say("12345é and more than the budget")
		say("never")
		l.close()
		want := []event{
			{0, "a"}, {liveInterval, "bc"}, {time.Second + liveInterval, "é"},
			{time.Second + liveInterval, "12345\n[… the rest is not shown live …]\n"},
		}
		if len(got) != len(want) {
			t.Fatalf("got %v", got)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("event %d: got %v, want %v", i, got[i], want[i])
			}
		}
	})
}

func TestLivePieces(t *testing.T) {
	text := strings.Repeat("é", livePiece)
	var got []string
	l := startLive(1<<20, func(b []byte) { got = append(got, string(b)) })
	l.write([]byte("x" + text))
	l.close()
	for _, piece := range got {
		if len(piece) > livePiece || !utf8.ValidString(piece) {
			t.Errorf("piece of %d bytes", len(piece))
		}
	}
	if strings.Join(got, "") != "x"+text {
		t.Error("text changed")
	}
}

// Whatever is written in whatever pieces: the full text is the beginning and the
// end of it, the result's text those of the full one, and the counts are right.
func FuzzCapture(f *testing.F) {
	f.Add("aé€😀bcdefgh\n", uint16(3), uint16(4), uint16(1000), uint8(0))
	f.Add("😀", uint16(40000), uint16(5000), uint16(1), uint8(1))
	f.Add("line\n", uint16(20000), uint16(60000), uint16(99), uint8(6))
	f.Fuzz(func(t *testing.T, s string, times, limit, chars uint16, size uint8) {
		s = strings.Repeat(strings.ToValidUTF8(s, "?"), int(times)*64/(len(s)+1))
		c := newCapture(int(limit) + 1)
		for rest := []byte(s); len(rest) > 0; {
			n := max(1, runeCut(rest, 1+int(size)*997))
			if n == 1 && !utf8.FullRune(rest[:1]) {
				_, n = utf8.DecodeRune(rest)
			}
			c.write(rest[:n])
			rest = rest[n:]
		}
		out := c.output()
		full := out.Text
		if out.Full != nil {
			full = out.Full.Window(0, out.Full.Size())
		}
		if !utf8.ValidString(full) || out.Truncated != (len(s) > len(full)) && out.Truncated != (out.Lost > 0) {
			t.Fatalf("truncated %t, lost %d of %d, kept %d", out.Truncated, out.Lost, len(s), len(full))
		}
		if !out.Truncated && full != s {
			t.Fatalf("kept %d of %d", len(full), len(s))
		}
		if out.Truncated {
			head, tail, ok := strings.Cut(full, "[… "+executors.Grouped(out.Lost)+" bytes cut …]\n")
			if !strings.HasPrefix(s, strings.TrimSuffix(head, "\n")) || !strings.HasSuffix(s, tail) || !ok ||
				int64(len(head)+len(tail))+out.Lost-int64(len(s)) > 1 || int64(len(head)+len(tail))+out.Lost < int64(len(s)) {
				t.Fatalf("head %d, tail %d, lost %d of %d", len(head), len(tail), out.Lost, len(s))
			}
		}
		res := out.result(ending{after: "[exit 1]", failed: true}, int(chars))
		if n := utf8.RuneCountInString(res.Text); n > max(int(chars), 9) || !utf8.ValidString(res.Text) {
			t.Fatalf("%d runes of %d", n, chars)
		}
		if res.Full == nil {
			return
		}
		all := res.Full.Window(0, res.Full.Size())
		if res.Full.Close(); all != executors.JoinLines(full, "[exit 1]") {
			t.Fatalf("full has %d bytes of %d", len(all), len(full))
		}
		head, rest, ok := strings.Cut(res.Text, "[… ")
		if ok && !out.Truncated && !strings.Contains(s, "[… ") {
			count, tail, _ := strings.Cut(rest, " characters cut …]\n")
			tail = strings.TrimSuffix(strings.TrimSuffix(tail, "[exit 1]"), "\n")
			kept := utf8.RuneCountInString(strings.TrimSuffix(head, "\n")) + utf8.RuneCountInString(tail)
			missing := utf8.RuneCountInString(s) - kept
			if n, _ := strconv.Atoi(strings.ReplaceAll(count, ",", "")); missing-n < 0 || missing-n > 2 { // line ends that were there, or were added
				t.Fatalf("says %s, missing are %d", count, missing)
			}
		}
	})
}
