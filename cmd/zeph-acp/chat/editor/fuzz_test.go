package editor

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// pieces are what random tests type and press.
var pieces = strings.Fields("a B z 0 9 . , ; \" ' ( ) { } \\ é e\u0301 \u0301 世界 👨‍👩‍👧 🇩🇪 🇩 " +
	"क् षि \u0600 각 \u200d \u202e \u200b ☺️ ガ " +
	"<ctrl+a> <ctrl+e> <ctrl+b> <ctrl+f> <ctrl+p> <ctrl+n> <alt+b> <alt+f> <home> <end> <ctrl+w> <alt+backspace> <alt+d> <ctrl+u> " +
	"<ctrl+k> <ctrl+y> <alt+y> <ctrl+_> <alt+_> <ctrl+t> <ctrl+d> <backspace> <delete> <alt+enter> <enter> <up> <down> <left> <right> " +
	"<ctrl+r> <ctrl+s> <esc> <esc> <alt+u> <alt+c> <tab> h j k l w b e W E B ^ $ g G f F t T x X s S r ~ J i I A o O d c y D C Y p P u . / 2 3")

func piece(n int) string {
	switch n %= len(pieces) + 3; n {
	case len(pieces):
		return "<ctrl+alt+_>"
	case len(pieces) + 1:
		return "«one two\n\tthree \xff»"
	case len(pieces) + 2:
		return "«\n\n»"
	}
	return pieces[n]
}

// boundaries returns the boundaries of all clusters.
func boundaries(text string) map[int]bool {
	all := map[int]bool{0: true}
	for pos := 0; pos < len(text); {
		cluster, _ := ansi.FirstGraphemeCluster(text[pos:], ansi.WcWidth)
		pos += len(cluster)
		all[pos] = true
	}
	return all
}

// check fails if the editor is not as it must always be.
func check(t *testing.T, e *Editor, keys string) {
	t.Helper()
	bounds := boundaries(e.text)
	if !utf8.ValidString(e.text) || !bounds[e.cursor] {
		t.Fatalf("keys %q: text %q, cursor %d is inside a cluster, or the text is invalid", keys, e.text, e.cursor)
	}
	at := 0
	for i, s := range e.wrapped() {
		if s.start != at && (s.start != at+1 || e.text[at] != '\n') || s.end < s.start || !bounds[s.start] || !bounds[s.end] {
			t.Fatalf("keys %q: text %q: row %d is %+v after %d", keys, e.text, i, s, at)
		}
		at = s.end
	}
	if at != len(e.text) {
		t.Fatalf("keys %q: rows end at %d of %d bytes", keys, at, len(e.text))
	}
	cached := e.rows
	fresh := e.wrap(nil, 0, len(e.text))
	for i := range max(len(cached), len(fresh)) {
		if i >= len(cached) || i >= len(fresh) || cached[i] != fresh[i] {
			t.Fatalf("keys %q: text %q: wrapped row by row %v, at once %v", keys, e.text, cached, fresh)
		}
	}
	columns := e.columns
	rows, row, column := e.Rows(columns)
	if row < 0 || row >= len(rows) || column < 0 || column >= columns {
		t.Fatalf("keys %q: text %q: cursor at %d:%d of %d rows", keys, e.text, row, column, len(rows))
	}
	for _, r := range rows {
		n := 0
		for rest := r; rest != ""; {
			cluster, width := ansi.FirstGraphemeCluster(rest, e.Width)
			n += min(width, max(columns-1, 1)) // a wider one is a row by itself
			rest = rest[len(cluster):]
		}
		if n > max(columns, 2) {
			t.Fatalf("keys %q: row %q has %d columns, want at most %d", keys, r, n, columns)
		}
	}
}

// play presses random keys.
func play(t *testing.T, choices []byte) {
	if len(choices) < 3 {
		return
	}
	e := New(choices[0]%2 == 1)
	e.SetHistory([]string{"old", "a b\nc d", "世界 x"})
	e.Insert("first (text) ")
	columns := int(choices[1])%200 + 1
	if choices[2]%2 == 1 {
		e.Width = ansi.GraphemeWidth
	}
	e.Rows(columns)
	var keys strings.Builder
	for _, n := range choices[3:] {
		keys.WriteString(piece(int(n)))
		press(e, piece(int(n)))
		check(t, e, keys.String())
	}
	e.endSearch()
	if e.kept != nil {
		e.show(len(e.history))
	}
	last := e.Text()
	e.undone = nil // what random keys have undone
	for n := len(e.done) + 1; n > 0; n-- {
		e.undo()
		check(t, e, keys.String())
	}
	if e.Text() != "" {
		t.Fatalf("keys %q: undo of all: %q, want nothing", keys.String(), e.Text())
	}
	for n := len(e.undone) + 1; n > 0; n-- {
		e.redo()
		check(t, e, keys.String())
	}
	if e.Text() != last {
		t.Fatalf("keys %q: undo and redo of all: %q, want %q", keys.String(), e.Text(), last)
	}
}

func FuzzKeys(f *testing.F) {
	f.Add([]byte("\x00\x10\x00abcdefgh"))
	f.Add([]byte("\x01\x03\x01abcdefgh"))
	f.Fuzz(func(t *testing.T, choices []byte) {
		if len(choices) < 200 {
			play(t, choices)
		}
	})
}

func TestRandomKeys(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 1500 {
		choices := make([]byte, 10+rnd.IntN(60))
		for i := range choices {
			choices[i] = byte(rnd.UintN(256))
		}
		play(t, choices)
	}
}

// TestBoundaries checks the ways to find a boundary against a pass over the whole text.
func TestBoundaries(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		var b strings.Builder
		for range rnd.IntN(12) {
			if p := pieces[rnd.IntN(35)]; p[0] != '<' {
				b.WriteString(p)
			}
		}
		s := state{text: b.String()}
		bounds := boundaries(s.text)
		previous := 0
		for pos := range len(s.text) + 1 {
			if !bounds[pos] {
				if got := s.floor(pos); utf8.RuneStart(s.text[pos]) && got != previous {
					t.Fatalf("floor(%d) of %q: %d, want %d", pos, s.text, got, previous)
				}
				continue
			}
			if got := s.prev(pos); got != previous {
				t.Fatalf("prev(%d) of %q: %d, want %d", pos, s.text, got, previous)
			}
			if got := s.boundary(pos); got != pos {
				t.Fatalf("boundary(%d) of %q: %d", pos, s.text, got)
			}
			previous = pos
		}
	}
}
