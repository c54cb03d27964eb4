package session

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/session/store"
)

// A session is deleted only if it is old, and no turn of it runs anywhere.
func TestDeleteOld(t *testing.T) {
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "zeph.db")
	other, db := store.New(path, store.Options{}), store.New(path, store.Options{})
	t.Cleanup(func() { other.Close(); db.Close() })
	changed := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, id := range []string{"busy", "old"} {
		if _, err := other.Append(ctx,
			store.Batch{Session: store.Session{ID: id, CWD: "/w"}, Create: true, Events: []store.Event{{Kind: "x", Data: []byte("{}"), Time: changed}}}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := other.Acquire(ctx, "busy", "another process"); err != nil {
		t.Fatal(err)
	}
	s := newSessions(nil)
	s.Store, s.NewID = db, func() string { return "this process" }
	gone := []string{}
	s.Deleted = func(id string) { gone = append(gone, id) }
	for _, tt := range []struct {
		id     string
		before time.Time
		want   bool
	}{
		{"old", changed, false},
		{"busy", changed.Add(time.Second), false},
		{"unknown", changed.Add(time.Second), false},
		{"old", changed.Add(time.Second), true},
		{"old", changed.Add(time.Second), false},
	} {
		if got, err := s.DeleteOld(ctx, tt.id, tt.before); got != tt.want || err != nil {
			t.Errorf("%s before %s: %v, %v", tt.id, tt.before, got, err)
		}
	}
	if len(gone) != 1 || gone[0] != "old" {
		t.Errorf("the files of %q were removed", gone)
	}
	if err := other.Heartbeat(ctx, "busy", "another process"); err != nil {
		t.Errorf("the lease of the running turn: %v", err)
	}
	if err := other.Release(ctx, "busy", "another process"); err != nil {
		t.Fatal(err)
	}
	if got, err := s.DeleteOld(ctx, "busy", changed.Add(time.Second)); !got || err != nil {
		t.Errorf("after its turn: %v, %v", got, err)
	}
}
