package process

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"
)

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
	text := strings.Repeat("é", maxLiveEvent)
	var got []string
	l := startLive(1<<20, func(b []byte) { got = append(got, string(b)) })
	l.write([]byte("x" + text))
	l.close()
	for _, piece := range got {
		if len(piece) > maxLiveEvent || !utf8.ValidString(piece) {
			t.Errorf("piece of %d bytes", len(piece))
		}
	}
	if strings.Join(got, "") != "x"+text {
		t.Error("text changed")
	}
}
