package files

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/filechange"
)

func TestWrite(t *testing.T) {
	for name, tt := range map[string]struct{ before, content, after string }{
		"lf":                {"a\n", "x\ny\n", "x\ny\n"},
		"crlf":              {"a\r\nb\r\n", "x\ny\n", "x\r\ny\r\n"},
		"crlf given":        {"a\r\nb\r\n", "x\r\ny\r\n", "x\r\ny\r\n"},
		"mostly lf":         {"a\r\nb\nc\n", "x\ny\n", "x\ny\n"},
		"bom":               {"\uFEFFa\r\n", "x\n", "\uFEFFx\r\n"},
		"bom given":         {"\uFEFFa\n", "\uFEFFx\n", "\uFEFFx\n"},
		"empty content":     {"a\n", "", ""},
		"over a binary":     {"\x00\xff\r\n", "x\n", "x\n"},
		"unicode":           {"", "größe 🙂", "größe 🙂"},
		"line numbers":      {"", "1\n2\n3\n4\n5\n6\n7\n8\n9\n[line 10]\n10\n", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"},
		"its own brackets":  {"", "1\n[line 10]\n", "1\n[line 10]\n"},
		"no final new line": {"a\r\nb\r\n", "x\ny", "x\r\ny"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, map[string]string{"f": tt.before})
			res := b.run("write", in{"path": "f", "content": tt.content})
			if got := b.content("f"); res.Failed || got != tt.after {
				t.Errorf("got %q, want %q: %s", got, tt.after, res.ForModel())
			}
			if d := res.Content[0].Change; d.Old == nil || *d.New != tt.after {
				t.Errorf("diff %+v", d)
			}
		})
	}
}

func TestWriteNew(t *testing.T) {
	b := newBench(t, map[string]string{"f": "old", "dir/": "", "link": "-> target"})
	if res := b.run("write", in{"path": "a/b/c.txt", "content": "hi\n"}); res.ForModel() != "Wrote 3 bytes to a/b/c.txt (created)" || res.Content[0].Change.Op !=
		filechange.Add {
		t.Errorf("got %+v, want 3 bytes in a new file", res)
	}
	if res := b.run("write", in{"path": "f", "content": "new!"}); res.ForModel() != "Wrote 4 bytes to f (overwritten)" {
		t.Errorf(`b.run("write", in{"path": "f", "content": "new!"}): got %q, want %q`, res.ForModel(), "Wrote 4 bytes to f (overwritten)")
	}
	b.run("write", in{"path": "link", "content": "through"})
	if b.content("target") != "through" {
		t.Error("a dangling link inside was not followed")
	}
	wantFailure(t, b.run("write", in{"path": "dir", "content": "x"}), executors.PermanentFailure, "directory")
	wantFailure(t, b.run("write", in{"path": "x/", "content": "x"}), executors.InvalidParameters, "names a directory")
	wantFailure(t, b.run("write", in{"path": "f/x", "content": "x"}), executors.PermanentFailure, "f/x")
	if left, _ := filepath.Glob(b.path(".zeph-*")); left != nil {
		t.Errorf("left over: %v", left)
	}
}

// The text that is there already is not written again. An unsaved buffer is: the write saves it.
func TestWriteUnchanged(t *testing.T) {
	old := time.Unix(1e9, 0)
	for name, tt := range map[string]struct {
		disk, content string
		buffer        map[string]string // nil: the tools work on disk
		unchanged     bool
	}{
		"same":                      {"a\n", "a\n", nil, true},
		"empty":                     {"", "", nil, true},
		"in the file's layout":      {"\uFEFFa\r\nb\r\n", "a\nb\n", nil, true},
		"another line ending":       {"a\n", "a\r\n", nil, false},
		"another text":              {"a\n", "b\n", nil, false},
		"saved buffer":              {"a\r\n", "a\n", map[string]string{"f": "a\n"}, true},
		"unsaved buffer":            {"old\n", "a\n", map[string]string{"f": "a\n"}, false},
		"buffer with another text":  {"a\n", "a\n", map[string]string{"f": "unsaved\n"}, false},
		"no buffer":                 {"a\n", "a\n", map[string]string{}, true},
		"no buffer and another one": {"a\n", "b\n", map[string]string{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, map[string]string{"f": tt.disk})
			must(t, os.Chtimes(b.path("f"), old, old))
			if tt.buffer != nil {
				b.buffered(tt.buffer)
			}
			res := b.run("write", in{"path": "f", "content": tt.content})
			if strings.HasPrefix(res.ForModel(), "Unchanged: f already has this content (") != tt.unchanged || res.Unchanged != tt.unchanged ||
				(len(res.Content) == 0) != tt.unchanged || res.Failed {
				t.Errorf("got %+v, want unchanged %v", res, tt.unchanged)
			}
			info, err := os.Stat(b.path("f"))
			must(t, err)
			if info.ModTime().Equal(old) != (tt.unchanged || tt.buffer != nil) {
				t.Errorf("the file's time is %v", info.ModTime())
			}
			if written := b.buf != nil && b.buf.wrote; written == tt.unchanged && b.buf != nil {
				t.Errorf("the client wrote: %v", written)
			}
		})
	}
	b := newBench(t, map[string]string{"f": "a\n"})
	call := b.call("write", in{"path": "f", "content": "a\n"})
	card, err := b.Prepare(t.Context(), call)
	if err != nil || card.Changes == nil || len(card.Changes) > 0 {
		t.Errorf("got the diffs %+v, %v; want an empty list", card.Changes, err)
	}
	call.Card = card
	must(t, os.WriteFile(b.path("f"), []byte("newer\n"), 0o644))
	res, err := b.Execute(t.Context(), call)
	must(t, err)
	wantFailure(t, res, executors.PermanentFailure, "changed since the call was shown")
}

func TestWriteShowsInPrepare(t *testing.T) {
	b := newBench(t, map[string]string{"f": "old\n"})
	card, err := b.Prepare(t.Context(), b.call("write", in{"path": "f", "content": "new\n"}))
	if err != nil || len(card.Changes) != 1 || *card.Changes[0].Old != "old\n" || *card.Changes[0].New != "new\n" || b.content("f") != "old\n" {
		t.Errorf("%+v, %v", card, err)
	}
}

func TestWriteKeepsMode(t *testing.T) {
	b := newBench(t, map[string]string{"run.sh": "#!/bin/sh\n"})
	for _, mode := range []fs.FileMode{0o755, 0o600, 0o664} {
		must(t, os.Chmod(b.path("run.sh"), mode))
		b.run("edit", in{"path": "run.sh", "old_string": "sh\n", "new_string": "sh\n\n"})
		if info, err := os.Stat(b.path("run.sh")); err != nil || info.Mode().Perm() != mode {
			t.Errorf("mode %v, %v; want %v", info.Mode(), err, mode)
		}
	}
}

// A frame stays under 1 MiB: for large texts it contains only the changed
// parts.
func TestLargeDiffs(t *testing.T) {
	line := strings.Repeat("\"x\"", 20) + "\n"
	text := "first\n" + strings.Repeat(line, 10_000) + "middle\n" + strings.Repeat(line, 10_000) + "last"
	b := newBench(t, map[string]string{"f": text})
	res := b.run("edit", in{"path": "f", "old_string": "middle", "new_string": "centre"})
	d := res.Content[0].Change
	if len(res.Content) != 1 || d.Old == nil || *d.Old != strings.Repeat(line, 3)+"middle\n"+strings.Repeat(line, 3) ||
		*d.New != strings.Replace(*d.Old, "middle", "centre", 1) {
		t.Errorf("%d diffs, the first %+v", len(res.Content), d)
	}
	diffs := textChanges("f", &text, strings.Replace(strings.Replace(text, "first", "1st", 1), "last", "end\n", 1))
	if len(diffs) != 2 || !strings.HasPrefix(*diffs[0].New, "1st\n") || !strings.HasSuffix(*diffs[1].New, "end\n") || !strings.HasSuffix(*diffs[1].Old, "last") {
		t.Errorf("%d diffs", len(diffs))
	}
	all := strings.ReplaceAll(text, "x", "y")
	for name, old := range map[string]*string{"new": nil, "all": &text} {
		size := 0
		for _, d := range textChanges("f", old, all) {
			size += jsonSize(*d.New)
			if d.Old != nil {
				size += jsonSize(*d.Old)
			}
		}
		if size > maxDiff+1000 || size == 0 {
			t.Errorf("%s: %d bytes", name, size)
		}
	}
}

// A directory that is replaced by a symlink while tools work in it leads to no
// read and no write outside.
func TestRacingSymlink(t *testing.T) {
	b := newBench(t, map[string]string{"d/f": "inside", "link": "-> ../out"})
	out := filepath.Join(b.dir, "../out")
	must(t, os.Mkdir(out, 0o755))
	must(t, os.WriteFile(filepath.Join(out, "f"), []byte("secret"), 0o644))
	done := make(chan struct{})
	var wg sync.WaitGroup
	stop := sync.OnceFunc(func() { close(done); wg.Wait() })
	defer stop()
	wg.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
			}
			_ = os.Rename(b.path("d"), b.path("d.real"))
			_ = os.Rename(b.path("link"), b.path("d"))
			_ = os.Rename(b.path("d"), b.path("link"))
			_ = os.Rename(b.path("d.real"), b.path("d"))
		}
	})
	for range 300 {
		for tool, input := range map[string]in{
			"read": {"path": "d/f"}, "grep": {"pattern": "s[e]cret", "path": "d"}, "write": {"path": "d/f", "content": "inside"},
			"find_path": {"pattern": "d/*"}, "list_directory": {"path": "d"},
		} {
			res, err := b.Execute(t.Context(), b.call(tool, input))
			if err != nil || strings.Contains(res.ForModel(), "secret") {
				t.Fatalf("%s: %s, %v", tool, res.ForModel(), err)
			}
		}
	}
	stop()
	entries, err := os.ReadDir(out)
	must(t, err)
	if text, _ := os.ReadFile(filepath.Join(out, "f")); len(entries) != 1 || string(text) != "secret" {
		t.Errorf("outside there are now %v and %q", entries, text)
	}
}
