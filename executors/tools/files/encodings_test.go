package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

const (
	// テストの箇所をここに書いてください。 and two codes of the same sign
	japanese = "// \x83e\x83X\x83g\x82\xcc\x89\xd3\x8f\x8a\x82\xf0" +
		"\x82\xb1\x82\xb1\x82\xc9\x8f\x91\x82\xa2\x82\xc4\x82\xad\x82\xbe\x82\xb3\x82\xa2\x81B\r\nint a; // \xee\xf9\x81\xca\n"
	mixed = "\xe4\nä ö ü ß é — “x”\n中文中文\n"
	wide  = "\xff\xfeI\x00D\x00 \x00\xd6\x00\r\x00\n\x00b\x00\n\x00"
)

// Each tool sees the text of a file, and changes keep its encoding and the bytes of all other lines.
func TestEncodings(t *testing.T) {
	for name, tt := range map[string]struct {
		content string
		files   map[string]string // that declare it
		shown   string            // of the text
		from    string
		to      string
		want    string
		note    string
	}{
		"Shift_JIS":         {japanese, nil, "テストの箇所", "int a;", "int 値;", strings.Replace(japanese, "int a", "int \x92l", 1), "Shift_JIS"},
		"UTF-16":            {wide, nil, "ID Ö", "Ö", "ß", strings.Replace(wide, "\xd6", "\xdf", 1), "UTF-16LE"},
		"UTF-16 unmarked":   {"\x00a\x00b\x00c\x00\n\x00d\x00\n", nil, "abc", "d", "€", "\x00a\x00b\x00c\x00\n\x20\xac\x00\n", "UTF-16BE"},
		"a line of Latin-1": {mixed, nil, "中文", "ä", "Ä", strings.Replace(mixed, "ä", "Ä", 1), "UTF-8"},
		"by .editorconfig":  {"\xe9", map[string]string{".editorconfig": "root = true\n[*.{c,txt}]\ncharset = latin1\n"}, "é", "é", "ü", "\xfc", "ISO-8859-1"},
		"its superset":      {"\x80 5", map[string]string{".editorconfig": "[f.txt]\ncharset=latin1"}, "€ 5", "5", "é", "\x80 \xe9", "Windows-1252"},
		"by .gitattributes": {"\xc4\xbf", map[string]string{".gitattributes": "*.txt text working-tree-encoding=GBK\n"}, "目", "目", "录", "\xc2\xbc", "GBK"},
		"by both": {
			"\xb0\xa1", map[string]string{".editorconfig": "[*]\ncharset = euc-kr", ".gitattributes": "* working-tree-encoding=GBK"},
			"가", "가", "나", "\xb3\xaa", "EUC-KR",
		},
		"a new character":   {"abc\n", map[string]string{".editorconfig": "[*]\ncharset = latin1"}, "abc", "b", "ö", "a\xf6c\n", "ISO-8859-1"},
		"UTF-8, declared":   {"\ufeffä\n", map[string]string{".editorconfig": "[*]\ncharset = latin1"}, "ä", "ä", "ö", "\ufeffö\n", ""},
		"ASCII, not UTF-16": {"a\n", map[string]string{".editorconfig": "[*]\ncharset = utf-16le"}, "a", "a", "ö", "ö\n", ""},
		"an unknown charset": {
			wide, map[string]string{".editorconfig": "[*]\ncharset = klingon"},
			"ID", "Ö", "O", strings.Replace(wide, "\xd6", "O", 1), "UTF-16LE",
		},
	} {
		t.Run(name, func(t *testing.T) {
			all := map[string]string{"f.txt": tt.content}
			for file, content := range tt.files {
				all[file] = content
			}
			b := newBench(t, all)
			if res := b.run("read", in{"path": "f.txt"}); res.Failed || !strings.Contains(res.Text, tt.shown) {
				t.Errorf("read shows %q, want %q", res.Text, tt.shown)
			}
			line := strings.SplitN(tt.shown, "\n", 2)[0]
			for _, tool := range []struct{ name, key string }{{"grep", "pattern"}, {"search_code", "query"}} {
				for _, path := range []string{".", "f.txt"} {
					res := b.run(tool.name, in{tool.key: line, "path": path})
					if tool.name == "grep" && !strings.Contains(res.Text, "f.txt:") {
						t.Errorf("%s %q in %s finds %q", tool.name, line, path, res.Text)
					}
				}
			}
			res := b.run("edit", in{"path": "f.txt", "old_string": tt.from, "new_string": tt.to})
			if got := b.content("f.txt"); got != tt.want || res.Failed {
				t.Errorf("edit writes %q, want %q: %s", got, tt.want, res.Text)
			}
			note := "[" + tt.note + "]"
			if strings.HasSuffix(res.Text, note) != (tt.note != "") {
				t.Errorf("edit says %q, want %q", res.Text, note)
			}
			text := b.run("read", in{"path": "f.txt"})
			if raw, _ := text.Raw.(rawRead); raw.Encoding != tt.note {
				t.Errorf("read names %q, want %q, in %q", raw.Encoding, tt.note, text.Text)
			}
			res = b.run("edit", in{"path": "f.txt", "old_string": tt.to, "new_string": tt.from})
			if got := b.content("f.txt"); got != tt.content || res.Failed {
				t.Errorf("the edit back writes %q, want %q: %s", got, tt.content, res.Text)
			}
		})
	}
}

// A file that is written keeps its encoding, and a new one has the declared encoding.
func TestWriteEncoded(t *testing.T) {
	const config = "root=true\n[*.rc]\ncharset = utf-16le\n[*.bat]\ncharset = shift_jis\n[bom.txt]\ncharset=utf-8-bom\n[x.*]\ncharset = klingon\n"
	b := newBench(t, map[string]string{
		".editorconfig": config, ".gitattributes": "*.inf working-tree-encoding=UTF-16BE\n*.reg working-tree-encoding=UTF-16\n",
		"f.txt": japanese, "bin": "\x00\x01\xff", "odd": "a\xff\xfe\xfdb",
	})
	for _, tt := range []struct{ path, content, want, note string }{
		{"a.rc", "ö\n", "\xff\xfe\xf6\x00\n\x00", " [UTF-16LE]"},
		{"a.rc", "ä\n", "\xff\xfe\xe4\x00\n\x00", " [UTF-16LE]"},
		{"a.inf", "a", "\x00a", " [UTF-16BE]"},
		{"a.reg", "a", "\xff\xfea\x00", " [UTF-16LE]"},
		{"a.bat", "値", "\x92l", " [Shift_JIS]"},
		{"bom.txt", "a", "\ufeffa", ""},
		{"bom.txt", "ä", "\ufeffä", ""},
		{"x.c", "plain", "plain", ""},
		{"plain.txt", "ö", "ö", ""},
		{"f.txt", "// テストの箇所をここに書いてください。\r\nint b; // ￢￢\n", strings.Replace(japanese, "int a", "int b", 1), " [Shift_JIS]"},
		{"bin", "ö", "ö", " [now UTF-8: the old content was binary, or text in an unknown encoding]"},
	} {
		res := b.run("write", in{"path": tt.path, "content": tt.content})
		if got := b.content(tt.path); got != tt.want || res.Failed || !strings.HasSuffix(res.Text, ")"+tt.note) {
			t.Errorf("write %q to %s: %q, %s; want %q", tt.content, tt.path, got, res.Text, tt.want)
		}
	}
	wantFailure(t, b.run("write", in{"path": "x.d", "content": "ö"}), executors.PermanentFailure, `"klingon"`, "iconv")
}

// What cannot be encoded or decoded is refused, and nothing is written.
func TestEncodingFails(t *testing.T) {
	b := newBench(t, map[string]string{
		"f.txt": japanese, "x": "a\xff\xfe\xfdb\n", "y": "\xff\xfe\xfd",
		".editorconfig": "[x]\ncharset = klingon\n[r.txt]\ncharset=latin1\n",
	})
	wantFailure(t, b.run("edit", in{"path": "f.txt", "old_string": "a;", "new_string": "a; // 😀"}), executors.InvalidParameters,
		"f.txt was not changed: line 2: Shift_JIS has no character '😀' (U+1F600)", "escape", "iconv")
	wantFailure(t, b.run("edit", in{"path": "f.txt", "old_string": "a;", "new_string": "\uFFFD"}), executors.InvalidParameters, "U+FFFD")
	wantFailure(t, b.run("write", in{"path": "r.txt", "content": "a\n€"}), executors.InvalidParameters, "line 2: ISO-8859-1 has no character '€'")
	wantFailure(t, b.run("read", in{"path": "x"}), executors.PermanentFailure, `"klingon"`)
	wantFailure(t, b.run("read", in{"path": "y"}), executors.PermanentFailure, ".editorconfig", "charset")
	if got := b.content("f.txt"); got != japanese {
		t.Errorf("a refused edit writes %q", got)
	}
	if _, err := os.Stat(filepath.Join(b.dir, "r.txt")); err == nil {
		t.Error("a refused write makes a file")
	}
}

// Pages of a file over max_file_bytes are decoded too, also if its beginning is ASCII.
func TestReadLargeEncoded(t *testing.T) {
	sjis := strings.Repeat("// \x83e\x83X\x83g\x82\xcc\x89\xd3\x8f\x8a\n", 10_000)
	var utf16 strings.Builder
	utf16.WriteString("\xff\xfe")
	for range 20_000 {
		utf16.WriteString("\xf6\x00a\x00\n\x00")
	}
	cfg := setting.Default[Config]()
	cfg.MaxFileBytes = 1000
	b := newBench(t, map[string]string{
		"early": sjis, "late": strings.Repeat("plain\n", 20_000) + sjis, "utf16": utf16.String(), "utf8": strings.Repeat("größe\n", 40_000),
	}).with(cfg)
	for _, tt := range []struct {
		path   string
		offset int
		want   string
	}{
		{"early", 9000, "// テストの箇所\n"},
		{"late", 25_000, "// テストの箇所\n"},
		{"late", 100, "plain\n"},
		{"utf16", 15_000, "öa\n"},
		{"utf8", 30_000, "größe\n"},
	} {
		res := b.run("read", in{"path": tt.path, "offset": tt.offset, "limit": 3})
		if res.Failed || strings.Count(res.Text, tt.want) != 3 {
			t.Errorf("read %s from %d: %q", tt.path, tt.offset, res.Text)
		}
	}
}

// An editor's text is text already. Bytes of a file reach the tools only if the editor has no text.
func TestEncodedInEditor(t *testing.T) {
	b := newBench(t, map[string]string{"f.txt": japanese}).buffered(map[string]string{"f.txt": "int あ;\n"})
	res := b.run("edit", in{"path": "f.txt", "old_string": "あ", "new_string": "😀"})
	if got := b.buf.text[b.path("f.txt")]; got != "int 😀;\n" || res.Failed {
		t.Errorf("edit writes %q: %s", got, res.Text)
	}
}

func TestEditorConfig(t *testing.T) {
	for _, tt := range []struct {
		glob string
		yes  string
		no   string
	}{
		{"*", "a a/b.c", ""},
		{"*.c", "a.c d/a.c", "a.cc"},
		{"/*.c", "a.c", "d/a.c"},
		{"d/*.c", "d/a.c", "a.c x/d/a.c d/e/a.c"},
		{"d/**.c", "d/a.c d/e/a.c", "a.c"},
		{"**.c", "a.c d/a.c", "a.h"},
		{"{a,b}.txt", "a.txt x/b.txt", "c.txt"},
		{"*.{c,h{pp,xx}}", "a.c a.hpp a.hxx", "a.h"},
		{"{single}.b", "{single}.b", "single.b"},
		{"{3..5}.c", "3.c 4.c 5.c", "2.c 6.c"},
		{"{-1..1}", "-1 0 1", "2"},
		{"{9223372036854774807..9223372036854775807}", "{9223372036854774807..9223372036854775807}", "9223372036854774807"},
		{"{1..9999}{1..9999}", "9999{1..9999}", "11"},
		{"{1..10001}", "{1..10001}", "1"},
		{"[abc].d", "a.d", "d.d"},
		{"[!abc].d", "d.d", "a.d"},
		{"[a.d", "[a.d", "a.d"},
		{"a?.d", "ab.d", "a.d a/.d"},
		{`\*.d`, "*.d", "a.d"},
		{"a+b(c)", "a+b(c)", "aab(c)"},
		{"ä*", "äx", "x"},
		{"{a", "{a", "a"},
		{"[z-a]", "", "z"},
	} {
		c := parseEditorConfig("\ufeff# head\n[" + tt.glob + "]\r\n  CharSet = Latin1 \n[other]\ncharset=utf-8")
		for _, path := range strings.Fields(tt.yes) {
			if c.charset(path) != "latin1" {
				t.Errorf("[%s] does not match %s", tt.glob, path)
			}
		}
		for _, path := range strings.Fields(tt.no) {
			if c.charset(path) != "" {
				t.Errorf("[%s] matches %s", tt.glob, path)
			}
		}
	}
}

func FuzzEditorConfig(f *testing.F) {
	f.Add("root=true\n[*.{a,b}]\ncharset=latin1\n[{1..99999999}]\ncharset=gbk", "a/b.c")
	f.Add("[**/[!x]{{{{a,b},c},d}]\ncharset=x", "x")
	f.Fuzz(func(_ *testing.T, text, path string) { parseEditorConfig(text).charset(path) })
}

// The nearest .editorconfig and .gitattributes count, up to the root of both.
func TestDeclarations(t *testing.T) {
	b := newBench(t, map[string]string{
		".editorconfig": "[*]\ncharset = gbk\n", "a/.editorconfig": "[*.x]\ncharset=shift_jis\n[*.u]\ncharset=unset\n", "b/.editorconfig": "root = true\n",
		".gitattributes": "* working-tree-encoding=big5\n", "b/.gitattributes": "*.n -working-tree-encoding\n/c/*.k working-tree-encoding=koi8-r", "b/c/": "",
		"r/.git/": "", "r/.editorconfig": "root=true",
	})
	roots, err := workspace.New(b.dir)
	must(t, err)
	d := newDeclarations(roots)
	for path, want := range map[string]string{
		"f": "GBK", "a/f": "GBK", "a/f.x": "Shift_JIS", "a/f.u": "Big5", "b/f": "Big5", "b/f.n": "", "b/c/f.k": "KOI8-R", "b/f.k": "Big5", "r/f": "",
	} {
		got := ""
		if e := d.of(b.path(path)).encoding; e != nil {
			got = e.Name()
		}
		if got != want {
			t.Errorf("%s is declared as %q, want %q", path, got, want)
		}
	}
}
