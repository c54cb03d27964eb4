package store

import (
	"errors"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"
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
		if !reflect.DeepEqual(eventsOf(t, db, "stays"), before) { // cmp.Diff takes seconds
			t.Errorf("%s: the session has changed", name)
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

// filledTwice stores the sessions "stays" and "goes", each of size bytes, and deletes "goes".
func filledTwice(t *testing.T, db *DB, size int) {
	t.Helper()
	long := strings.Repeat("x", size)
	for _, id := range []string{"goes", "stays"} {
		if _, err := db.Append(t.Context(), Batch{Session: Session{ID: id, CWD: "/w"}, Create: true, Events: []Event{event("hi"), event(long)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Delete(t.Context(), "goes"); err != nil {
		t.Fatal(err)
	}
}

// A sweep gives deleted data back to the file system, beside another process. The database of
// an earlier version can do so after its first Shrink.
func TestSweepShrinks(t *testing.T) {
	const size = 3 << 20
	path := newPath(t)
	old := raw(t, path)
	run(t, old, "PRAGMA auto_vacuum=NONE; CREATE TABLE t (x)")
	run(t, old, "DROP TABLE t")
	_ = old.Close()
	db, _ := openAt(t, path)
	other, _ := openAt(t, path)
	db.sweepDelay = 0
	sweep := func() {
		t.Helper()
		db.swept = time.Time{}
		if err := db.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
		db.sweeping.Wait()
	}
	free := func() (bytes int64) {
		t.Helper()
		if err := db.read(t.Context(), func(h *handle) (err error) { bytes, err = h.freeBytes(); return err }); err != nil {
			t.Fatal(err)
		}
		return bytes
	}
	filledTwice(t, db, size)
	before := eventsOf(t, other, "stays")
	sweep()
	if n := free(); n < size {
		t.Errorf("%d bytes are free in an old database", n)
	}
	if _, err := db.Shrink(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := db.Delete(t.Context(), "stays"); err != nil {
		t.Fatal(err)
	}
	filledTwice(t, other, size)
	if n := free(); n < size {
		t.Errorf("%d bytes are free before the sweep", n)
	}
	sweep()
	if n := free(); n > slack {
		t.Errorf("%d bytes are free", n)
	}
	for name, db := range map[string]*DB{"this one": db, "another": other} {
		if !reflect.DeepEqual(eventsOf(t, db, "stays"), before) {
			t.Errorf("%s: the session has changed", name)
		}
	}
	for _, db := range []*DB{db, other} {
		must(t, db, "stays", false, "goes on")
	}
	for _, db := range []*DB{db, other} {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() > size+2*slack {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
	if h, err := Check(path); err != nil || h.Sessions != 1 {
		t.Errorf("%+v, %v", h, err)
	}
}

// While another process writes, a sweep waits without keeping others waiting.
func TestSweepIsPatient(t *testing.T) {
	path := newPath(t)
	db, _ := openAt(t, path)
	db.sweepDelay = 0
	must(t, db, "first", true, "x") // sweeps for the first time
	db.sweeping.Wait()
	filledTwice(t, db, 2*slack)
	writer := raw(t, path)
	run(t, writer, "BEGIN IMMEDIATE")
	db.swept = time.Time{}
	began := time.Now()
	for range 100 { // reads, between which the sweep tries to write
		if err := db.Open(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(began); took > busyTimeout {
		t.Errorf("the reads took %s", took)
	}
	run(t, writer, "ROLLBACK")
	db.sweeping.Wait()
	if h, err := db.Shrink(t.Context()); err != nil || h > slack {
		t.Errorf("%d bytes were free after the sweep, %v", h, err)
	}
}
