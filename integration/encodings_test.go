package integration

import (
	"fmt"
	"strings"
	"testing"
)

// TestEncodings reads, finds, edits and rewinds files in Shift_JIS and in UTF-16, with and without an editor
// that has files. The editor shows text; the bytes of other lines stay, and a rewind brings all of them back.
func TestEncodings(t *testing.T) {
	for name, caps := range map[string]string{"disk": `{}`, "editor": `{"fs":{"readTextFile":true,"writeTextFile":true}}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var r rewindAgent
			r.start(t, start{})
			r.initialize(caps)
			const (
				line = "// \x83e\x83X\x83g\x82\xcc\x89\xd3\x8f\x8a\x82\xf0\x82\xb1\x82\xb1\x82\xc9\x8f\x91\x82\xad\x81B\r\n" // テストの箇所をここに書く。
				sjis = line + "int a;\n\xee\xf9\x81\xca\n"
				wide = "\xff\xfeI\x00D\x00 \x00\xd6\x00\r\x00\n\x00"
			)
			r.file("a.c", sjis)
			r.file("a.rc", wide)
			r.session = r.open()
			call := func(tool, input string, want ...string) {
				t.Helper()
				r.checkContains(r.turnOf(r.session, fmt.Sprintf("/%s %s", tool, input)), want...)
			}
			call("read", `{"path":"a.c"}`, "テストの箇所をここに書く。", "[the file is Shift_JIS and stays so]")
			call("grep", `{"pattern":"の箇所|Ö"}`, "a.c:1: // テストの箇所", "a.rc:1: ID Ö")
			call("edit", `{"path":"a.c","old_string":"int a;","new_string":"int 値;"}`, "[Shift_JIS]", `"newText":"// テストの箇所`)
			if got, want := r.content("a.c"), strings.Replace(sjis, " a;", " \x92l;", 1); got != want {
				t.Errorf("the edit writes %q, want %q", got, want)
			}
			call("edit", `{"path":"a.rc","old_string":"Ö","new_string":"ß"}`, "[UTF-16LE]")
			if got, want := r.content("a.rc"), strings.Replace(wide, "\xd6", "\xdf", 1); got != want {
				t.Errorf("the edit writes %q, want %q", got, want)
			}
			call("edit", `{"path":"a.c","old_string":"値","new_string":"😀"}`, "Shift_JIS has no character '😀' (U+1F600)")
			r.point = r.points("901")[0]
			r.rewind("902", "files")
			r.answer("902")
			if got := r.content("a.c"); got != sjis {
				t.Errorf("after the rewind a.c has %q, want %q", got, sjis)
			}
			if got := r.content("a.rc"); got != wide {
				t.Errorf("after the rewind a.rc has %q, want %q", got, wide)
			}
		})
	}
}
