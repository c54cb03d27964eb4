package rank

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"createIssue create_issue GITHUB_TOKEN": "createissue create issue create issue github token",
		"Lösche Größe, Œuvre ÉTÉ":               "losche grosse oeuvre ete",
		"the a I x":                             "x",
		"docs/img/a.png":                        "docs img png",
		"createIssue in HTTPServer2":            "createissue create issue httpserver2 http server2",
		"snake_case, kebab-case":                "snake case kebab case",
		"数据库端口":                                 "数据库端口 数据 据库 库端 端口",
		"naïve cafe\u0301":                      "naive cafe",
	} {
		if got := strings.Join(Words(text), " "); got != want {
			t.Errorf("Words(%q) = %q, want %q", text, got, want)
		}
	}
	for question, want := range map[string]string{
		"Which port does the staging DB use?": "port staging db",
		"what is it":                          "",
		"naïve café, naïve":                   "naïve café",
		"createIssue in HTTPServer2":          "createissue create issue httpserver2 http server2",
	} {
		if got := strings.Join(Subject(question), " "); got != want {
			t.Errorf("Subject(%q) = %q, want %q", question, got, want)
		}
	}
	if got, want := Parts("createIssue, naïve 数据库"), "create Issue 数据 据库"; got != want {
		t.Errorf("Parts: got %q, want %q", got, want)
	}
}

func TestStem(t *testing.T) {
	for w, want := range map[string]string{"files": "fil", "file": "fil", "running": "run", "queries": "query", "query": "query", "created": "creat",
		"create": "creat", "class": "class", "is": "is", "pass": "pass", "string": "str"} {
		if got := stem(w); got != want {
			t.Errorf("stem(%q) = %q, want %q", w, got, want)
		}
	}
}

func TestScore(t *testing.T) {
	var documents [][]Text
	for _, text := range []string{"The café database listens on 5433", "Never drop databases", "how to remove a branch", "the compilers of getUser"} {
		documents = append(documents, []Text{{text, 1}})
	}
	x := New(documents)
	for query, want := range map[string][]int{
		"database":        {0, 1},
		"CAFÉ":            {0},
		"dropping":        {1},
		"löschen":         {1, 2}, // the same meaning
		"compile":         {3},    // begins a word
		"databsae branch": {0, 1, 2},
		"get_user":        {3},
		"nothing":         nil,
		"":                nil,
	} {
		var got []int
		for i, s := range x.Score(Words(query)) {
			if s > 0 {
				got = append(got, i)
			}
			if s < 0 || s > 2 {
				t.Errorf("%q: document %d has the score %v, want 0 to 2", query, i, s)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q finds the documents %v, want %v", query, got, want)
		}
	}
	if got := x.Similarity(0, 0); math.Abs(got-1) > 1e-9 {
		t.Errorf("a document is similar to itself by %v, want 1", got)
	}
	if got := x.Similarity(0, 1); got <= 0 || got >= 1 {
		t.Errorf("two documents with one common word: similarity %v, want between 0 and 1", got)
	}
	if got := Share([]string{"databases", "port"}, "the café's database"); got != 0.5 {
		t.Errorf("one of two words: share %v, want 0.5", got)
	}
	scores := []float64{0.2, 0.5, 1}
	if Cut(scores, 0.1, 0.4); !slices.Equal(scores, []float64{0, 0.5, 1}) {
		t.Errorf("cut at 0.4 of the best: %v", scores)
	}
}

func TestFuse(t *testing.T) {
	nan := math.NaN()
	for name, tt := range map[string]struct {
		words, similarities []float64
		want                string // the order of the documents
	}{
		"words decide":                 {[]float64{0.1, 0.9, 0.5}, []float64{0.8, 0.9, 0.85}, "1 2 0"},
		"meaning decides without them": {[]float64{0, 0, 0}, []float64{0.8, 0.9, 0.85}, "1 2 0"},
		"both first":                   {[]float64{0.9, 0.5, 0}, []float64{0.7, 0.8, 0.9}, "0 1 2"},
		"no embedding":                 {[]float64{0.9, 0, 0.1}, []float64{nan, 0.9, nan}, "0 2 1"},
	} {
		t.Run(name, func(t *testing.T) {
			fused := Fuse(tt.words, tt.similarities, 0.75)
			order := []int{0, 1, 2}
			slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(fused[b], fused[a]) })
			if got := strings.Trim(fmt.Sprint(order), "[]"); got != tt.want {
				t.Errorf("the order is %s, want %s: %v", got, tt.want, fused)
			}
			if best := slices.Max(fused); best > 1 || slices.Min(fused) < 0 {
				t.Errorf("fused scores from %v to %v, want 0 to 1", slices.Min(fused), best)
			}
		})
	}
}

func TestNear(t *testing.T) {
	nan := math.NaN()
	for _, tt := range []struct {
		similarities []float64
		want         []bool
	}{
		{[]float64{0.80, 0.80, 0.90, 0.80, 0.88, nan}, []bool{false, false, true, false, true, false}},
		{[]float64{0.80, 0.80, 0.90, 0.80, 0.85, nan}, []bool{false, false, true, false, false, false}},
		{[]float64{0.5, nan}, []bool{false, false}},
		{[]float64{0.5, 0.5}, []bool{false, false}},
		{nil, []bool{}},
	} {
		if got := Near(tt.similarities, 0.5); !slices.Equal(got, tt.want) {
			t.Errorf("near of %v: %v, want %v", tt.similarities, got, tt.want)
		}
	}
}

type embedder func(texts []string) ([][]float32, error)

func (e embedder) Embed(_ context.Context, texts []string) ([][]float32, error) { return e(texts) }

func TestEmbed(t *testing.T) {
	texts := make([]string, 2*BatchSize+1)
	requests, done := 0, 0
	err := Embed(t.Context(), embedder(func(texts []string) ([][]float32, error) {
		if requests++; requests == 3 {
			return nil, errors.New("no model")
		}
		return make([][]float32, len(texts)), nil
	}), texts, func(from int, vectors [][]float32) error { done = from + len(vectors); return nil })
	if err == nil || requests != 3 || done != 2*BatchSize {
		t.Errorf("%d requests, %d vectors, %v; want 3, %d and the failure of the last", requests, done, err, 2*BatchSize)
	}
	short := embedder(func([]string) ([][]float32, error) { return nil, nil })
	if err := Embed(t.Context(), short, []string{"a"}, func(int, [][]float32) error { return nil }); err == nil {
		t.Error("too few vectors: no error")
	}
}
