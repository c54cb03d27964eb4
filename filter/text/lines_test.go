package text

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// modelLines is a simple model of Lines.
func modelLines(lines []string) string {
	var out []string
	for _, l := range lines {
		if strings.TrimSpace(l) == "" {
			l = ""
		}
		if l == "" && (len(out) == 0 || out[len(out)-1] == "") {
			continue
		}
		out = append(out, l)
	}
	if len(out) > 0 && out[len(out)-1] == "" {
		out = out[:len(out)-1]
	}
	if len(out) == 0 {
		return ""
	}
	return strings.Join(out, "\n") + "\n"
}

// contents reads all of l.
func contents(t *testing.T, l *Lines) string {
	t.Helper()
	b, err := io.ReadAll(l.Spool().Reader())
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A text whose lines could not all be written is not read as if it were whole.
func TestLinesFullDisk(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", filepath.Join(temp, "missing"))
	t.Setenv("TMP", filepath.Join(temp, "missing"))
	l := NewLines()
	defer l.Close()
	line := strings.Repeat("x", BufferSize)
	for range 100 {
		l.WriteString(line)
	}
	read := 0
	if err := l.Each(func([]byte) { read++ }); !errors.Is(err, fs.ErrNotExist) || read == 0 || read == 100 {
		t.Errorf("Each read %d of 100 lines and returned %v, want some lines and %v", read, err, fs.ErrNotExist)
	}
}

func checkLines(t *testing.T, lines []string) {
	t.Helper()
	l := NewLines()
	defer l.Close()
	for _, line := range lines {
		l.WriteString(line)
	}
	want := modelLines(lines)
	if got := contents(t, l); got != want {
		t.Fatalf("%d lines: %s", len(lines), cmp.Diff(want, got))
	}
	if l.Size() != int64(len(want)) || l.Count() != strings.Count(want, "\n") || l.Err() != nil {
		t.Errorf("%d bytes in %d lines, %v; want %d in %d", l.Size(), l.Count(), l.Err(), len(want), strings.Count(want, "\n"))
	}
	for range 2 { // reading again works
		var got strings.Builder
		if err := l.Each(func(line []byte) { got.Write(append(bytes.Clone(line), '\n')) }); err != nil || got.String() != want {
			t.Fatalf("each: %v, %s", err, cmp.Diff(want, got.String()))
		}
	}
}

func TestLines(t *testing.T) {
	long := strings.Repeat("x", BufferSize)
	for name, lines := range map[string][]string{
		"no lines":              nil,
		"blank":                 {"", " ", "\t"},
		"blank at both ends":    {"", "a", ""},
		"blank in a row":        {"a", "", " ", "", "b"},
		"indented":              {"  a", "\tb"},
		"blanks of Unicode":     {"a", strings.Repeat("\u3000", 30_000), "\u00a0", "b"},
		"a form feed":           {"\f", "a"},
		"as long as the buffer": {long[1:], "a", long, "b", long + "c"},
		"longer":                {strings.Repeat(long, 5) + "y", "a", strings.Repeat(long, 3)},
		"more than memory":      strings.Split(strings.Repeat(strings.Repeat("0123456789", 20)+"\n\n", 9000), "\n"),
	} {
		t.Run(name, func(t *testing.T) { checkLines(t, lines) })
	}
}

func FuzzLines(f *testing.F) {
	f.Add("a\n\n\nb\n ", 1)
	f.Add("abc\n\nd", 70_000)
	f.Fuzz(func(t *testing.T, text string, times int) {
		lines := strings.Split(text, "\n")
		for i := range lines {
			if times > 1 && i%3 == 0 && len(lines[i]) > 0 && len(lines) < 100 {
				lines[i] = strings.Repeat(lines[i], min(times, 100_000/len(lines[i]))+1)
			}
		}
		checkLines(t, lines)
	})
}
