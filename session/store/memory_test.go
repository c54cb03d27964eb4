package store

import (
	"errors"
	"io/fs"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// save saves a new memory of a project, with its text as the key.
func save(t *testing.T, db *DB, project, text string) int64 {
	t.Helper()
	id, existed, err := db.PutMemory(t.Context(), Memory{Project: project, Text: text, Files: map[string]string{}}, text, 0)
	if existed || err != nil {
		t.Fatalf("PutMemory of the new text %q: existed %t, %v", text, existed, err)
	}
	return id
}

func memoryTexts(t *testing.T, db *DB, projects ...string) (out []string) {
	t.Helper()
	all, err := db.Memories(t.Context(), projects...)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range all {
		out = append(out, m.Text)
	}
	return out
}

func TestMemories(t *testing.T) {
	path := newPath(t)
	db, _ := openAt(t, path)
	other, _ := openAt(t, path)
	a, global := save(t, db, "/a", "alpha"), save(t, db, "", "everywhere")
	save(t, other, "/b", "alpha")
	if got := memoryTexts(t, other, "/a", ""); !slices.Equal(got, []string{"alpha", "everywhere"}) {
		t.Errorf("the memories of /a and of all projects are %q, want alpha and everywhere", got)
	}
	if got := memoryTexts(t, db); len(got) != 3 {
		t.Errorf("all memories are %q, want three", got)
	}
	want := Memory{
		Project: "/a", Text: "Alpha", Session: "s", Files: map[string]string{"x": "1"}, Labels: []byte(`{"untrusted":["y"]}`),
	}
	id, existed, err := other.PutMemory(t.Context(), want, "alpha", 0)
	if id != a || !existed || err != nil {
		t.Errorf("an equal text: %d, existed %t, %v, want %d", id, existed, err, a)
	}
	all, err := db.Memories(t.Context(), "/a")
	if err != nil || len(all) != 1 {
		t.Fatalf("got %v, %v, want 1 of them", all, err)
	}
	want.ID, want.Created, want.Updated = a, all[0].Created, all[0].Updated
	if diff := cmp.Diff(want, all[0]); diff != "" {
		t.Errorf("the memory (-want +got)\n%s", diff)
	}
	if err := db.PutVectors(t.Context(), "m", map[int64][]float32{a: {1, -0.5}, global: {2}}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if all, err = other.Memories(t.Context(), "/a"); err != nil || all[0].Model != "m" || !slices.Equal(all[0].Vector, []float32{1, -0.5}) {
		t.Errorf("%+v, %v", all, err)
	}
	own, every, earlier, err := db.CountMemories(t.Context(), "/a", "/a", "s")
	if own != 1 || every != 1 || earlier || err != nil {
		t.Errorf("CountMemories: %d and %d, earlier sessions %t, %v; want one of the project, one of all and no earlier session", own, every, earlier, err)
	}
	must(t, db, "s", true, "x")
	if _, _, earlier, _ := db.CountMemories(t.Context(), "/none", "/w", "t"); !earlier {
		t.Error("the session s of /w is not counted")
	}
	if _, _, earlier, _ := db.CountMemories(t.Context(), "/w", "/w", "s"); earlier {
		t.Error("the session itself is counted")
	}
}

// A text that replaces another becomes one with an equal text.
func TestReplaceMemory(t *testing.T) {
	db, _ := openAt(t, newPath(t))
	old, double := save(t, db, "/a", "the port is 1"), save(t, db, "/a", "the port is 2")
	m := Memory{ID: old, Project: "/a", Text: "the port is 2"}
	if id, existed, err := db.PutMemory(t.Context(), m, m.Text, 1); id != old || !existed || err != nil {
		t.Errorf("the replaced memory: %d, existed %t, %v, want %d", id, existed, err, old)
	}
	if id, _, err := db.PutMemory(t.Context(), m, m.Text, 1); id != old || err != nil {
		t.Errorf("a memory that is replaced by its own text: %d, %v, want %d", id, err, old)
	}
	if got := memoryTexts(t, db); !slices.Equal(got, []string{"the port is 2"}) {
		t.Errorf("the memories are %q, want only that the port is 2", got)
	}
	m.ID = double
	if _, _, err := db.PutMemory(t.Context(), m, "other", 0); !errors.Is(err, ErrNoMemory) || !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a memory that is gone: %v, want %v", err, ErrNoMemory)
	}
	if _, _, err := db.PutMemory(t.Context(), Memory{Project: "/a", Text: "x"}, "x", 1); !errors.Is(err, ErrFull) {
		t.Errorf("one memory more than the limit: %v, want %v", err, ErrFull)
	}
	if err := db.DeleteMemory(t.Context(), old); err != nil {
		t.Errorf("delete: %v", err)
	}
	if err := db.DeleteMemory(t.Context(), old); !errors.Is(err, ErrNoMemory) {
		t.Errorf("delete again: %v, want %v", err, ErrNoMemory)
	}
	if id := save(t, db, "/a", "x"); id <= double {
		t.Errorf("the number %d is used again", id)
	}
}

// Earlier versions indexed the words of memories: those of a replaced text are deleted.
func TestIndexedMemory(t *testing.T) {
	db, _ := openAt(t, newPath(t))
	old := save(t, db, "/a", "the port is 1")
	words := func() (n int) {
		if err := db.read(t.Context(), func(h *handle) error { return h.one([]any{&n}, "SELECT count(*) FROM words") }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	err := db.write(t.Context(), func(h *handle) error {
		_, err := h.exec("INSERT INTO words (rowid, text, parts) VALUES (?, 'the port is 1', '')", -old)
		return err
	})
	if err != nil || words() != 1 {
		t.Fatalf("the words of an earlier version: %v, %d rows, want 1", err, words())
	}
	if _, _, err := db.PutMemory(t.Context(), Memory{ID: old, Project: "/a", Text: "the port is 2"}, "2", 0); err != nil || words() != 0 {
		t.Errorf("a replaced memory: %v, its old text has %d rows of words, want none", err, words())
	}
}

// Messages are found until their session is deleted, and no event is read twice.
func TestMessages(t *testing.T) {
	path := newPath(t)
	db, _ := openAt(t, path)
	must(t, db, "s", true, "one", "two")
	must(t, db, "now", true, "one")
	ids, err := db.Unread(t.Context(), "now", "/w")
	if err != nil || !slices.Equal(ids, []string{"s"}) {
		t.Fatalf("got %q, %v, want %q", ids, err, []string{"s"})
	}
	events, last, err := db.UnreadEvents(t.Context(), "s", "note", "agent_message", "user_message")
	if err != nil || last != 2 {
		t.Fatal(events, last, err)
	}
	message := Message{Role: "user", Text: "please rename the database", Time: time.UnixMicro(5).UTC()}
	for range 2 { // another process does the same
		if err := db.PutMessages(t.Context(), "s", last, []Message{message}, []string{""}); err != nil {
			t.Fatal(err)
		}
	}
	if ids, err := db.Unread(t.Context(), "now", "/w"); len(ids) > 0 || err != nil {
		t.Errorf(`db.Unread(t.Context(), "now", "/w"): got %v, %v, want none`, ids, err)
	}
	for _, tt := range []struct {
		dir, except string
		n           int
	}{{"/w", "now", 1}, {"/w", "s", 0}, {"/x", "now", 0}} {
		found, err := db.MatchMessages(t.Context(), `"databases" OR "nothing"`, tt.except, 9, tt.dir)
		if err != nil || len(found) != tt.n || tt.n > 0 && (found[0].Session != "s" || found[0].Text != message.Text || found[0].Role != "user" ||
			!found[0].Time.Equal(message.Time)) {
			t.Errorf("%+v: %+v, %v", tt, found, err)
		}
	}
	if err := db.Delete(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if found, err := db.MatchMessages(t.Context(), `"database"`, "now", 9, "/w"); len(found) > 0 || err != nil {
		t.Errorf("got %v, %v, want none", found, err)
	}
	var words int
	if err := db.read(t.Context(), func(h *handle) error { return h.one([]any{&words}, "SELECT count(*) FROM words") }); err != nil || words != 0 {
		t.Errorf("got %v, %v, want %v", words, err, 0)
	}
}
