package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// TestSearchCodePage runs the example of docs/code.md.
func TestSearchCodePage(t *testing.T) {
	page, err := os.ReadFile("../../../docs/code.md")
	must(t, err)
	block := func(kind string) string {
		_, rest, _ := strings.Cut(string(page), "```"+kind+"\n")
		text, _, ok := strings.Cut(rest, "```")
		if !ok {
			t.Fatalf("the page has no block %s", kind)
		}
		return text
	}
	files := map[string]string{}
	for _, f := range txtar.Parse([]byte(block("go"))).Files {
		files[f.Name] = string(f.Data)
	}
	b := newBench(t, files)
	if got := b.run("search_code", in{"query": "Cart.Total"}).ForModel(); got+"\n" != block("text") {
		t.Errorf("got\n%s", got)
	}
}

func TestSearchCode(t *testing.T) {
	b := newBench(t, map[string]string{
		".gitignore": "out/\n", "out/a.go": "package out\n\nfunc Run() {}\n", "cmd/a.go": "package main\n\nfunc Run() {}\n", "lib/run.py": "def Run():\n    pass\n",
		"bin/tool": "#!/bin/sh\nRun() {\n:\n}\n", "notes.txt": "call onlyHere first\n", "blob.go": "package a\x00\nfunc Run() {}\n", "link.go": "-> cmd/a.go",
		"deep/a/b/x.ts": "export function Run(a: string): void {\n}\n", "many.py": strings.Repeat("Run()\n", 20),
	})
	for name, tt := range map[string]struct {
		input in
		want  string
	}{
		"all": {in{"query": "Run", "max_results": 4},
			"bin/tool:2 func Run ()\ncmd/a.go:3 func Run ()\nlib/run.py:1 func Run ()\ndeep/a/b/x.ts:1 func Run (a: string): void\n[the best 4; there are more: " +
				"qualify the name, set path or include, or raise max_results]"},
		"include": {in{"query": "Run", "include": "*.py", "max_results": 2},
			"lib/run.py:1 func Run ()\nmany.py:1 text Run()\n[the best 2; there are more: qualify the name, set path or include, or raise max_results]"},
		"few files": {in{"query": "Run", "include": "many.py"},
			"many.py:1 text Run()\nmany.py:2 text Run()\nmany.py:3 text Run()\n[some files have more uses: grep finds them all]"},
		"path":      {in{"query": "Run", "path": "cmd"}, "cmd/a.go:3 func Run ()"},
		"ignored":   {in{"query": "Run", "path": "out"}, "out/a.go:3 func Run ()"},
		"file":      {in{"query": "Run", "path": "lib/run.py"}, "lib/run.py:1 func Run ()"},
		"prose":     {in{"query": "onlyHere"}, "notes.txt:1 text call onlyHere first"},
		"words":     {in{"query": "where is onlyhere called first"}, "notes.txt:1 text call onlyHere first"},
		"nothing":   {in{"query": "absent"}, "No code matches: absent"},
		"no query":  {in{"query": " . "}, "the query has no word"},
		"bad glob":  {in{"query": "Run", "include": "["}, "not a valid glob"},
		"outside":   {in{"query": "Run", "path": "../.."}, "outside"},
		"too large": {in{"query": strings.Repeat("x", 301)}, "too long"},
	} {
		t.Run(name, func(t *testing.T) {
			b.t = t
			if got := b.run("search_code", tt.input).ForModel(); got != tt.want && !(strings.HasPrefix(got, "[tool_error]") && strings.Contains(got, tt.want)) {
				t.Errorf("got %q", got)
			}
		})
	}
}

// TestSearchCodeCard checks what rules and clients see of a call.
func TestSearchCodeCard(t *testing.T) {
	b := newBench(t, map[string]string{"a/x.go": "package a\n\nfunc Run() {}\n\nvar _ = Run\n"})
	call := b.call("search_code", in{"query": "Run", "path": "a"})
	card, err := b.Prepare(t.Context(), call)
	if err != nil || card.Title != "Run in a" || card.Kind != "search" || len(card.Paths) != 1 || card.Paths[0] != filepath.Join(b.dir, "a") {
		t.Errorf("%+v, %v", card, err)
	}
	res, err := b.Execute(t.Context(), call)
	must(t, err)
	raw, err := json.Marshal(res.Raw)
	must(t, err)
	path := filepath.Join(b.dir, "a", "x.go")
	want := fmt.Sprintf(`{"definitions":1,"texts":1,"places":[{"path":%q,"line":3},{"path":%q,"line":5}],"truncated":false}`, path, path)
	if string(raw) != want || len(res.Locations) != 2 || res.Locations[0].Line != 3 {
		t.Errorf("%s, %+v", raw, res.Locations)
	}
}

// TestSearchCodeBuffer checks that a file asked for by name has its unsaved changes.
func TestSearchCodeBuffer(t *testing.T) {
	b := newBench(t, map[string]string{"x.go": "package x\n\nfunc Old() {}\n"})
	b.buffered(map[string]string{"x.go": "package x\n\n\nfunc New() {}\n"})
	if got := b.run("search_code", in{"query": "New", "path": "x.go"}).ForModel(); got != "x.go:4 func New ()" {
		t.Errorf("got %q", got)
	}
}

// TestSearchCodeUnread checks that the result names the files that were not searched.
func TestSearchCodeUnread(t *testing.T) {
	b := newBench(t, map[string]string{"a.go": "package a\n\nfunc Run() {}\n", "large.go": "package a\n\n" + strings.Repeat("// Run\n", 300),
		"secret/b.go": "package b\n\nfunc Run() {}\n"})
	cfg := setting.Default[Config]()
	cfg.MaxFileBytes = 1000
	roots, err := workspace.New(b.dir)
	must(t, err)
	roots, err = roots.Reading(workspace.ReadRules{Deny: []string{"**/secret/**"}})
	must(t, err)
	b.Registry = New(Disk{Roots: roots}, roots, cfg, nil)
	want := "a.go:3 func Run ()\n[1 entry left out by deny_read or allow_read]\n[1 file larger than 1000 bytes not searched; use bash for those]"
	if got := b.run("search_code", in{"query": "Run"}).ForModel(); got != want {
		t.Errorf("got %q", got)
	}
}

// TestSearchCodeSettled checks that a file that cannot change the result is neither read
// nor reported.
func TestSearchCodeSettled(t *testing.T) {
	b := newBench(t, map[string]string{"a.go": "package a\n\ntype Run struct{}\n\nvar _ Run\n", "z.go": "package z\n\n" + strings.Repeat("// Run\n", 300)})
	cfg := setting.Default[Config]()
	cfg.MaxFileBytes = 1000
	roots, err := workspace.New(b.dir)
	must(t, err)
	b.Registry = New(Disk{Roots: roots}, roots, cfg, nil)
	more := "\n[the best 1; there are more: qualify the name, set path or include, or raise max_results]"
	large := "\n[1 file larger than 1000 bytes not searched; use bash for those]"
	if got, want := b.run("search_code", in{"query": "Run", "max_results": 1}).ForModel(), "a.go:3 struct Run"+more; got != want {
		t.Errorf("got %q", got)
	}
	if got, want := b.run("search_code", in{"query": "Run", "max_results": 2}).ForModel(), "a.go:3 struct Run\na.go:5 text var _ Run"+large; got != want {
		t.Errorf("got %q", got)
	}
}

func TestSearchCodeCancelled(t *testing.T) {
	b := newBench(t, map[string]string{"a.go": "package a\n\nfunc Run() {}\n"})
	gone := errors.New("gone")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(gone)
	if _, err := b.Execute(ctx, b.call("search_code", in{"query": "Run"})); !errors.Is(err, gone) {
		t.Errorf("got %v", err)
	}
}
