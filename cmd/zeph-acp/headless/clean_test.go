package headless

import (
	"strings"
	"testing"
	"unicode"
)

func TestClean(t *testing.T) {
	for name, tt := range map[string]struct{ in, want string }{
		"text":             {"añ 日本 👩‍💻\r\n\tx", "añ 日本 👩‍💻\r\n\tx"},
		"colour":           {"\x1b[1;31mred\x1b[0m!", "red!"},
		"title":            {"a\x1b]0;owned\ab", "ab"},
		"title, ST":        {"a\x1b]0;owned\x1b\\b", "ab"},
		"8 bit":            {"a\u009b2Jb\u009d52;c;x\u009cc", "abc"},
		"two bytes":        {"a\x1bcb\x1b(0c", "abc"},
		"never ended":      {"a\x1b]0;b\nc", "a\nc"},
		"too long":         {"a\x1b]" + strings.Repeat("x", maxControlText) + "yz", "ayz"},
		"aborted":          {"a\x1b[1\x1b[2mb\x1b[3\nc", "ab\nc"},
		"ESC in a string":  {"a\x1b]x\x1b[31mb", "ab"},
		"controls":         {"a\a\b\x00\x7f\x0e\u0085b", "ab"},
		"direction":        {"a\u202eb\u2066c", "abc"},
		"nothing but ESC":  {"\x1b", ""},
		"string in string": {"\x1bPa\x1b]b\acd", "cd"},
	} {
		t.Run(name, func(t *testing.T) {
			var c cleaner
			if got := c.clean(tt.in); got != tt.want {
				t.Errorf("clean(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

// No terminal control sequence gets through, wherever the stream is split.
func FuzzClean(f *testing.F) {
	f.Add("a\x1b[31mb\x1b]0;x\x07c", 4)
	f.Add("\x1bP\x1b\\\u009b1", 2)
	f.Fuzz(func(t *testing.T, text string, at int) {
		text = strings.ToValidUTF8(text, "?")
		var whole cleaner
		got := whole.clean(text)
		for _, r := range got {
			if unicode.IsControl(r) && !strings.ContainsRune("\n\t\r", r) {
				t.Fatalf("clean(%q) = %q, which has the control character %U", text, got, r)
			}
		}
		runes := []rune(text)
		at = min(max(at, 0), len(runes))
		var parts cleaner
		if cut := parts.clean(string(runes[:at])) + parts.clean(string(runes[at:])); cut != got {
			t.Fatalf("clean(%q) = %q, cut at %d it is %q", text, got, at, cut)
		}
	})
}

func BenchmarkClean(b *testing.B) {
	text := strings.Repeat("ok  \tgithub.com/zeph-acp/zeph-acp\t0.1s\n", 100)
	b.ReportAllocs()
	b.SetBytes(int64(len(text)))
	var c cleaner
	for b.Loop() {
		c.clean(text)
	}
}
