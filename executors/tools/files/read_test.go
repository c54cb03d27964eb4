package files

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/linemark"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

func TestRead(t *testing.T) {
	b := newBench(t, map[string]string{
		"f": "one\ntwo\nthree", "crlf": "a\r\nb\r\n", "bom": "\uFEFFa\n", "empty": "", "onlybom": "\uFEFF", "blank": "\n", "uni": "größe 🙂\n",
		"long": "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n",
	})
	for _, tt := range []struct {
		input in
		want  string
	}{
		{in{"path": "f"}, "one\ntwo\nthree"},
		{in{"path": "f", "limit": 2}, "one\ntwo\n[lines 1-2 of 3; continue with offset 2]"},
		{in{"path": "f", "offset": 1, "limit": 1}, "[line 2]\ntwo\n[lines 2-2 of 3; continue with offset 2]"},
		{in{"path": "f", "offset": 2}, "[line 3]\nthree\n[lines 3-3 of 3; the file ends here]"},
		{in{"path": "f", "offset": 3}, "[no lines after line 3: f ends at line 3]"},
		{in{"path": "f", "offset": 99}, "[no lines after line 99: f ends at line 3]"},
		{in{"path": "crlf"}, "a\nb"},
		{in{"path": "bom"}, "a"},
		{in{"path": "empty"}, "[empty is empty]"},
		{in{"path": "onlybom"}, "[onlybom is empty]"},
		{in{"path": "blank"}, "\n[lines 1-1 of 1; the file ends here]"},
		{in{"path": "long", "offset": 7}, "[line 8]\n8\n9\n[line 10]\n10\n11\n[lines 8-11 of 11; the file ends here]"},
		{in{"path": "uni"}, "größe 🙂"},
		{in{"path": "./f", "limit": 1}, "one\n[lines 1-1 of 3; continue with offset 1]"},
	} {
		if res := b.run("read", tt.input); res.ForModel() != tt.want || res.Failed {
			t.Errorf("read %v:\n got %q\nwant %q", tt.input, res.ForModel(), tt.want)
		}
	}
}

// A location never lies beyond the end of the file, because clients open it.
func TestReadLocations(t *testing.T) {
	b := newBench(t, map[string]string{"f": "one\ntwo\nthree", "empty": ""})
	for _, tt := range []struct {
		input in
		line  int
	}{
		{in{"path": "f"}, 1},
		{in{"path": "f", "offset": 2}, 3},
		{in{"path": "f", "offset": 3}, 3},
		{in{"path": "f", "offset": 99}, 3},
		{in{"path": "empty"}, 1},
		{in{"path": "empty", "offset": 9}, 1},
	} {
		if at := b.run("read", tt.input).Locations; len(at) != 1 || at[0].Line != tt.line {
			t.Errorf("read %v: located at %+v, want line %d", tt.input, at, tt.line)
		}
	}
}

func TestReadFails(t *testing.T) {
	b := newBench(t, map[string]string{
		"dir/": "", "bin": "a\x00b", "latin": "caf\xe9", "b.txt": "", "src/main.go": "", "README.md": "", "link": "-> gone",
	})
	read := func(path string) executors.Result { return b.run("read", in{"path": path}) }
	wantFailure(t, read("dir"), executors.PermanentFailure, "dir is a directory", "list_directory")
	wantFailure(t, read("bin"), executors.PermanentFailure, "bin is a binary file")
	wantFailure(t, read("latin"), executors.PermanentFailure, "unknown encoding")
	wantFailure(t, read("a.txt"), executors.PermanentFailure, "no such file: a.txt (did you mean b.txt?)")
	wantFailure(t, read("readme.md"), executors.PermanentFailure, "did you mean README.md?")
	wantFailure(t, read("scr/mian.go"), executors.PermanentFailure, "did you mean src/main.go?")
	wantFailure(t, read("src/completely-else"), executors.PermanentFailure, "no such file", "List src with list_directory")
	wantFailure(t, read("nowhere/near/this"), executors.PermanentFailure, "no such file: nowhere/near/this")
	wantFailure(t, read("link"), executors.PermanentFailure, "no such file")
	wantFailure(t, read("b.txt/x"), executors.PermanentFailure, "b.txt/x")
	wantFailure(t, read(""), executors.InvalidParameters, "empty")
	wantFailure(t, b.run("read", in{"path": "b.txt", "offset": -1}), executors.InvalidParameters, "offset must be at least 0, got -1")
	wantFailure(t, b.run("read", in{"path": "b.txt", "limit": "x"}), executors.TypeMismatch, "limit")
}

// The pages together are the file, for every page size, also if the file is too
// large for the memory.
// After the session's directory was removed, every call says so.
func TestDirectoryRemoved(t *testing.T) {
	b := newBench(t, nil)
	if err := os.RemoveAll(b.dir); err != nil {
		t.Skip("the directory cannot be removed while it is open: ", err)
	}
	want := "since the directory " + b.dir + " does not exist"
	for tool, input := range map[string]in{
		"read": {"path": "d/a.txt"}, "list_directory": {"path": "."}, "write": {"path": "a.txt", "content": "x"},
		"grep": {"pattern": "x"}, "find_path": {"pattern": "*"},
	} {
		wantFailure(t, b.run(tool, input), executors.PermanentFailure, want)
	}
}

func TestReadPages(t *testing.T) {
	var text strings.Builder
	for i := range 30_000 {
		fmt.Fprintf(&text, "line %d %s\r\n", i+1, strings.Repeat("ü", i%90))
	}
	for name, size := range map[string]int{"memory": 10 << 20, "disk": 1000} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, map[string]string{"f": text.String()})
			cfg := setting.Default[Config]()
			cfg.MaxFileBytes = size
			b.with(cfg)
			var got strings.Builder
			for offset, pages := 0, 0; ; pages++ {
				res := b.run("read", in{"path": "f", "offset": offset})
				if n := utf8.RuneCountInString(res.ForModel()); n > cfg.MaxOutputChars {
					t.Fatalf("a page of %d characters", n)
				}
				body, note, _ := strings.Cut(res.ForModel(), "\n[lines ")
				for line := range strings.SplitSeq(linemark.Strip(body), "\n") {
					got.WriteString(line + "\r\n")
				}
				_, next, more := strings.Cut(note, "continue with offset ")
				if !more {
					break
				}
				if _, err := fmt.Sscanf(next, "%d", &offset); err != nil || pages > 100 {
					t.Fatalf("note %q", note)
				}
			}
			if got.String() != text.String() {
				t.Error("the pages are not the file")
			}
		})
	}
}

func TestReadLongLine(t *testing.T) {
	line := strings.Repeat("🙂", 100_000)
	for _, text := range []string{line, "a\n" + line + "\r\nb\n"} {
		b := newBench(t, map[string]string{"f": text})
		res := b.run("read", in{"path": "f"})
		note := fmt.Sprintf("🙂 [… %d more bytes in this line]", 4*(100_000-maxLine))
		if !strings.Contains(res.ForModel(), note) || strings.Count(res.ForModel(), "🙂") != maxLine || !utf8.ValidString(res.ForModel()) {
			t.Errorf("want the note %q in a text of %d bytes", note, len(res.ForModel()))
		}
	}
	exact := strings.Repeat("x", maxLine)
	if res := newBench(t, map[string]string{"f": exact + "\n"}).run("read", in{"path": "f"}); res.ForModel() != exact {
		t.Errorf("a line of just the limit is cut: %q", res.ForModel()[len(res.ForModel())-60:])
	}
}

func TestReadOfClientOnlyFile(t *testing.T) {
	b := newBench(t, nil).buffered(map[string]string{"new": "only in the editor\n"})
	if res := b.run("read", in{"path": "new"}); res.ForModel() != "only in the editor" {
		t.Errorf(`b.run("read", in{"path": "new"}): got %q, want %q`, res.ForModel(), "only in the editor")
	}
}

func TestList(t *testing.T) {
	b := newBench(t, map[string]string{"b/": "", "a/": "", "z.txt": "", ".hidden": "", "link": "-> a", "out": "-> ../..", "empty/": "", "new\nline": ""})
	want := "[dir]  a\n[dir]  b\n[dir]  empty\n[file] .hidden\n[file] \"new\\nline\"\n[file] z.txt\n[symlink] link\n[symlink] out"
	for _, input := range []in{{}, {"path": "."}, {"path": b.dir}} {
		if res := b.run("list_directory", input); res.ForModel() != want {
			t.Errorf("got %q, want %q", res.ForModel(), want)
		}
	}
	if res := b.run("list_directory", in{"path": "empty"}); res.ForModel() != "Empty directory: empty" {
		t.Errorf(`b.run("list_directory", in{"path": "empty"}): got %q, want %q`, res.ForModel(), "Empty directory: empty")
	}
	wantFailure(t, b.run("list_directory", in{"path": "z.txt"}), executors.PermanentFailure, "not a directory")
	wantFailure(t, b.run("list_directory", in{"path": "emptyy"}), executors.PermanentFailure, "did you mean empty?")
	cfg := setting.Default[Config]()
	cfg.MaxEntries = 2
	if res := b.with(cfg).run("list_directory", in{}); !strings.HasSuffix(res.ForModel(),
		"[dir]  b\n[the first 2 of 8 entries; find_path with a pattern shows others]") {
		t.Errorf(`b.with(cfg).run("list_directory", in{}): got %s, want %q at its end`, res.ForModel(),
			"[dir]  b\n[the first 2 of 8 entries; find_path with a pattern shows others]")
	}
}

func BenchmarkRead(b *testing.B) {
	text := strings.Repeat("the quick brown fox jumps over the lazy dog\n", 20_000)
	w := newBench(b, map[string]string{"f": text})
	call := w.call("read", in{"path": "f", "offset": 10_000})
	b.ReportAllocs()
	for b.Loop() {
		if res, err := w.Execute(b.Context(), call); err != nil || res.Failed {
			b.Fatal(res.ForModel(), err)
		}
	}
}

// The full line is kept if it is truncated: the overflow link returns a
// reference to it.
func TestReadKeepsLongLines(t *testing.T) {
	long := strings.Repeat("x", 3*maxLine)
	b := newBench(t, map[string]string{"a": "one\n" + long + "\nthree\n" + long})
	for name, cfg := range map[string]func(*Config){"in memory": func(*Config) {}, "from the disk": func(c *Config) { c.MaxFileBytes = 100 }} {
		c := setting.Default[Config]()
		cfg(&c)
		res := b.with(c).run("read", in{"path": "a", "offset": 1, "limit": 2})
		if res.Full == nil || res.Full.Window(0, res.Full.Size()) != long+"\nthree\n" {
			t.Errorf("%s: %s", name, res.ForModel())
		}
		_ = res.Full.Close()
		if res := b.with(c).run("read", in{"path": "a", "offset": 2, "limit": 1}); res.Full != nil {
			t.Errorf("%s: a short page is kept", name)
		}
	}
}
