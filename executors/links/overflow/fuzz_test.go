package overflow

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
)

// rowsOf returns the rows that lines makes from a text in chunks.
func rowsOf(text []byte, width, chunk int) (all []string, longest int) {
	l := lines{width: width, emit: func(line []byte) bool {
		longest = max(longest, len(line))
		n := 0
		for first := true; first || len(line) > 0; first = false {
			at := offset(line, width)
			all = append(all, string(line[:at]))
			line = line[at:]
			n++
		}
		return true
	}}
	for piece := range slices.Chunk(text, chunk) {
		l.feed(piece)
	}
	l.end()
	return all, longest
}

// The rows of a text are the same for every division into chunks. No row is too long, and
// together they are the text.
func FuzzLines(f *testing.F) {
	f.Add([]byte("a\nb\r\n\nc"), 3, 2)
	f.Add([]byte(strings.Repeat("日本", 2000)), 7, 1)
	f.Add([]byte(strings.Repeat("xy", 2000)+"\r\n"), 5, 100)
	f.Add([]byte("\xff\n\r\n\r"), 1, 1)
	f.Fuzz(func(t *testing.T, text []byte, width, chunk int) {
		width, chunk = 1+int(uint(width)%100), 1+int(uint(chunk)%300)
		whole, _ := rowsOf(text, width, len(text)+1)
		before := bytes.Clone(text)
		got, longest := rowsOf(text, width, chunk)
		if !slices.Equal(whole, got) {
			t.Fatalf("in chunks of %d: %q, want %q", chunk, got, whole)
		}
		if !bytes.Equal(before, text) {
			t.Fatal("the chunks were changed")
		}
		if most := (pieceRows*width + 1) * utf8.UTFMax; longest > most {
			t.Errorf("a line of %d bytes, %d are the most", longest, most)
		}
		count := 0
		for _, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
			if line = strings.TrimSuffix(line, "\r"); len(text) > 0 {
				count += rows([]byte(line), width)
			}
		}
		if count != len(got) {
			t.Errorf("%d rows, want %d", len(got), count)
		}
		for _, row := range got {
			if utf8.RuneCountInString(row) > width {
				t.Errorf("row %q is too long", row)
			}
		}
		if joined, want := strings.Join(got, ""), strings.ReplaceAll(strings.ReplaceAll(string(text), "\r\n", ""), "\n", ""); joined != strings.TrimSuffix(want,
			"\r") && joined != want {
			t.Errorf("%q, want %q", joined, want)
		}
	})
}

// For every text and input, the answer is short enough, and following its
// offsets leads to the end of the text.
func FuzzReadOverflow(f *testing.F) {
	f.Add("", numbered(500), 3, 0, "")
	f.Add("", numbered(500), 0, 2, "line 4")
	f.Add("", strings.Repeat("日本", 2000), 0, 0, "本日")
	f.Add("", "a\xff\r\n\x00", 0, 1, "^")
	f.Add("overflow:x", "", -1, 0, "(")
	on := regexp.MustCompile(`; continue with offset (\d+)\]$|continue with offset (\d+)\]$`)
	f.Fuzz(func(t *testing.T, id, text string, offset, limit int, pattern string) {
		o := small()
		o.MaxChars = 200
		if id == "" {
			id = keptAs(t, o, "s", text)
		}
		for step := 0; ; step++ {
			in := must(json.Marshal(readInput{ID: id, Offset: offset, Limit: limit, Pattern: pattern}))
			call := &executors.Call{Tool: toolName, Session: "s", Input: in}
			_, unfit := o.Tools().Prepare(t.Context(), call)
			res, err := o.Tools().Execute(t.Context(), call)
			if err != nil || unfit != nil && !res.Failed {
				t.Fatalf("%v, %q, %v", unfit, res.ForModel(), err)
			}
			if res.Failed {
				return
			}
			if n := utf8.RuneCountInString(res.ForModel()); n > o.MaxChars || !utf8.ValidString(res.ForModel()) {
				t.Fatalf("got %d characters, want valid UTF-8 with %d at most: %q", n, o.MaxChars, res.ForModel())
			}
			m := on.FindStringSubmatch(res.ForModel())
			if m == nil {
				return
			}
			next, _ := strconv.Atoi(m[1] + m[2])
			if next <= offset || step > len(text) {
				t.Fatalf("from %d it goes on at %d: %q", offset, next, res.ForModel())
			}
			offset = next
			if step > 50 { // far enough
				return
			}
		}
	})
}
