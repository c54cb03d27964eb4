package store

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// eventsOf returns the events of a session.
func eventsOf(t *testing.T, db *DB, id string) (all []Event) {
	t.Helper()
	if err := db.EachEvent(t.Context(), id, func(e Event) { all = append(all, e) }); err != nil {
		t.Fatal(err)
	}
	return all
}

// Shrink gives deleted data back to the file system, beside another process, and what stays can be read and searched.
func TestShrink(t *testing.T) {
	path := newPath(t)
	db, _ := openAt(t, path)
	other, _ := openAt(t, path)
	long := strings.Repeat("a long text ", 100_000)
	for _, id := range []string{"stays", "goes"} {
		if _, err := db.Append(t.Context(), Batch{Session: Session{ID: id, CWD: "/w"}, Create: true, Events: []Event{event("hi"), event(long)}}); err != nil {
			t.Fatal(err)
		}
	}
	before := eventsOf(t, other, "stays")
	if freed, err := db.Shrink(t.Context()); freed != 0 || err != nil {
		t.Errorf("nothing was deleted: %d bytes, %v", freed, err)
	}
	if err := db.Delete(t.Context(), "goes"); err != nil {
		t.Fatal(err)
	}
	freed, err := db.Shrink(t.Context())
	if err != nil || freed < int64(len(long)) {
		t.Errorf("%d bytes, %v", freed, err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() > 2*int64(len(long)) {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
	for name, db := range map[string]*DB{"this one": db, "another": other} {
		if diff := cmp.Diff(before, eventsOf(t, db, "stays")); diff != "" {
			t.Errorf("%s (-before +after)\n%s", name, diff)
		}
	}
	if _, err := other.Append(t.Context(), Batch{Session: Session{ID: "new", CWD: "/w"}, Create: true, Events: []Event{event("hi")}}); err != nil {
		t.Error(err)
	}
	for _, db := range []*DB{db, other} {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	if h, err := Check(path); err != nil || h.Sessions != 2 || h.Free != 0 || h.Events < int64(len(long)) {
		t.Errorf("%+v, %v", h, err)
	}
	if _, err := db.Shrink(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}
