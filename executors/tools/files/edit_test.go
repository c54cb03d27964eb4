package files

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
)

func TestEdit(t *testing.T) {
	for name, tt := range map[string]struct{ before, old, new, after string }{
		"plain":                 {"a\nb\nc\n", "b", "B", "a\nB\nc\n"},
		"no final newline":      {"a\nb", "b", "B", "a\nB"},
		"crlf":                  {"a\r\nb\r\nc\r\n", "a\nb\n", "a\nx\nb\n", "a\r\nx\r\nb\r\nc\r\n"},
		"crlf asked with crlf":  {"a\r\nb\r\n", "a\r\nb", "x\r\ny", "x\r\ny\r\n"},
		"lf asked with crlf":    {"a\nb\n", "a\r\nb", "x\r\ny", "x\ny\n"},
		"bom":                   {"\uFEFFa\nb\n", "a\n", "x\n", "\uFEFFx\nb\n"},
		"bom and crlf":          {"\uFEFFa\r\nb\r\n", "\uFEFFa\nb", "a\nx\nb", "\uFEFFa\r\nx\r\nb\r\n"},
		"mixed outside":         {"a\r\nb\nc\r\nd\n", "b", "B\nB2", "a\r\nB\nB2\nc\r\nd\n"},
		"mixed inside":          {"a\r\nb\nc\r\nd\n", "a\nb\nc\nd\n", "a\nX\nc\nY\n", "a\r\nX\nc\r\nY\n"},
		"mixed, one inserted":   {"a\r\nb\nc\r\nd\ne\r\n", "b\nc\nd\n", "new\nb\nc\nd2\n", "a\r\nnew\nb\nc\r\nd2\ne\r\n"},
		"mixed, lines deleted":  {"a\r\nb\nc\r\nd\ne\r\n", "b\nc\nd\n", "d\n", "a\r\nd\ne\r\n"},
		"crlf, in one line":     {"one two\r\nx\r\n", "two", "2\n3", "one 2\r\n3\r\nx\r\n"},
		"delete":                {"a\nb\nc\n", "b\n", "", "a\nc\n"},
		"unicode":               {"größe = 1 // 🙂\n", "größe = 1 // 🙂", "größe = 2 // 🙃", "größe = 2 // 🙃\n"},
		"dollar and backslash":  {"$1 \\n\n", "$1 \\n", "$2 \\t", "$2 \\t\n"},
		"empty file":            {"", "", "hello\n", "hello\n"},
		"a lone carriage stays": {"a\rb\nc\n", "c", "d", "a\rb\nd\n"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, map[string]string{"f": tt.before})
			res := b.run("edit", in{"path": "f", "old_string": tt.old, "new_string": tt.new})
			if got := b.content("f"); res.Failed || got != tt.after {
				t.Fatalf("got %q, want %q: %s", got, tt.after, res.ForModel())
			}
			d := res.Content[0].Change
			if d.Path != b.path("f") || *d.Old != tt.before || *d.New != tt.after {
				t.Errorf("diff %+v of %q", d, *d.Old)
			}
		})
	}
}

func TestEditAll(t *testing.T) {
	b := newBench(t, map[string]string{"f": "x = 1\r\ny\r\nx = 1\r\nz x = 1"})
	wantFailure(t, b.run("edit", in{"path": "f", "old_string": "x = 1", "new_string": "x"}),
		executors.InvalidParameters, "occurs 3 times", "lines 1, 3, 4", "replace_all")
	res := b.run("edit", in{"path": "f", "old_string": "x = 1", "new_string": "x = 1\n", "replace_all": true})
	if got, want := b.content("f"), "x = 1\r\n\r\ny\r\nx = 1\r\n\r\nz x = 1\r\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if want := "Edited f: 3 replacements at lines 1, 3, 4"; res.ForModel() != want {
		t.Errorf("says %q, want %q", res.ForModel(), want)
	}
}

// A model may copy the numbers that stand above each tenth line of read's output.
func TestEditCopiedLineNumbers(t *testing.T) {
	b := newBench(t, map[string]string{"f": "1\n2\n3\n4\n5\n6\n7\n8\nnine\nten\n11\n", "own": "a\n[line 10]\nb\n"})
	read := strings.TrimSuffix(b.run("read", in{"path": "f", "offset": 8, "limit": 2}).ForModel(), "\n[lines 9-10 of 11; continue with offset 10]")
	if read != "[line 9]\nnine\n[line 10]\nten" {
		t.Fatalf("read %q", read)
	}
	for _, tt := range []struct{ path, old, new, want string }{
		{"f", read, "IX\nX", "1\n2\n3\n4\n5\n6\n7\n8\nIX\nX\n11\n"},
		{"f", "IX\n[line 10]\nX\n", "9\n[line 10]\n10\n", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n"},
		{"own", "[line 10]\nb", "[line 20]\nc", "a\n[line 20]\nc\n"}, // the file's own text
	} {
		if res := b.run("edit", in{"path": tt.path, "old_string": tt.old, "new_string": tt.new}); res.Failed || b.content(tt.path) != tt.want {
			t.Errorf("%q → %q: %q, %s", tt.old, tt.new, b.content(tt.path), res.ForModel())
		}
	}
	wantFailure(t, b.run("edit", in{"path": "f", "old_string": "9\n10", "new_string": "9\n[line 10]\nX"}), executors.InvalidParameters, "line number")
}

func TestEditFails(t *testing.T) {
	b := newBench(t, map[string]string{
		"go":  "package a\n\nfunc f() {\n\tif x {\n\t\ty()\n\t}\n}\n\nfunc g() { y() }\n",
		"bin": "a\x00b", "latin": "caf\xe9", "dir/": "", "empty": "", "quote": "say “hello” now\n", "over": "aaa",
	})
	edit := func(path, old, new string) executors.Result {
		return b.run("edit", in{"path": path, "old_string": old, "new_string": new})
	}
	wantFailure(t, edit("go", "    if x {\n        y()\n", "z"), executors.InvalidParameters, "whitespace", "line 4", `"\tif x {\n\t\ty()"`, "Read the file again")
	wantFailure(t, edit("go", "func f() {\n\tif x {\n\t\tz()\n", "z"), executors.InvalidParameters, "closest is at line 3")
	wantFailure(t, edit("go", "func gg() { y(1) }", "z"), executors.InvalidParameters, "closest is line 9")
	wantFailure(t, edit("go", "   3\tfunc f() {\n   4\t\tif x {", "z"), executors.InvalidParameters, "line numbers")
	wantFailure(t, edit("go", "func old() { y() }", "func g() { y() }"), executors.InvalidParameters, "done already", "line 9")
	wantFailure(t, edit("go", "θθθθ", "z"), executors.InvalidParameters, "no similar text")
	wantFailure(t, edit("quote", `say "hello" now`, "z"), executors.InvalidParameters, "whitespace or quotes", "line 1")
	wantFailure(t, edit("go", "y()", "y()"), executors.InvalidParameters, "same")
	wantFailure(t, edit("go", "a\r\nb", "a\nb"), executors.InvalidParameters, "line endings")
	wantFailure(t, edit("go", "", "x"), executors.InvalidParameters, "old_string is empty")
	wantFailure(t, edit("empty", "x", "y"), executors.InvalidParameters, "is empty")
	wantFailure(t, edit("over", "aa", "b"), executors.InvalidParameters, "several ways")
	wantFailure(t, edit("gone", "x", "y"), executors.PermanentFailure, "no such file")
	wantFailure(t, edit("bin", "a", "y"), executors.PermanentFailure, "binary")
	wantFailure(t, edit("latin", "a", "y"), executors.PermanentFailure, "unknown encoding")
	wantFailure(t, edit("dir", "a", "y"), executors.PermanentFailure, "directory")
	wantFailure(t, b.run("edit", in{"path": 3}), executors.TypeMismatch, "path")
}

func TestEditCreates(t *testing.T) {
	b := newBench(t, nil)
	res := b.run("edit", in{"path": "new/f", "old_string": "", "new_string": "hi\n"})
	if res.Failed || b.content("new/f") != "hi\n" || res.Content[0].Change.Old != nil {
		t.Errorf("got %+v, want a new file", res)
	}
}

// A file that changed after the diff was shown keeps the added text.
func TestEditOfChangedFile(t *testing.T) {
	b := newBench(t, map[string]string{"f": "a\nb\n"})
	call := b.call("edit", in{"path": "f", "old_string": "b", "new_string": "B"})
	card, err := b.Prepare(t.Context(), call)
	must(t, err)
	call.Card = card
	must(t, os.WriteFile(b.path("f"), []byte("new\na\nb\n"), 0o644))
	res, err := b.Execute(t.Context(), call)
	must(t, err)
	if got := b.content("f"); got != "new\na\nB\n" || !strings.Contains(res.ForModel(), "changed after this diff") || *res.Content[0].Change.Old != "new\na\nb\n" {
		t.Errorf("wrote %q: %+v", got, res)
	}
	if res.Locations[0].Line != 3 {
		t.Errorf("location %+v", res.Locations)
	}
}

// A file that changed after the diff was shown is not overwritten: the user has not seen what would be
// lost.
func TestWriteOfChangedFile(t *testing.T) {
	newer := "somebody's work\n"
	for name, c := range map[string]struct {
		before, after *string
		kept          string
	}{
		"changed": {&[]string{"a\n"}[0], &newer, newer},
		"created": {nil, &newer, newer},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			if c.before != nil {
				must(t, os.WriteFile(b.path("f"), []byte(*c.before), 0o644))
			}
			call := b.call("write", in{"path": "f", "content": "new\n"})
			card, err := b.Prepare(t.Context(), call)
			must(t, err)
			call.Card = card
			must(t, os.WriteFile(b.path("f"), []byte(*c.after), 0o644))
			res, err := b.Execute(t.Context(), call)
			must(t, err)
			if got := b.content("f"); got != c.kept || !res.Failed || !strings.Contains(res.ForModel(), "has changed since the call was shown") {
				t.Errorf("the file has %q, want %q; got %+v, want a failure that says why", got, c.kept, res)
			}
		})
	}
}

func TestEditInBuffer(t *testing.T) {
	b := newBench(t, map[string]string{"f": "on disk"}).buffered(map[string]string{"f": "unsaved text"})
	if res := b.run("read", in{"path": "f"}); !strings.Contains(res.ForModel(), "unsaved text") {
		t.Errorf("read gives %s", res.ForModel())
	}
	if res := b.run("grep", in{"path": "f", "pattern": "unsaved"}); !strings.Contains(res.ForModel(), "f:1: unsaved text") {
		t.Errorf("grep gives %s", res.ForModel())
	}
	b.run("edit", in{"path": "f", "old_string": "unsaved", "new_string": "edited"})
	if got := b.buf.text[b.path("f")]; got != "edited text" || b.content("f") != "on disk" {
		t.Errorf("buffer %q, disk %q", got, b.content("f"))
	}
}

func TestFormatOnSave(t *testing.T) {
	b := newBench(t, nil).buffered(nil)
	b.buf.save = strings.ToUpper
	res := b.run("write", in{"path": "f", "content": "a\nb\n"})
	for _, part := range []string{"differs from the written text", "-a", "+A"} {
		if !strings.Contains(res.ForModel(), part) {
			t.Errorf("no %q in %s", part, res.ForModel())
		}
	}
	if *res.Content[0].Change.New != "A\nB\n" {
		t.Errorf("diff %+v", res.Content[0].Change)
	}
	b.buf.save = func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") } // a buffer's own line endings
	if res := b.run("write", in{"path": "g", "content": "a\nb\n"}); strings.Contains(res.ForModel(), "differs") {
		t.Errorf("got %s, want no %q in it", res.ForModel(), "differs")
	}
}

// An editor may accept a write without applying it.
func TestWriteWithoutEffect(t *testing.T) {
	b := newBench(t, map[string]string{"f": "old\n"}).buffered(nil)
	b.buf.save = func(string) string { return "old\n" }
	res := b.run("write", in{"path": "f", "content": "new\n"})
	if got := res.ForModel(); !strings.Contains(got, "still has its old text") || strings.Contains(got, "differs") {
		t.Errorf("got %s", got)
	}
	if res := b.run("write", in{"path": "f", "content": "old\n"}); strings.Contains(res.ForModel(), "after writing") { // no change
		t.Errorf("got %s", res.ForModel())
	}
}

// FuzzEdit checks that an edit is a replacement in the text with "\n", and that
// untouched lines keep every byte.
func FuzzEdit(f *testing.F) {
	f.Add("a\r\nb\nc\r\n", "b", "x\ny", false)
	f.Add("\uFEFFa\nb\nb", "b", "", true)
	f.Add("a\r\nb\r\na\r\n", "a\n", "c\nd\n", true)
	f.Add("", "", "x", false)
	f.Fuzz(func(t *testing.T, raw, old, new string, all bool) {
		for _, s := range []string{raw, old, new} {
			if strings.Contains(strings.ReplaceAll(s, "\r\n", ""), "\r") || strings.Contains(strings.TrimPrefix(s, executors.ByteOrderMark),
				executors.ByteOrderMark) || !utf8.ValidString(s) {
				t.Skip("a lone carriage return, a second mark, or what is refused as no text")
			}
		}
		got, lines, err := applyEdit(raw, &editInput{OldString: old, NewString: new, ReplaceAll: all}, "f", strings.Clone)
		d := parse(raw)
		if d.String() != raw {
			t.Fatalf("%q became %q without an edit", raw, d.String())
		}
		if err != nil {
			return
		}
		from, to := parse(old).text, parse(new).text
		want := strings.ReplaceAll(d.text, from, to)
		if from == "" {
			want = to
		}
		if !all && from != "" && strings.Count(d.text, from) != 1 {
			t.Fatalf("edited one of several")
		}
		edited := parse(got)
		if edited.bom != d.bom || edited.text != want {
			t.Fatalf("got %q, want the text %q", got, want)
		}
		first, last := lines[0]-1, lines[len(lines)-1]-1+strings.Count(from, "\n")
		before, after := strings.SplitAfter(raw, "\n"), strings.SplitAfter(got, "\n")
		for i := range first {
			if before[i] != after[i] {
				t.Fatalf("line %d: %q became %q", i+1, before[i], after[i])
			}
		}
		for i := 1; i < len(before)-last; i++ {
			if b, a := before[len(before)-i], after[len(after)-i]; a != b {
				t.Fatalf("line %d from the end: %q became %q", i, b, a)
			}
		}
	})
}

func BenchmarkEdit(b *testing.B) {
	var text strings.Builder
	for range 5000 {
		text.WriteString("the quick brown fox jumps over the lazy dog\r\n")
	}
	text.WriteString("needle\r\n")
	edit := editInput{OldString: "dog\nneedle\n", NewString: "dog\nthread\nneedle\n"}
	b.SetBytes(int64(text.Len()))
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := applyEdit(text.String(), &edit, "f", strings.Clone); err != nil {
			b.Fatal(err)
		}
	}
}
