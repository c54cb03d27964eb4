package files

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// sampleNotebook is a notebook as Jupyter writes it.
const sampleNotebook = `{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {},
   "source": [
    "# Caf\u00e9\n",
    "Two lines"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 3,
   "id": "sum",
   "metadata": {"collapsed": false},
   "outputs": [
    {
     "name": "stdout",
     "output_type": "stream",
     "text": ["3\n"]
    },
    {"output_type": "display_data", "metadata": {}, "data": {"text/plain": ["<Figure>"], "image/png": "PNG"}}
   ],
   "source": [
    "x = 1\n",
    "y = 2\n",
    "print(x + y)"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": null,
   "id": "last",
   "metadata": {},
   "outputs": [],
   "source": "x = 1"
  }
 ],
 "metadata": {"language_info": {"name": "python"}},
 "nbformat": 4,
 "nbformat_minor": 5
}
`

func notebookBench(t testing.TB) (*bench, string) {
	raw := strings.Replace(sampleNotebook, "PNG", base64.StdEncoding.EncodeToString([]byte(pngOf(t, 2, 2))), 1)
	return newBench(t, map[string]string{"a.ipynb": raw, "broken.ipynb": "<<<<<<< ours\n{}\n", "list.ipynb": "[]"}), raw
}

const shownNotebook = `[notebook a.ipynb: 3 cells, python, nbformat 4.5]
[cell 1: markdown, id intro]
# Café
Two lines
[cell 2: code, id sum, run 3]
x = 1
y = 2
print(x + y)
[output: stdout]
3
[output: text/plain; also image/png, %d bytes]
<Figure>
[cell 3: code, id last]
x = 1`

func TestReadNotebook(t *testing.T) {
	b, _ := notebookBench(t)
	all := fmt.Sprintf(shownNotebook, len(pngOf(t, 2, 2)))
	heading := strings.SplitAfter(all, "\n")[0]
	for _, tt := range []struct {
		input  in
		want   string
		images int
	}{
		{in{"path": "a.ipynb"}, all, 0},
		{in{"path": "a.ipynb", "limit": 3}, strings.Join(strings.SplitAfter(all, "\n")[:3], "") + "[lines 1-3 of 14; continue with offset 3]", 0},
		{in{"path": "a.ipynb", "offset": 12}, "[cell 3: code, id last]\nx = 1\n[lines 13-14 of 14; the file ends here]", 0},
		{in{"path": "a.ipynb", "pages": "last"}, heading + "[cell 3: code, id last]\nx = 1", 0},
		{in{"path": "a.ipynb", "pages": "#1, 3-9"}, heading + "[cell 1: markdown, id intro]\n# Café\nTwo lines\n[cell 3: code, id last]\nx = 1", 0},
		{in{"path": "a.ipynb", "pages": "sum"}, heading + all[strings.Index(all, "[cell 2"):strings.Index(all, "\n[cell 3")], 1},
		{in{"path": "broken.ipynb"}, "<<<<<<< ours\n{}\n[broken.ipynb is not a valid notebook: line 1: invalid character '<' " +
			"looking for beginning of value. This is its text.]", 0},
		{in{"path": "list.ipynb"}, "[]\n[list.ipynb is not a valid notebook: it is JSON, but has no list of cells. This is its text.]", 0},
	} {
		res := b.run("read", tt.input)
		if res.ForModel() != tt.want || res.Failed || len(res.Content) != tt.images {
			t.Errorf("read %v, %d images:\n got %q\nwant %q", tt.input, len(res.Content), res.ForModel(), tt.want)
		}
	}
	wantFailure(t, b.run("read", in{"path": "a.ipynb", "pages": "nope"}), executors.InvalidParameters, `pages: no cell has the id "nope"`, `"#3", "2-5"`)
	wantFailure(t, b.run("read", in{"path": "a.ipynb", "pages": "7-8"}), executors.InvalidParameters, "there is no cell 7: the last one is 3")
}

// Outputs are bounded, and freed of escape sequences, unless the call names the cell.
func TestReadNotebookOutputs(t *testing.T) {
	lines, err := json.Marshal("\x1b[31mred\x1b[0m\n" + strings.Repeat("0123456789\n", 50))
	must(t, err)
	raw := `{"cells":[{"cell_type":"code","source":"f()","outputs":[{"output_type":"error","ename":"E","evalue":"v","traceback":[` + string(lines) + `]},` +
		`{"output_type":"display_data","data":{"application/json":{"a":1}}}, 7]}],"nbformat":4}`
	b := newBench(t, map[string]string{"a.ipynb": raw})
	short := b.run("read", in{"path": "a.ipynb"}).ForModel()
	if !strings.Contains(short, "[output: error]\nred\n0123456789\n") ||
		!strings.Contains(short, "[341 more bytes of this output]\n[output: application/json, 7 bytes]") {
		t.Errorf("read: %s", short)
	}
	if whole := b.run("read", in{"path": "a.ipynb", "pages": "1"}).ForModel(); strings.Contains(whole, "more byte") || strings.Count(whole, "0123456789") != 50 {
		t.Errorf("read of the cell: %s", whole)
	}
}

// The page about files shows a notebook and what a model gets of it.
func TestNotebookDocs(t *testing.T) {
	page, err := os.ReadFile("../../../docs/files.md")
	must(t, err)
	block := func(kind string) string {
		_, section, _ := strings.Cut(string(page), "\n### Notebooks\n")
		_, text, _ := strings.Cut(section, "```"+kind+"\n")
		text, _, _ = strings.Cut(text, "```")
		return text
	}
	b := newBench(t, map[string]string{"sums.ipynb": block("json")})
	if got := b.run("read", in{"path": "sums.ipynb"}).ForModel() + "\n"; got != block("text") {
		t.Errorf("read: %s\nwant %s", got, block("text"))
	}
}

func TestEditNotebook(t *testing.T) {
	b, raw := notebookBench(t)
	edit := func(tool string, input in) executors.Result {
		input["path"] = "a.ipynb"
		return b.run(tool, input)
	}
	res := edit("edit", in{"old_string": "y = 2\nprint(x + y)", "new_string": "y = 3\nprint(x, y)"})
	want := strings.Replace(strings.Replace(raw, `"y = 2\n"`, `"y = 3\n"`, 1), `"print(x + y)"`, `"print(x, y)"`, 1)
	if got := b.content("a.ipynb"); got != want || !strings.Contains(res.ForModel(), "Edited a.ipynb: 1 replacement in cell 2\n[outputs stay as they are") {
		t.Fatalf("%s\n%s", res.ForModel(), got)
	}
	edit("edit", in{"old_string": "Two", "new_string": "Three \"ü\""})
	if want = strings.Replace(want, `Two lines`, `Three \"\u00fc\" lines`, 1); b.content("a.ipynb") != want {
		t.Fatalf("%s", b.content("a.ipynb"))
	}
	wantFailure(t, edit("edit", in{"old_string": "x = 1", "new_string": "x = 2"}), executors.InvalidParameters, "old_string occurs in cells 2, 3", "edit_notebook")
	edit("edit", in{"old_string": "x = 1", "new_string": "x = 2", "replace_all": true})
	if want = strings.ReplaceAll(want, `x = 1`, `x = 2`); b.content("a.ipynb") != want {
		t.Fatalf("%s", b.content("a.ipynb"))
	}
	edit("edit", in{"old_string": `"collapsed": false`, "new_string": `"collapsed": true`}) // of the JSON
	if want = strings.Replace(want, `"collapsed": false`, `"collapsed": true`, 1); b.content("a.ipynb") != want {
		t.Fatalf("%s", b.content("a.ipynb"))
	}
	wantFailure(t, edit("edit", in{"old_string": `"cells": [`, "new_string": `"cells": `}),
		executors.InvalidParameters, "would no longer be a valid notebook", "Nothing was written")
	wantFailure(t, edit("edit", in{"old_string": "z = 9", "new_string": "z"}), executors.InvalidParameters, "old_string is not in a.ipynb")
	if b.content("a.ipynb") != want {
		t.Errorf("a failed edit changed the file:\n%s", b.content("a.ipynb"))
	}
}

func TestEditNotebookCells(t *testing.T) {
	for _, tt := range []struct {
		input in
		want  string // in the result
		shown string // of the cells without outputs
	}{
		{in{"cell": "last", "source": "z"}, "Replaced cell 3 of a.ipynb", "z"},
		{in{"cell": "#1", "type": "code"}, "Replaced cell 1 of a.ipynb, now code", "[cell 1: code, id intro]\n# Café"},
		{in{"cell": "sum", "type": "markdown", "source": "text"}, "now markdown", "[cell 2: markdown, id sum]\ntext\n[cell 3"},
		{in{"cell": "sum", "source": "q"}, "[outputs stay as they are", "q\n[output: stdout]\n3\n"},
		{in{"action": "insert", "source": "# Top", "type": "markdown"}, "Inserted cell 1 (markdown) in a.ipynb, id ", "# Top\n[cell 2: markdown, id intro]"},
		{in{"action": "insert", "cell": "intro", "source": "new\ncell"}, "Inserted cell 2 (code)", "Two lines\n[cell 2: code, id "},
		{in{"action": "delete", "cell": "sum"}, "Deleted cell 2 of a.ipynb, which now has 2 cells", "Two lines\n[cell 2: code, id last]"},
		{in{"cell": "last", "source": "x = 1"}, "Replaced cell 3", "x = 1"},
	} {
		b, raw := notebookBench(t)
		tt.input["path"] = "a.ipynb"
		res := b.run("edit_notebook", tt.input)
		if got := b.run("read", in{"path": "a.ipynb"}).ForModel(); res.Failed || !strings.Contains(res.ForModel(), tt.want) || !strings.Contains(got, tt.shown) {
			t.Errorf("edit_notebook %v: %s\n%s", tt.input, res.ForModel(), got)
		}
		if strings.Contains(res.ForModel(), "changed after") {
			t.Errorf("edit_notebook %v: Prepare and Execute differ: %s", tt.input, res.ForModel())
		}
		if tail := raw[strings.Index(raw, "\n ],\n"):]; !strings.HasSuffix(b.content("a.ipynb"), tail) {
			t.Errorf("edit_notebook %v: the end of the file has changed:\n%s", tt.input, b.content("a.ipynb"))
		}
	}
	b, raw := notebookBench(t)
	for _, tt := range []struct {
		input in
		want  string
	}{
		{in{"source": "x"}, "cell is missing"},
		{in{"cell": "sum"}, "source is missing"},
		{in{"action": "insert"}, "source is missing"},
		{in{"cell": "zzz", "source": "x"}, `cell: no cell has the id "zzz"`},
		{in{"cell": "#4", "action": "delete"}, "there is no cell 4: the last one is 3"},
	} {
		tt.input["path"] = "a.ipynb"
		wantFailure(t, b.run("edit_notebook", tt.input), executors.InvalidParameters, tt.want)
	}
	wantFailure(t, b.run("edit_notebook", in{"path": "broken.ipynb", "cell": "1", "source": ""}), executors.PermanentFailure, "not a valid notebook: line 1")
	wantFailure(t, b.run("edit_notebook", in{"path": "no.ipynb", "cell": "1", "source": ""}), executors.PermanentFailure, "no such file")
	if b.content("a.ipynb") != raw {
		t.Error("a failed call changed the file")
	}
}

// The editor's buffer counts, a byte order mark stays, and masked values come back.
func TestNotebookSurroundings(t *testing.T) {
	b := newBench(t, map[string]string{"a.ipynb": sampleNotebook}).buffered(map[string]string{"a.ipynb": strings.Replace(sampleNotebook, "y = 2", "y = 22", 1)})
	if got := b.run("read", in{"path": "a.ipynb"}).ForModel(); !strings.Contains(got, "y = 22") {
		t.Errorf("read: %s", got)
	}
	if res := b.run("edit", in{"path": "a.ipynb", "old_string": "y = 22", "new_string": "y = 5"}); res.Failed {
		t.Error(res.ForModel())
	}
	bom := newBench(t, map[string]string{"a.ipynb": "\ufeff" + sampleNotebook})
	bom.run("edit", in{"path": "a.ipynb", "old_string": "y = 2", "new_string": "y = 5"})
	if want := "\ufeff" + strings.Replace(sampleNotebook, "y = 2", "y = 5", 1); bom.content("a.ipynb") != want {
		t.Errorf("with a byte order mark: %q", bom.content("a.ipynb"))
	}
	large := newBench(t, map[string]string{"a.ipynb": sampleNotebook})
	cfg := setting.Default[Config]()
	cfg.MaxFileBytes = 100
	large.with(cfg)
	if got := large.run("read", in{"path": "a.ipynb"}).ForModel(); !strings.HasPrefix(got, "[notebook a.ipynb: 3 cells") {
		t.Errorf("read of a large notebook: %s", got)
	}
	wantFailure(t, large.run("edit", in{"path": "a.ipynb", "old_string": "y", "new_string": "z"}), executors.PermanentFailure, "larger than the limit")
}
