package editor

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
)

func TestRows(t *testing.T) {
	for name, tt := range map[string]struct {
		text        string
		columns     int
		want        []string
		row, column int
	}{
		"empty":                     {"|", 10, []string{""}, 0, 0},
		"one row":                   {"ab|c", 10, []string{"abc"}, 0, 2},
		"lines":                     {"a\n\nb|", 10, []string{"a", "", "b"}, 2, 1},
		"words":                     {"one two three|", 9, []string{"one two ", "three"}, 1, 5},
		"cursor at a break":         {"one |two", 5, []string{"one ", "two"}, 1, 0},
		"space in the last column":  {"four five|", 5, []string{"four ", "five"}, 1, 4},
		"space at the end of a row": {"four |", 5, []string{"four ", ""}, 1, 0},
		"full row":                  {"four|", 5, []string{"four"}, 0, 4},
		"long word":                 {"a abcdefghij|", 5, []string{"a ", "abcd", "efgh", "ij"}, 3, 2},
		"wide":                      {"世界世|", 6, []string{"世界", "世"}, 1, 2},
		"wide after a word":         {"ab世界|", 6, []string{"ab世", "界"}, 1, 2},
		"wider than the row":        {"世界|", 2, []string{"世", "界"}, 1, 1},
		"combining":                 {"e\u0301e\u0301|x", 3, []string{"e\u0301e\u0301", "x"}, 1, 0},
		"tab":                       {"a\tb|", 10, []string{"a   b"}, 0, 5},
		"tab at the end of a row":   {"abcdef\tb|", 8, []string{"abcdef ", "b"}, 1, 1},
		"direction marks":           {"a\u202eb|", 10, []string{"ab"}, 0, 2},
		"one column":                {"ab|", 1, []string{"a", "b"}, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			e := New(false)
			load(e, tt.text)
			rows, row, column := e.Rows(tt.columns)
			if diff := cmp.Diff(tt.want, rows); diff != "" || row != tt.row || column != tt.column {
				t.Errorf("Rows(%d) of %q: cursor %d:%d, want %d:%d (-want +got)\n%s", tt.columns, tt.text, row, column, tt.row, tt.column, diff)
			}
		})
	}
}

func TestRowsByWidthOfTheTerminal(t *testing.T) {
	e := New(false)
	load(e, "👨‍👩‍👧|")
	if _, _, column := e.Rows(80); column != 6 {
		t.Errorf("rune by rune: column %d, want 6", column)
	}
	e.Width = ansi.GraphemeWidth
	if _, _, column := e.Rows(80); column != 2 {
		t.Errorf("by cluster: column %d, want 2", column)
	}
}

func TestMoveByRows(t *testing.T) {
	for _, tt := range []struct{ text, keys, want string }{
		{"one two three|", "<up>", "one t|wo three"},
		{"one| two three", "<down>", "one two thr|ee"},
		{"one t|wo t\nabcdef", "<down><down>", "one two t\nabcde|f"},
		{"世界世界世|", "<up>", "世|界世界世"},
		{"abc\n世界|", "<left><up>", "ab|c\n世界"},
	} {
		e := New(false)
		load(e, tt.text)
		e.Rows(9)
		press(e, tt.keys)
		if got := marked(e); got != tt.want {
			t.Errorf("%q, keys %q: got %q, want %q", tt.text, tt.keys, got, tt.want)
		}
	}
}

// large returns three prompts of a megabyte each: many lines, one line, and one line of wide characters.
func large() map[string]string {
	return map[string]string{
		"lines": strings.Repeat("\tif err != nil { return fmt.Errorf(\"x\") }\n", 25_000),
		"line":  strings.Repeat("lorem ipsum ", 90_000),
		"wide":  strings.Repeat("世界", 180_000),
	}
}

// TestLarge checks that a key in a large text does not take long. The limit is far above what is
// measured, for slow machines.
func TestLarge(t *testing.T) {
	for name, text := range large() {
		e := New(false)
		begin := time.Now()
		e.Insert(text)
		e.Rows(80)
		press(e, "<up>x<backspace><left><ctrl+w><ctrl+_>")
		e.Rows(80)
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%s: %s", name, took)
		}
		if e.Text() != text {
			t.Errorf("%s: the text has changed", name)
		}
	}
}

func BenchmarkKey(b *testing.B) {
	for name, text := range large() {
		for _, keys := range []string{"x", "<up>", "<left>", "<backspace>"} {
			b.Run(fmt.Sprint(name, " ", keys), func(b *testing.B) {
				e := New(false)
				e.SetText(text)
				e.cursor = e.boundary(len(text) / 2)
				e.Rows(80)
				b.ReportAllocs()
				for b.Loop() {
					press(e, keys)
					e.Rows(80)
				}
			})
		}
	}
}
