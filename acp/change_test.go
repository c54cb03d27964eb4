package acp

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zeph-acp/zeph-acp/executors/filechange"
)

// The log keeps every change. Diffs of older logs are read, and written as they were.
func TestFileChange(t *testing.T) {
	text := func(s string) *string { return &s }
	for name, tt := range map[string]struct {
		change  filechange.Change
		stored  string
		version string // 1 of the protocol; empty if it shows nothing
	}{
		"add": {filechange.Change{Op: filechange.Add, Path: "/a", New: text("x")},
			`{"type":"diff","path":"/a","oldText":null,"newText":"x"}`, `{"type":"diff","path":"/a","oldText":null,"newText":"x"}`},
		"modify": {filechange.Change{Op: filechange.Modify, Path: "/a", Old: text(""), New: text("x")},
			`{"type":"diff","path":"/a","oldText":"","newText":"x"}`, `{"type":"diff","path":"/a","oldText":"","newText":"x"}`},
		"part": {filechange.Change{Op: filechange.Modify, Path: "/a", Old: text("y"), New: text("x"), OldLine: 3, NewLine: 4, Cut: true},
			`{"type":"diff","path":"/a","oldText":"y","newText":"x","oldLine":3,"newLine":4,"cut":true}`,
			`{"type":"diff","path":"/a","oldText":"y","newText":"x"}`},
		"delete": {filechange.Change{Op: filechange.Delete, Path: "/a", Old: text("x")},
			`{"type":"diff","path":"/a","oldText":"x","operation":"delete"}`, ""},
		"emptied by a deletion": {filechange.Change{Op: filechange.Delete, Path: "/a", Old: text("x"), New: text("")},
			`{"type":"diff","path":"/a","oldText":"x","newText":"","operation":"delete"}`,
			`{"type":"diff","path":"/a","oldText":"x","newText":""}`},
		"move": {filechange.Change{Op: filechange.Move, Path: "/b", OldPath: "/a", Type: "directory"},
			`{"type":"diff","path":"/b","oldText":null,"operation":"move","oldPath":"/a","fileType":"directory"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			stored, err := json.Marshal(ChangeContent(tt.change))
			if err != nil || string(stored) != tt.stored {
				t.Errorf("stored as %s, want %s: %v", stored, tt.stored, err)
			}
			var read ToolContent
			if err := json.Unmarshal([]byte(tt.stored), &read); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.change, read.Change()); diff != "" {
				t.Errorf("read (-want +got)\n%s", diff)
			}
			want := "[" + tt.version + "]"
			if shown, err := json.Marshal(v1Content([]ToolContent{read})); err != nil || string(shown) != want {
				t.Errorf("version 1 shows %s, want %s: %v", shown, want, err)
			}
		})
	}
}

// A patch has all parts of one file. A file without a known text has none.
func TestGitPatch(t *testing.T) {
	text := func(s string) *string { return &s }
	part := func(line int, before, after string, cut bool) ToolContent {
		return ChangeContent(filechange.Change{Op: filechange.Modify, Path: "/a", Old: &before, New: &after, OldLine: line, NewLine: line, Cut: cut})
	}
	for name, tt := range map[string]struct {
		content []ToolContent
		parts   int
		want    string
	}{
		"add": {[]ToolContent{ChangeContent(filechange.Change{Op: filechange.Add, Path: "/a", New: text("x\n")}), part(1, "a", "b", false)}, 1,
			"diff --git /a /a\nnew file mode 100644\n--- /dev/null\n+++ /a\n@@ -0,0 +1 @@\n+x\n"},
		"parts": {[]ToolContent{part(3, "a\n", "b\n", false), part(9, "c\n", "d\n", false), {Type: "terminal"}}, 2,
			"diff --git /a /a\n--- /a\n+++ /a\n@@ -3 +3 @@\n-a\n+b\n@@ -9 +9 @@\n-c\n+d\n"},
		"cut": {[]ToolContent{part(3, "a\n", "b\n", false), part(9, "c\n", "d\n", true)}, 2, ""},
		"delete": {[]ToolContent{ChangeContent(filechange.Change{Op: filechange.Delete, Path: "/a", Old: text("x")})}, 1,
			"diff --git /a /a\ndeleted file mode 100644\n--- /a\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n\\ No newline at end of file\n"},
		"unknown text": {[]ToolContent{ChangeContent(filechange.Change{Op: filechange.Delete, Path: "/a"})}, 1, ""},
		"directory":    {[]ToolContent{ChangeContent(filechange.Change{Op: filechange.Move, Path: "/b", OldPath: "/a", Type: "directory"})}, 1, ""},
		"move": {[]ToolContent{ChangeContent(filechange.Change{Op: filechange.Move, Path: "/b", OldPath: "/a"})}, 1,
			"diff --git /a /b\nsimilarity index 100%\nrename from /a\nrename to /b\n"},
	} {
		t.Run(name, func(t *testing.T) {
			parts := FileParts(tt.content)
			if len(parts) != tt.parts {
				t.Fatalf("got %d parts, want %d", len(parts), tt.parts)
			}
			if got := GitPatch(parts); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// Version 2 shows changes that no call has made as a completed call, and version 1 does not show them.
func TestFileChanges(t *testing.T) {
	text := func(s string) *string { return &s }
	u := NewFileChanges("c", "Rewind", []filechange.Change{
		{Op: filechange.Delete, Path: "/a", Old: text("x\n")}, {Op: filechange.Add, Path: "/d", Type: "directory"},
	})
	if shown := v1Update(u); shown != nil {
		t.Errorf("version 1 shows %+v", shown)
	}
	shown, err := json.Marshal(bodies(u, false))
	want := `[{"sessionUpdate":"tool_call_update","toolCallId":"c","title":"Rewind","kind":"edit","status":"completed","content":[` +
		`{"type":"diff","changes":[{"operation":"delete","path":"/a","fileType":"text"}],"patch":{"format":"git_patch","text":` +
		`"diff --git /a /a\ndeleted file mode 100644\n--- /a\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"}},` +
		`{"type":"diff","changes":[{"operation":"add","path":"/d","fileType":"directory"}]}]}]`
	if err != nil || string(shown) != want {
		t.Errorf("version 2 shows\n%s, want\n%s: %v", shown, want, err)
	}
}

// A patch has at most 1 MiB.
// Statements 347.
func TestLargePatch(t *testing.T) {
	for size, want := range map[int]bool{900 << 10: true, 1 << 20: false} {
		text := strings.Repeat(strings.Repeat("x", 1023)+"\n", size>>10)
		if got := GitPatch([]filechange.Change{{Op: filechange.Add, Path: "/a", New: &text}}) != ""; got != want {
			t.Errorf("a file with %d bytes has a patch: %v, want %v", size, got, want)
		}
	}
}
