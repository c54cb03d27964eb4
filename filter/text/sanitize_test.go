package text

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestSanitize(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"nothing":                    {"", ""},
		"plain":                      {"a\nb\n", "a\nb\n"},
		"no end of line":             {"a\nb", "a\nb\n"},
		"CRLF":                       {"a\r\nb\r\n", "a\nb\n"},
		"colours":                    {"\x1b[1;31merror\x1b[0m: x\x1b[m\n", "error: x\n"},
		"colours with colons":        {"\x1b[38:2::255:0:0mred\x1b[39m\n", "red\n"},
		"private modes":              {"\x1b[?25lx\x1b[?25h\x1b[?1049h\n", "x\n"},
		"title":                      {"\x1b]0;my title\x07x\n", "x\n"},
		"title with ST":              {"\x1b]0;my title\x1b\\x\n", "x\n"},
		"link":                       {"\x1b]8;;https://a.b/\x1b\\text\x1b]8;;\x1b\\\n", "text\n"},
		"device control":             {"\x1bPq#0;2\x1b\\x\n", "x\n"},
		"charset":                    {"\x1b(B\x1b)0x\x1b#8\n", "x\n"},
		"keypad, index":              {"\x1b=\x1b>x\x1bM\x1b7\x1b8\n", "x\n"},
		"C1":                         {"\u009b31mred\u0085\n", "red\n"},
		"unfinished":                 {"x\x1b[31\ny\x1b\nz\x1b]0;t\n", "x\ny\nz0;t\n"},
		"open strings, more lines":   {"\x1b]0;t\nshown\r\n\x1bPq\nalso\n\x1b_x\x1b^y\nend\n", "0;t\nshown\nq\nalso\nxy\nend\n"},
		"a string that never ends":   {"\x1b]0;t\x1b[31mx\n", "0;tx\n"},
		"text after an open string":  {"\x1b]error: disk full\rnext\n\x1b]8;;x\x1b]0;t\x07y\x1b\n", "error: disk full\nnext\n8;;xy\n"},
		"progress":                   {"10%\r50%\r100%\n", "100%\n"},
		"progress, erased":           {"10%\x1b[2K\r50%\x1b[2K\x1b[1Gdone\n", "done\n"},
		"progress, error between":    {"10%\rerror: disk full\r20%\n", "error: disk full\n20%\n"},
		"progress, CR LF":            {"1\r2\r\n3\n", "2\n3\n"},
		"progress, erased after CR":  {"a\n10%\r\x1b[K\n50%\r\x1b[Jdone\n", "a\n\ndone\n"},
		"progress, erased by blanks": {"a\r \r\nb\n", "b\n"},
		"a spinner":                  {"⠙\x1b[1G\x1b[0K⠹\x1b[1G\x1b[0Kdone\n", "done\n"},
		"CR CR LF":                   {"a\r\r\nb\r\r\r\n\rc\r\r", "a\nb\nc\n"},
		"overstrike":                 {"N\bNA\bAM\bME\bE _\bx\n", "NAME x\n"},
		"backspaces beyond":          {"\b\b\ba\n", "a\n"},
		"a backspace over a rune":    {"é\be\n", "e\n"},
		"blank runs":                 {"\n\na\n\n \t\n\nb\n\n\n", "a\n\nb\n"},
		"other controls":             {"a\x00b\x0bc\x0cd\x0ee\x7ff\x07\n", "abcdef\n"},
		"tabs":                       {"a\tb\n", "a\tb\n"},
		"UTF-16":                     {"h\x00i\x00\n\x00", "hi\n"},
		"not UTF-8":                  {"a\xffb\xc3\n", "a\uFFFDb\uFFFD\n"},
		"UTF-8":                      {"naïve ☃ 𝄞\n", "naïve ☃ 𝄞\n"},
		"an escape after bad bytes":  {"\xff\x1b[1mx\n", "\uFFFDx\n"},
		"what erasing leaves":        {"abc\x1b[K\n", "abc\n"},
		"lines drawn again":          {"x\na 1\nb 1\n\x1b[2A\x1b[0Ga 2\nb 2\n\x1b[2Fa 3\nb 3\ny\n", "x\na 3\nb 3\ny\n"},
		"fewer lines":                {"x\na\nb\n\x1b[1A\x1b[2K\x1b[1A\x1b[2K\x1b[Gdone\n", "x\ndone\n"},
		"erased below":               {"x\na\nb\nc\n\x1b[3A\x1b[Jdone\n", "x\ndone\n"},
		"a line above a display":     {"a 1\nb\n\x1b[2A\x1b[0Jlog\na 2\nb\n", "log\na 2\nb\n"},
		"an error above a display":   {"a\nerror: b 1\n\x1b[2A\x1b[Jx\na\nerror: b 2\n\x1b[2A\x1b[Ja\nerror: b 3\n", "x\na\nerror: b 3\n"},
		"an error is drawn over":     {"a\nerror: disk full\n\x1b[1A\x1b[2Kb\nc\n", "a\nerror: disk full\nb\nc\n"},
		"two errors in a line":       {"error 1\rerror 2\rok\n", "error 1\nerror 2\nok\n"},
		"one row of three":           {"a\nb\nc\n\x1b[2A\x1b[2K\rB\x1b[2B\rd\n", "a\nB\nc\nd\n"},
		"changed in the middle":      {"got 1, left 10\n\x1b[1A\x1b[5G2\x1b[8Cé\x1b[K\x1b[1B\x1b[Gx\n", "got 2, left 1é\nx\n"},
		"beyond the end":             {"ab\x1b[5Gc\x1b[2D-\n", "ab -c\n"},
		"above the first line":       {"a\n\x1b[9Ab\n\x1b[9Bc\n", "b\nc\n"},
		"erased above":               {"a\n\x1b[1J\x1b[2J\x1b[3Kb\n", "a\nb\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := string(Sanitize([]byte(tt.in))); got != tt.want {
				t.Errorf("Sanitize(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

// A line of any length takes bounded memory and loses nothing.
func TestSanitizeLongLine(t *testing.T) {
	in := strings.Repeat("☃x\x1b[31m", 1<<20)
	longest, total := 0, 0
	s := Sanitizer{Emit: func(line []byte) {
		longest, total = max(longest, len(line)), total+len(line)
		if !utf8.Valid(line) || bytes.IndexByte(line, escape) >= 0 || bytes.Contains(line, []byte("[31m")) {
			t.Fatalf("a line with %q", line[max(0, len(line)-20):])
		}
	}}
	for len(in) > 0 {
		n := min(len(in), 70_001)
		s.Write([]byte(in[:n]))
		in = in[n:]
	}
	s.End()
	if longest > MaxLine || total != 4<<20 || cap(s.raw) > 4*MaxLine {
		t.Errorf("lines up to %d bytes, %d in all, %d held", longest, total, cap(s.raw))
	}
}

// Only the last lines can change. They are held until then, within bounds.
func TestSanitizeRows(t *testing.T) {
	lines, size := 0, 0
	s := Sanitizer{}
	s.Emit = func(line []byte) {
		lines++
		size = max(size, s.rows.size)
		if bytes.Contains(line, []byte("new")) && lines != 1001-maxRows && lines != 1002-maxRows {
			t.Errorf("line %d is %q", lines, line)
		}
	}
	s.Write([]byte(strings.Repeat("old\n", 1000) + "\x1b[500A" + "new 1\nnew 2\n"))
	s.Write([]byte(strings.Repeat(strings.Repeat("long ", 10_000)+"\n", 100)))
	s.End()
	if size > maxRowBytes+2*MaxLine {
		t.Errorf("%d bytes were held", size)
	}
}

// The size of writes does not matter, and the result is clean.
func FuzzSanitize(f *testing.F) {
	for _, seed := range []string{"a\x1b[31mb\r\nc\bd\n", "\x1b]0;t\x07x\r1%\rerror\r2%", "\u009b1mx\xff\xc2", "\n\n\n \n",
		"a\nb\n\x1b[2A\x1b[3Gc\x1b[J\x1b[2Bd\x1b[2D\x1b[Ke"} {
		f.Add([]byte(seed), uint8(3))
	}
	f.Fuzz(func(t *testing.T, in []byte, step uint8) {
		want := Sanitize(in)
		var got []byte
		s := Sanitizer{Emit: func(line []byte) { got = append(append(got, line...), '\n') }}
		for rest := in; len(rest) > 0; {
			n := min(len(rest), int(step)+1)
			s.Write(rest[:n])
			rest = rest[n:]
		}
		s.End()
		if !bytes.Equal(got, want) {
			t.Errorf("in pieces %q, as a whole %q", got, want)
		}
		if !utf8.Valid(want) {
			t.Errorf("not UTF-8: %q", want)
		}
		for _, r := range string(want) {
			if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
				t.Fatalf("%q has %q", want, r)
			}
		}
		if again := Sanitize(want); !bytes.Equal(again, want) {
			t.Errorf("again %q, want %q", again, want)
		}
	})
}
