package app

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/executors/tools/memory"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/rank"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/llmtest"
	"github.com/zeph-acp/zeph-acp/session/llm/provider"
	"github.com/zeph-acp/zeph-acp/session/store"
)

// embeddingModel returns a model whose server embeds with multilingual-e5-small.
func embeddingModel(t *testing.T) llm.Model {
	t.Helper()
	// The server itself puts the prefix before each text.
	p := provider.Provider{Type: provider.TypeCompatible, Model: "none", BaseURL: llmtest.ServeE5(t), EmbeddingModel: "multilingual-e5-small-q4"}
	m, err := provider.Select(provider.Config{Providers: []provider.Provider{p}}, func(string) string { return "" }, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// embeddingRows returns the columns of the lines of a file of testdata/embeddings.
func embeddingRows(t *testing.T, name string) (out [][]string) {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", "embeddings", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		out = append(out, strings.Split(lines.Text(), " | "))
	}
	return out
}

// A paraphrase has no word in common with its entry, not even one of the same stem.
func TestParaphrases(t *testing.T) {
	entries := map[string]string{}
	for _, row := range embeddingRows(t, "entries.txt") {
		entries[row[0]] = row[1]
	}
	kinds := map[string]int{}
	for _, row := range embeddingRows(t, "queries.txt") {
		kind, query, want := row[0], row[1], row[2]
		kinds[kind]++
		if share := rank.Share(rank.Subject(query), entries[want]); kind == "paraphrase" && share > 0 {
			t.Errorf("%q has words of %q", query, entries[want])
		}
	}
	if len(entries) != 120 || kinds["paraphrase"] != 30 || kinds["words"] != 30 {
		t.Errorf("%d entries and %v queries, want 120 and 30 of each kind", len(entries), kinds)
	}
}

// With a real model for embeddings a search finds what no word leads to, and loses nothing that words find.
func TestMemoryByMeaning(t *testing.T) {
	m := embeddingModel(t)
	e, ok := llm.EmbedderOf(m)
	if !ok {
		t.Fatal("the model has no embeddings")
	}
	db := store.New(filepath.Join(t.TempDir(), "zeph.db"), store.Options{})
	t.Cleanup(func() { db.Close() })
	roots, err := workspace.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	saved := &memory.Memory{Store: memories{db}, Config: setting.Default[memory.Config](), Session: "s", Project: roots.Cwd(), Roots: roots,
		Now: time.Now, Embedder: func() (string, rank.Embedder) { return e.Name(), e }, EmbedTimeout: time.Hour}
	texts := map[string]string{}
	for _, row := range embeddingRows(t, "entries.txt") {
		texts[row[0]] = row[1]
		if _, err := saved.Save(t.Context(), memory.Fact{Text: row[1]}); err != nil {
			t.Fatal(err)
		}
	}
	found, shown := map[string]int{}, 0
	for _, row := range embeddingRows(t, "queries.txt") {
		kind, query, want := row[0], row[1], texts[row[2]]
		hits, err := saved.Search(t.Context(), query, 5)
		if err != nil {
			t.Fatal(err)
		}
		shown += len(hits)
		if slices.ContainsFunc(hits, func(h memory.Hit) bool { return h.Text == want }) {
			found[kind]++
		} else {
			t.Logf("%s\n\twant %s\n\tgot %q", query, want, textsOf(hits))
		}
	}
	t.Logf("found %v of 30 each, with %.1f hits for a query", found, float64(shown)/60)
	if found["paraphrase"] < 25 || found["words"] < 30 {
		t.Errorf("found %d of 30 paraphrases and %d of 30 queries by words, want 25 and 30", found["paraphrase"], found["words"])
	}
}
