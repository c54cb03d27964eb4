package notebook

import (
	"archive/zip"
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// corpus returns the notebooks of testdata by name.
func corpus(t testing.TB) map[string]string {
	t.Helper()
	r, err := zip.OpenReader("../testdata/notebooks.zip")
	must(t, err)
	defer r.Close()
	files := map[string]string{}
	for _, f := range r.File {
		in, err := f.Open()
		must(t, err)
		content, err := io.ReadAll(in)
		must(t, err)
		if _, err := Parse(string(content)); err != errNoCells { // two of them have none
			files[f.Name] = string(content)
		}
	}
	return files
}

// step is the distance of the cells that a test changes: all in a small notebook.
func step(n *Notebook) int { return 1 + len(n.Cells)/8 }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func parsed(t testing.TB, raw string) *Notebook {
	t.Helper()
	n, err := Parse(raw)
	if err != nil {
		t.Fatalf("%v in\n%s", err, raw)
	}
	return n
}

// TestCorpusRoundTrip changes each cell of real notebooks, and changes it back: the file is the same,
// byte for byte. Between the two, all bytes outside the cell's source are the same too.
func TestCorpusRoundTrip(t *testing.T) {
	for name, raw := range corpus(t) {
		n := parsed(t, raw)
		for i := 0; i < len(n.Cells); i += step(n) {
			c := n.Cells[i]
			if got := n.SetSources(map[int]string{i: c.Source}); got != raw {
				t.Errorf("%s: cell %d: the same source changes the file:\n%s", name, i+1, cmp.Diff(raw, got))
			}
			for _, now := range []string{c.Source + "\n# é \U0001F600", "first\n" + c.Source, "", "x"} {
				edited := n.SetSources(map[int]string{i: now})
				checkOutside(t, name, n, i, edited)
				back := parsed(t, edited)
				if back.Cells[i].Source != now {
					t.Errorf("%s: cell %d has %q, want %q", name, i+1, back.Cells[i].Source, now)
				}
				if got := back.SetSources(map[int]string{i: c.Source}); got != raw && now != "" && now != "x" && c.hasSource() {
					t.Errorf("%s: cell %d: the file differs after %q was changed back:\n%s", name, i+1, now, cmp.Diff(raw, got))
				}
			}
		}
	}
}

func (c *Cell) hasSource() bool {
	_, ok := c.source()
	return ok
}

func checkOutside(t *testing.T, name string, n *Notebook, i int, edited string) {
	t.Helper()
	m, ok := n.Cells[i].source()
	if !ok {
		return
	}
	before, after := n.raw[:m.value.from], n.raw[m.value.to:]
	if !strings.HasPrefix(edited, before) || !strings.HasSuffix(edited, after) {
		t.Errorf("%s: an edit of cell %d changes bytes outside its source:\n%s", name, i+1, cmp.Diff(n.raw, edited))
	}
}

// A new cell that is deleted again leaves no trace, and the other cells never change.
func TestCorpusInsertAndDelete(t *testing.T) {
	for name, raw := range corpus(t) {
		n := parsed(t, raw)
		if n.major < 4 {
			if _, _, err := n.Insert(-1, Code, ""); err == nil {
				t.Errorf("%s: a cell is inserted in nbformat %s", name, n.Format)
			}
			continue
		}
		for after := -1; after < len(n.Cells); after += step(n) {
			for _, kind := range []string{Code, Markdown, Raw} {
				text, id, err := n.Insert(after, kind, "a\nb")
				must(t, err)
				now := parsed(t, text)
				c := now.Cells[after+1]
				if len(now.Cells) != len(n.Cells)+1 || c.Type != kind || c.Source != "a\nb" || c.ID != id || (id != "") != (n.minor >= 5) {
					t.Fatalf("%s: %d cells, %+v", name, len(now.Cells), c)
				}
				if got := now.Delete(after + 1); got != raw && len(n.Cells) > 0 {
					t.Errorf("%s: after an inserted cell was deleted:\n%s", name, cmp.Diff(raw, got))
				}
			}
		}
		for i := 0; i < len(n.Cells); i += step(n) {
			left := parsed(t, n.Delete(i))
			if len(left.Cells) != len(n.Cells)-1 {
				t.Errorf("%s: %d cells are left", name, len(left.Cells))
			}
		}
	}
}

// A cell of another type has the members of that type, and all others as they were.
func TestCorpusTypes(t *testing.T) {
	for name, raw := range corpus(t) {
		n := parsed(t, raw)
		for i := 0; i < len(n.Cells); i += step(n) {
			c := n.Cells[i]
			for _, kind := range []string{Code, Markdown, Raw} {
				text, err := n.SetCell(i, c.Source, kind)
				if n.major < 4 {
					continue
				}
				must(t, err)
				var was, now map[string]any
				must(t, json.Unmarshal([]byte(raw), &was))
				must(t, json.Unmarshal([]byte(text), &now))
				cell := was["cells"].([]any)[i].(map[string]any)
				if cell["cell_type"] != kind {
					cell["cell_type"] = kind
					delete(cell, "outputs")
					delete(cell, "execution_count")
					if kind == Code {
						delete(cell, "attachments")
						cell["outputs"], cell["execution_count"] = []any{}, nil
					}
				}
				if !reflect.DeepEqual(was, now) {
					t.Errorf("%s: cell %d as %s:\n%s", name, i+1, kind, cmp.Diff(was, now))
				}
			}
		}
	}
}

func TestStyle(t *testing.T) {
	for name, tt := range map[string]struct{ raw, now, want string }{
		"string":    {`{"cells":[{"source":"caf\u00e9 a\/b\nx = 1"}]}`, "café a/b\nx = 2", `{"cells":[{"source":"caf\u00e9 a\/b\nx = 2"}]}`},
		"escapes":   {`{"cells":[{"source":["\u00e9\n","b"]}]}`, "é\nü\U0001F600", `{"cells":[{"source":["\u00e9\n","\u00fc\ud83d\ude00"]}]}`},
		"utf-8":     {`{"cells":[{"source":["é \u00e9\n","b"]}]}`, "é é\nü", `{"cells":[{"source":["é \u00e9\n","ü"]}]}`},
		"pairs":     {`{"cells":[{"source":"\ud83d\ude00x"}]}`, "\U0001F600y", `{"cells":[{"source":"\ud83d\ude00y"}]}`},
		"surrogate": {`{"cells":[{"source":"\ud83dx"}]}`, "�y", `{"cells":[{"source":"\ud83dy"}]}`},
		"compact":   {`{"cells":[{"source":["a"]}]}`, "a\nb", `{"cells":[{"source":["a\n","b"]}]}`},
		"empty":     {`{"cells": [{"metadata": {}, "source": []}]}`, "a\nb", `{"cells": [{"metadata": {}, "source": ["a\n", "b"]}]}`},
		"none":      {`{"cells": [{"cell_type": "code"}]}`, "a", `{"cells": [{"cell_type": "code", "source": ["a"]}]}`},
		"no keys":   {`{"cells": [{}]}`, "a", `{"cells": [{"source": ["a"]}]}`},
		"two":       {`{"cells":[{"source":"a","source":"b"}]}`, "c", `{"cells":[{"source":"a","source":"c"}]}`},
		"control":   {`{"cells":[{"source":""}]}`, "\x01\x7f\u2028</", `{"cells":[{"source":"\u0001` + "\x7f\u2028" + `</"}]}`},
		"indent": {"{\n  \"cells\": [\n    {\n      \"source\": []\n    }\n  ]\n}\n", "a\nb",
			"{\n  \"cells\": [\n    {\n      \"source\": [\n       \"a\\n\",\n       \"b\"\n      ]\n    }\n  ]\n}\n"},
		"worksheets": {`{"worksheets":[{"cells":[{"input":["a"]}]}],"nbformat":3}`, "b", `{"worksheets":[{"cells":[{"input":["b"]}]}],"nbformat":3}`},
		"bare lines": {`{"worksheets":[{"cells":[{"source":["a", "b"]}]}],"nbformat":2}`, "a\n\nB\n",
			`{"worksheets":[{"cells":[{"source":["a", "", "B", ""]}]}],"nbformat":2}`},
	} {
		if got := parsed(t, tt.raw).SetSources(map[int]string{0: tt.now}); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tt.want)
		}
	}
}

func TestParseFails(t *testing.T) {
	for raw, want := range map[string]string{
		"": "line 1: unexpected end", "{\n\"cells\": [}": "line 2: invalid character", `[]`: "no list of cells", `{}`: "no list of cells",
		`{"cells":{}}`: "no list of cells", `{"cells":[1]}`: "cell 1 is not an object", strings.Repeat("[", 100000): "exceeded max depth",
		"<<<<<<< ours\n{}": "line 1: invalid character '<'",
	} {
		if _, err := Parse(raw); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%.30q) = %v, want %q", raw, err, want)
		}
	}
}

// FuzzNotebook changes notebooks, which stay valid, and changes them back.
func FuzzNotebook(f *testing.F) {
	for _, raw := range corpus(f) {
		if len(raw) < 8<<10 {
			f.Add(raw, uint8(0), "print(1)\né")
		}
	}
	f.Add(`{"cells":[{"source":["\ud83d","\ude00\n",""]},{"attachments":{},"outputs":[],"cell_type":"markdown"}],"nbformat":4}`, uint8(1), "\n")
	f.Fuzz(func(t *testing.T, raw string, cell uint8, source string) {
		n, err := Parse(raw)
		if err != nil || len(n.Cells) == 0 {
			return
		}
		source = strings.ToValidUTF8(source, "?")
		i := int(cell) % len(n.Cells)
		texts := []string{n.SetSources(map[int]string{i: source}), n.Delete(i)}
		if text, _, err := n.Insert(i, Code, source); err == nil && n.Cells[i].list == 0 {
			texts = append(texts, text)
		}
		for _, kind := range []string{Code, Markdown} {
			if text, err := n.SetCell(i, source, kind); err == nil {
				texts = append(texts, text)
			}
		}
		for _, text := range texts {
			if _, err := Parse(text); err != nil {
				t.Fatalf("%v in %q", err, text)
			}
		}
		if now := parsed(t, texts[0]); now.Cells[i].Source != source {
			t.Errorf("the source is %q, want %q, in %q", now.Cells[i].Source, source, texts[0])
		}
		for i := range n.Cells {
			n.Show(i, Limits{3, 100}, strings.TrimSpace)
		}
	})
}
