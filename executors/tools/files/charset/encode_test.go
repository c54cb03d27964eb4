package charset

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// names are the encodings that the tests go through.
var names = []string{
	"latin1", "windows-1252", "shift_jis", "gbk", "gb18030", "euc-kr", "euc-jp", "big5", "koi8-r", "utf-16le", "utf-16be", "utf-8", "macintosh",
}

// The bytes that a change does not touch stay, whatever they are.
func TestEncodeKeepsBytes(t *testing.T) {
	for name, tt := range map[string]struct{ encoding, content, from, to, want string }{
		"a character with two codes":            {"cp932", "\x81\xca\xee\xf9\xfa\x54 a\n", "a", "b", "\x81\xca\xee\xf9\xfa\x54 b\n"},
		"invalid bytes in the changed line":     {"shift_jis", "x\xff\x80 a\xa0\n", "a", "\u3042", "x\xff\x80 \x82\xa0\xa0\n"},
		"invalid bytes in another line":         {"gbk", "\xff\xfe\na\n\x80\n", "a", "中", "\xff\xfe\n\xd6\xd0\n\x80\n"},
		"a lead byte at the end of a line":      {"euc-kr", "\xb0\na\n", "a", "b", "\xb0\nb\n"},
		"a line in another encoding":            {"utf-8", "\xe4\n\xc3\xa4\n", "ä", "ö", "\xe4\n\xc3\xb6\n"},
		"a byte order mark":                     {"utf-16le", "\xff\xfea\x00\r\x00\n\x00", "a", "ab", "\xff\xfea\x00b\x00\r\x00\n\x00"},
		"half a character of UTF-16":            {"utf-16be", "\xd8\x00\x00a\x00\n\x00", "a", "b", "\xd8\x00\x00b\x00\n\x00"},
		"a line feed in a character of UTF-16":  {"utf-16le", "\x0a\x4e\x0a\x00a\x00", "a", "b", "\x0a\x4e\x0a\x00b\x00"},
		"stray carriage returns":                {"latin1", "\r\r\n\xe4\ra\r\n", "a", "\u00fc", "\r\r\n\xe4\r\xfc\r\n"},
		"a code of four bytes":                  {"gb18030", "\x81\x30\x81\x30a", "a", "😀", "\x81\x30\x81\x30\x94\x39\xfc\x36"},
		"the code of a sign beside a new one":   {"windows-1252", "\x80\x81a", "a", "€", "\x80\x81\x80"},
		"a character of Big5 that is two":       {"big5", "\x88\x62a\n", "a", "b", "\x88\x62b\n"},
		"equal lines with other bytes, removed": {"cp932", "\xee\xf9\n\x81\xca\n\xfa\x54\nx\n", "x\n", "", "\xee\xf9\n\x81\xca\n\xfa\x54\n"},
	} {
		t.Run(name, func(t *testing.T) {
			e := Named(tt.encoding)
			text := e.Decode(tt.content)
			got, err := e.Encode(tt.content, strings.Replace(text, tt.from, tt.to, 1))
			if err != nil || got != tt.want {
				t.Errorf("Encode: %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func TestEncodeMissing(t *testing.T) {
	for _, tt := range []struct {
		encoding, content, text string
		want                    MissingError
	}{
		{"latin1", "a\nb\n", "a\nb€\n", MissingError{"ISO-8859-1", '€', 2}},
		{"shift_jis", "\x82\xa0\n", "あ\n\n😀", MissingError{"Shift_JIS", '😀', 3}},
		{"gbk", "a", "\u00e4", MissingError{"GBK", 'ä', 1}},
		{"euc-kr", "a\n\xff\n", "a\n\uFFFD\n\uFFFD\n", MissingError{"EUC-KR", '\uFFFD', 3}},
		{"gb18030", "a", "\uFFFD", MissingError{"GB18030", '\uFFFD', 1}},
		{"utf-16le", "a\x00", "a\uFFFD", MissingError{"UTF-16LE", '\uFFFD', 1}},
	} {
		got, err := Named(tt.encoding).Encode(tt.content, tt.text)
		if missing, ok := errors.AsType[*MissingError](err); !ok || *missing != tt.want {
			t.Errorf("Encode(%s, %q, %q): %q, %v, want %v", tt.encoding, tt.content, tt.text, got, err, &tt.want)
		}
	}
}

// A new character must not become the second byte of an invalid one.
func TestEncodeMerges(t *testing.T) {
	e := Named("shift_jis")
	if got, err := e.Encode("\x81", e.Decode("\x81")+"A"); err != errMerged {
		t.Errorf("Encode: %q, %v, want %v", got, err, errMerged)
	}
}

// A long file with invalid bytes in every line keeps them when every line changes.
func TestEncodeLong(t *testing.T) {
	e := Named("gbk")
	var content, want strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&content, "%d \xff = old;\n", i)
		fmt.Fprintf(&want, "%d \xff = new;\n", i)
	}
	got, err := e.Encode(content.String(), strings.ReplaceAll(e.Decode(content.String()), "old", "new"))
	if err != nil || got != want.String() {
		t.Errorf("Encode of a long file: %v, or other bytes than the changed ones are new", err)
	}
}

// A change in a long line needs little memory.
func BenchmarkEncodeLongLine(b *testing.B) {
	e := Named("shift_jis")
	content := strings.Repeat("\x82\xa0x\xff", 1<<20) + "a" + strings.Repeat("\x82\xa0x\xff", 1<<20)
	text := strings.Replace(e.Decode(content), "a", "い", 1)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Encode(content, text); err != nil {
			b.Fatal(err)
		}
	}
}

// FuzzDetect checks that a detected file keeps its bytes.
func FuzzDetect(f *testing.F) {
	f.Add("f\xfcr alle\n")
	f.Add("\xff\xfea\x00\x00\xd8")
	f.Fuzz(func(t *testing.T, content string) {
		if e := Detect(content); e != nil {
			if got, err := e.Encode(content, e.Decode(content)); err != nil || got != content {
				t.Errorf("%s: %q becomes %q, %v", e.Name(), content, got, err)
			}
		}
	})
}

// FuzzEncode replaces one line of an arbitrary file. All other lines keep their bytes, and so does the file if the line is changed back.
func FuzzEncode(f *testing.F) {
	for i := range names {
		f.Add(i, "a\xff\n\x82\xa0\xee\xf9\r\n\x00\n", 1, "x", 0)
		f.Add(i, "\xff\xfea\x00\n\x00\xd8\n\x00", 0, "\u00e4", 1)
	}
	f.Fuzz(func(t *testing.T, number int, content string, line int, added string, at int) {
		e := Named(names[uint(number)%uint(len(names))])
		text := e.Decode(content)
		var units strings.Builder
		all, _, _ := (&writer{Encoding: e}).between(content, 0, len(text))
		for _, u := range all {
			units.WriteString(u.text)
		}
		if units.String() != text {
			t.Errorf("units of %q in %s are %q, want %q", content, e.Name(), units.String(), text)
		}
		if same, err := e.Encode(content, text); err != nil || same != content {
			t.Errorf("Encode(%s, %q) of the same text: %q, %v", e.Name(), content, same, err)
		}
		if strings.Contains(added, "\n") {
			return
		}
		var lines []string
		for l := range e.lines(content) {
			lines = append(lines, l)
		}
		if len(lines) == 0 {
			return
		}
		n := int(uint(line) % uint(len(lines)))
		chars := []rune(e.Decode(lines[n]))
		end := len(chars)
		if end > 0 && chars[end-1] == '\n' {
			end--
		}
		split := int(uint(at) % uint(end+1))
		before, after := e.Decode(strings.Join(lines[:n], "")), e.Decode(strings.Join(lines[n+1:], ""))
		changed, err := e.Encode(content, before+string(chars[:split])+added+string(chars[split:])+after)
		if err != nil { // the encoding may lack a character
			return
		}
		head, tail := strings.Join(lines[:n], ""), strings.Join(lines[n+1:], "")
		if !strings.HasPrefix(changed, head) || !strings.HasSuffix(changed, tail) || len(changed) < len(head)+len(tail) {
			t.Errorf("Encode(%s, %q) with %q in line %d: %q changes other lines", e.Name(), content, added, n+1, changed)
		}
		if back, err := e.Encode(changed, text); err != nil || back != content {
			t.Errorf("Encode(%s, %q) back to %q: %q, %v", e.Name(), changed, content, back, err)
		}
	})
}
