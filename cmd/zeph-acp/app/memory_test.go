package app

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/gates/flow"
	"github.com/zeph-acp/zeph-acp/executors/tools/memory"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/filter/text/rank"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/store"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// rows returns the columns of the lines of a file of testdata/memory.
func rows(t *testing.T, name string) (out [][]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "memory", name))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		out = append(out, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return out
}

// corpus saves 300 facts about three projects, and changes the files that some cite.
type corpus struct {
	store *store.DB
	dirs  map[string]string
	clock time.Time
	stale map[string]bool // texts
}

func newCorpus(t *testing.T) *corpus {
	c := &corpus{dirs: map[string]string{}, stale: map[string]bool{}, clock: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	c.store = store.New(filepath.Join(t.TempDir(), "zeph.db"), store.Options{Now: func() time.Time { return c.clock }})
	t.Cleanup(func() { c.store.Close() })
	for _, row := range rows(t, "entries.txt") {
		project, text, file := row[0], row[1], strings.Join(row[2:], "")
		global := project == "*"
		if global {
			project = "shop"
		}
		if c.dirs[project] == "" {
			c.dirs[project] = t.TempDir()
		}
		fact := memory.Fact{Text: text, Global: global}
		if file != "" {
			c.write(t, project, file, "before")
			fact.Files, c.stale[text] = []string{file}, true
		}
		c.clock = c.clock.Add(time.Hour)
		if _, err := c.memory(t, project, false).Save(t.Context(), fact); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if file != "" {
			c.write(t, project, file, "after")
		}
	}
	return c
}

func (c *corpus) write(t *testing.T, project, file, text string) {
	t.Helper()
	path := filepath.Join(c.dirs[project], filepath.FromSlash(file))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// memory returns the memory of a session of the project.
func (c *corpus) memory(t *testing.T, project string, embeds bool) *memory.Memory {
	t.Helper()
	roots, err := workspace.New(c.dirs[project])
	if err != nil {
		t.Fatal(err)
	}
	m := &memory.Memory{Store: memories{c.store}, Config: setting.Default[memory.Config](), Session: "s", Project: roots.Cwd(), Roots: roots,
		Now: func() time.Time { return c.clock }}
	if embeds {
		m.Embedder = func() (string, rank.Embedder) { return "trigrams", trigrams{} }
	}
	return m
}

// trigrams embeds a text as the counts of its sequences of three letters.
type trigrams struct{}

func (trigrams) Embed(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = make([]float32, 512)
		text = " " + strings.ToLower(text) + " "
		for at := range len(text) - 2 {
			h := fnv.New32a()
			h.Write([]byte(text[at : at+3]))
			out[i][h.Sum32()%512]++
		}
	}
	return out, nil
}

// TestRecall asks the questions about the corpus. A hit is never of another project, and
// never stale without its mark. The right entry is among the first three for 90 % of the
// questions, and of two that contradict each other the newer one comes first.
func TestRecall(t *testing.T) {
	if testing.Short() {
		t.Skip("one search after the other: for the race detector, the other tests of the memory have all of it")
	}
	c := newCorpus(t)
	questions := rows(t, "queries.txt")
	for name, embeds := range map[string]bool{"words": false, "embeddings": true} {
		t.Run(name, func(t *testing.T) {
			right, shown, wrong := 0, 0, 0
			for _, row := range questions {
				project, query, want := row[0], row[1], row[2]
				for other := range c.dirs {
					hits, err := c.memory(t, other, embeds).Search(t.Context(), query, 3)
					if err != nil {
						t.Fatal(err)
					}
					c.check(t, other, query, hits)
					if other != project {
						wrong += len(hits)
						continue
					}
					shown += len(hits)
					if slices.ContainsFunc(hits, func(h memory.Hit) bool { return h.Text == want }) {
						right++
					} else {
						t.Logf("%s: %s\n\twant %s\n\tgot %q", project, query, want, textsOf(hits))
					}
				}
			}
			t.Logf("%d of %d questions answered, %.1f hits each; %.1f for the questions about another project", right, len(questions),
				float64(shown)/float64(len(questions)), float64(wrong)/float64(2*len(questions)))
			if right*10 < len(questions)*9 {
				t.Errorf("the right entry is among the first three for %d of %d questions", right, len(questions))
			}
		})
	}
}

// check fails for hits that no search in a project may return.
func (c *corpus) check(t *testing.T, project, query string, hits []memory.Hit) {
	t.Helper()
	for i, h := range hits {
		if h.Project != "" && h.Project != c.memory(t, project, false).Project {
			t.Errorf("%s: %s: a hit of another project: %s", project, query, h.Text)
		}
		if c.stale[h.Text] != (len(h.Stale) > 0) {
			t.Errorf("%s: %s: %s: stale %q, want stale: %t", project, query, h.Text, h.Stale, c.stale[h.Text])
		}
		for _, later := range hits[i+1:] {
			if h.Newer == later.ID {
				t.Errorf("%s: %s: an entry stands before the newer one: %q", project, query, textsOf(hits))
			}
		}
	}
}

func textsOf(hits []memory.Hit) (out []string) {
	for _, h := range hits {
		out = append(out, h.Text)
	}
	return out
}

// The corpus is as large as the package's promise says.
func TestRecallCorpus(t *testing.T) {
	entries, questions := rows(t, "entries.txt"), rows(t, "queries.txt")
	if len(entries) != 300 || len(questions) < 60 {
		t.Errorf("%d entries and %d questions, want 300 and at least 60", len(entries), len(questions))
	}
	slices.SortFunc(entries, func(a, b []string) int { return cmp.Compare(a[1], b[1]) })
	if n := len(slices.CompactFunc(entries, func(a, b []string) bool { return a[1] == b[1] })); n != 300 {
		t.Errorf("%d different texts, want 300", n)
	}
}

// The texts that the user typed and that the agent wrote can be found, with their secrets
// masked. Commands, thoughts and calls cannot.
func TestEarlierMessages(t *testing.T) {
	db := store.New(filepath.Join(t.TempDir(), "zeph.db"), store.Options{})
	t.Cleanup(func() { db.Close() })
	typed := []acp.ContentBlock{acp.TextBlock("rename the alpha module")}
	labels := flow.Both("a page")
	var events []store.Event
	for _, e := range []transcript.Event{
		transcript.Prompt{MessageID: "1", Content: typed},
		transcript.Prompt{MessageID: "2", Content: []acp.ContentBlock{acp.TextBlock("/alpha local")}, NoModel: true},
		transcript.Prompt{MessageID: "5", Content: []acp.ContentBlock{acp.TextBlock(TaskPrompt(store.Task{Name: "a", Prompt: "push alpha"}))}},
		transcript.Prompt{
			MessageID: "6",
			Content:   []acp.ContentBlock{acp.TextBlock(TaskPrompt(store.Task{Name: "b", Prompt: "test alpha", Typed: true}))},
		},
		transcript.Block{Block: llm.Block{Thought: "alpha thought"}},
		transcript.Block{Block: llm.Block{Call: &llm.ToolCall{Name: "alpha", Input: []byte("{}")}}},
		transcript.Steer{MessageID: "3", Content: []acp.ContentBlock{acp.TextBlock("and alpha's tests")}},
		transcript.Block{MessageID: "4", Block: llm.Block{Text: "Renamed alpha; the key is hidden."}},
		transcript.State{Name: "other", Value: []byte("1")},
		transcript.State{Name: flow.Name, Value: labels},
	} {
		data, err := plainjson.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, store.Event{Kind: e.Kind(), Data: data})
	}
	events = append(events, store.Event{Kind: transcript.Prompt{}.Kind(), Data: []byte("{")})
	if _, err := db.Append(t.Context(), store.Batch{Session: store.Session{ID: "s", CWD: "/w", Title: "alpha"}, Create: true, Events: events}); err != nil {
		t.Fatal(err)
	}
	e := earlierSessions{store: db, session: "now", dirs: []string{"/w"}, mask: func(s string) string { return strings.ReplaceAll(s, "hidden", "[masked]") }}
	for range 2 {
		found, behind, err := e.search(t.Context(), `"alpha"`, 9)
		if err != nil || behind > 0 {
			t.Fatalf("search: %v, %d sessions not searched yet, want all searched", err, behind)
		}
		var got []string
		for _, m := range found {
			got = append(got, m.Role+": "+m.Text[strings.LastIndex(m.Text, "\n")+1:])
			if !bytes.Equal(m.Labels, labels) || m.Title != "alpha" {
				t.Errorf("message %+v, want the title alpha and the labels %s", m, labels)
			}
		}
		slices.Sort(got)
		if want := []string{"agent: Renamed alpha; the key is [masked].", "agent: push alpha", "user: and alpha's tests", "user: rename the alpha module",
			"user: test alpha"}; !slices.Equal(got, want) {
			t.Errorf("found %q, want %q", got, want)
		}
	}
}

// A query is text, not an expression of the database.
func FuzzMemoryQuery(f *testing.F) {
	for _, query := range []string{`"`, `vault" OR "x`, "NEAR(a b)", "-a", "a*", "{text}: a", "^a", "a AND NOT b", "\x00", "é́", "数据库"} {
		f.Add(query)
	}
	dir, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	db := store.New(filepath.Join(dir, "zeph.db"), store.Options{})
	f.Cleanup(func() { db.Close() })
	roots, err := workspace.New(dir)
	if err != nil {
		f.Fatal(err)
	}
	m := &memory.Memory{Store: memories{db}, Config: setting.Default[memory.Config](), Session: "s", Project: roots.Cwd(), Roots: roots}
	other := &memory.Memory{Store: m.Store, Config: m.Config, Session: "s", Project: filepath.Join(dir, "other"), Roots: roots}
	if _, err := other.Save(f.Context(), memory.Fact{Text: "another project"}); err != nil {
		f.Fatal(err)
	}
	if _, err := m.Save(f.Context(), memory.Fact{Text: "a b vault 数据库"}); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, query string) {
		hits, err := m.Search(t.Context(), query, 5)
		if err != nil || len(hits) > 1 {
			t.Errorf("Search(%q) = %q, %v, want the one entry of the project, or none", query, textsOf(hits), err)
		}
	})
}

// bigMemory is a project with n entries.
func bigMemory(b *testing.B, n int) *memory.Memory {
	db := store.New(filepath.Join(b.TempDir(), "zeph.db"), store.Options{})
	b.Cleanup(func() { db.Close() })
	roots, err := workspace.New(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	m := &memory.Memory{Store: memories{db}, Config: setting.Default[memory.Config](), Session: "s", Project: roots.Cwd(), CWD: roots.Cwd(), Roots: roots}
	for i := range n {
		e := memory.Entry{Project: m.Project, Text: fmt.Sprintf("The service number %d listens on port %d and writes to table%d.", i, 5000+i, i%50)}
		if _, _, err := m.Store.PutMemory(b.Context(), e, e.Text, 0); err != nil {
			b.Fatal(err)
		}
	}
	return m
}

func BenchmarkMemorySearch(b *testing.B) {
	m := bigMemory(b, 1000)
	b.ReportAllocs()
	for b.Loop() {
		if hits, err := m.Search(b.Context(), "Which port does service number 512 use?", 5); err != nil || len(hits) == 0 {
			b.Fatal(hits, err)
		}
	}
}

// BenchmarkMemoryLook is the cost of a turn a minute after the last look, and of the
// others.
func BenchmarkMemoryLook(b *testing.B) {
	for _, n := range []int{0, 10, 1000} {
		for _, again := range []bool{false, true} {
			b.Run(fmt.Sprintf("%d/again=%t", n, again), func(b *testing.B) {
				m := bigMemory(b, n)
				b.ReportAllocs()
				for b.Loop() {
					if !again {
						m.Reset()
					}
					if m.Refresh(b.Context()); (m.Line() == "") != (n == 0) {
						b.Fatal(m.Line())
					}
				}
			})
		}
	}
}

// counted counts the queries for the number of entries.
type counted struct {
	memory.Store
	n int
}

func (c *counted) CountMemories(ctx context.Context, project, cwd, session string) (own, all int, earlier bool, err error) {
	c.n++
	return c.Store.CountMemories(ctx, project, cwd, session)
}

// TestLook checks that the number of entries is read at most once a minute, and also
// after an entry of the session itself and for a new conversation.
func TestLook(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	db := store.New(filepath.Join(t.TempDir(), "zeph.db"), store.Options{})
	t.Cleanup(func() { db.Close() })
	roots, err := workspace.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := &counted{Store: memories{db}}
	m := &memory.Memory{Store: c, Config: setting.Default[memory.Config](), Session: "s", Project: roots.Cwd(), Roots: roots, Now: func() time.Time { return now }}
	step := func(name string, do func(), want int, line string) {
		t.Helper()
		do()
		m.Refresh(t.Context())
		m.Refresh(t.Context())
		if got := m.Line(); c.n != want || !strings.Contains(got, line) || (line == "") != (got == "") {
			t.Errorf("%s: %d queries and the line %q, want %d and %q", name, c.n, got, want, line)
		}
	}
	other := memory.Memory{Store: c.Store, Config: m.Config, Project: m.Project, Roots: roots, Now: m.Now}
	save := func(m *memory.Memory, text string) {
		if _, err := m.Save(t.Context(), memory.Fact{Text: text}); err != nil {
			t.Fatal(err)
		}
	}
	step("the first turn", func() {}, 1, "")
	step("another process saves", func() { save(&other, "The logo is green.") }, 1, "")
	step("59 seconds later", func() { now = now.Add(59 * time.Second) }, 1, "")
	step("a minute later", func() { now = now.Add(time.Second) }, 2, "1 saved entry")
	step("a new conversation", func() { save(&other, "The port is 5433."); m.Reset() }, 3, "2 saved entries")
	step("the clock is set back", func() { now = now.Add(-time.Hour) }, 4, "2 saved entries")
	step("the session saves", func() {
		call := &executors.Call{Tool: memory.SaveName, Input: json.RawMessage(`{"content":"Tests need a VPN."}`)}
		if res, err := m.Catalogue().Execute(t.Context(), call); err != nil || res.Failed {
			t.Fatalf("%s: %v, %s", memory.SaveName, err, res.ForModel())
		}
	}, 5, "3 saved entries")
}
