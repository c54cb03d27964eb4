package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var start = time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)

// clock is a fake clock.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// openAt returns a DB on the file, and its clock.
func openAt(t *testing.T, path string) (*DB, *clock) {
	t.Helper()
	c := &clock{now: start}
	db := New(path, Options{Now: c.Now})
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return db, c
}

func newPath(t *testing.T) string { return filepath.Join(t.TempDir(), "zeph.db") }

// event returns an event with a text.
func event(text string) Event {
	return Event{Time: start, Kind: "text", Data: json.RawMessage(fmt.Sprintf("%q", text))}
}

// must appends to session id. If create is set, it creates the session.
func must(t *testing.T, db *DB, id string, create bool, texts ...string) int64 {
	t.Helper()
	var events []Event
	for _, text := range texts {
		events = append(events, event(text))
	}
	last, err := db.Append(t.Context(), Batch{Session: Session{ID: id, CWD: "/w"}, Create: create, Events: events})
	if err != nil {
		t.Fatal(err)
	}
	return last
}

// texts returns the payloads of a session.
func texts(t *testing.T, db *DB, id string) []string {
	t.Helper()
	events, err := db.Events(t.Context(), id, 0)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for i, e := range events {
		if e.Seq != int64(i)+1 {
			t.Errorf("event %d has Seq %d", i, e.Seq)
		}
		var text string
		if err := json.Unmarshal(e.Data, &text); err != nil {
			t.Fatal(err)
		}
		all = append(all, text)
	}
	return all
}

func TestRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "a?b%20#c é", "zeph.db")
	db, _ := openAt(t, path)
	s := Session{ID: "s", CWD: "/w\x00\xff", Dirs: []string{"/a b", "/ü"}, Title: "tïtle\x00"}
	events := []Event{
		{Seq: 77, Time: start.Add(time.Microsecond), Kind: "prompt", Data: json.RawMessage(`{"a":1}`)},
		{Time: start.Add(time.Hour).In(time.FixedZone("x", 3600)), Kind: "", Data: json.RawMessage("not \x00 json \xff")},
		{Kind: "empty"},
	}
	if last, err := db.Append(t.Context(), Batch{Session: s, Create: true, Events: events}); last != 3 || err != nil {
		t.Fatalf("Append: %d, %v", last, err)
	}
	s.Title, s.Dirs = "changed", nil
	if last, err := db.Append(t.Context(), Batch{Session: s}); last != 3 || err != nil {
		t.Fatalf("Append of nothing: %d, %v", last, err)
	}
	again, _ := openAt(t, path)
	wantSession := Session{ID: "s", CWD: s.CWD, Title: "changed", Events: 3, Created: start.Add(time.Microsecond), Updated: start.Add(time.Hour)}
	wantEvents := []Event{
		{Seq: 1, Time: start.Add(time.Microsecond), Kind: "prompt", Data: json.RawMessage(`{"a":1}`)},
		{Seq: 2, Time: start.Add(time.Hour), Data: json.RawMessage("not \x00 json \xff")},
		{Seq: 3, Time: start, Kind: "empty"},
	}
	for name, db := range map[string]*DB{"same handle": db, "another": again} {
		got, err := db.Session(t.Context(), "s")
		if diff := cmp.Diff(wantSession, got); diff != "" || err != nil {
			t.Errorf("%s: Session: %v, (-want +got)\n%s", name, err, diff)
		}
		for after := range wantEvents {
			gotEvents, err := db.Events(t.Context(), "s", int64(after))
			if diff := cmp.Diff(wantEvents[after:], gotEvents); diff != "" || err != nil {
				t.Errorf("%s: Events after %d: %v, (-want +got)\n%s", name, after, err, diff)
			}
		}
		if got, err := db.Events(t.Context(), "s", 3); len(got) != 0 || err != nil {
			t.Errorf("%s: Events after the last: %v, %v", name, got, err)
		}
	}
}

func TestPermissions(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has other permissions")
	}
	dir := filepath.Join(t.TempDir(), "a", "b")
	db, _ := openAt(t, filepath.Join(dir, "zeph.db"))
	must(t, db, "s", true, "x")
	for name, want := range map[string]fs.FileMode{"": 0o700, "..": 0o700, "zeph.db": 0o600, "zeph.db-wal": 0o600, "zeph.db-shm": 0o600} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v, want %v", name, info.Mode().Perm(), err, want)
		}
	}
}

func TestNewOpensNothing(t *testing.T) {
	path := newPath(t)
	db := New(path, Options{})
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after New: %v", err)
	}
	for range 2 {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := db.Session(t.Context(), "s"); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after Close: %v", err)
	}
}

func TestCloseLeavesOneFile(t *testing.T) {
	path := newPath(t)
	db, _ := openAt(t, path)
	must(t, db, "s", true, "x")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if files, _ := filepath.Glob(path + "*"); len(files) != 1 {
		t.Errorf("files: %v", files)
	}
}

func TestAppendRefuses(t *testing.T) {
	db, _ := openAt(t, newPath(t))
	must(t, db, "old", true, "x")
	if _, err := db.Acquire(t.Context(), "old", "me"); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		id     string
		create bool
		holder string
		want   error
	}{
		"create what is there":        {"old", true, "", ErrExists},
		"append to what is not":       {"new", false, "", ErrUnknown},
		"append without the lease":    {"old", false, "you", ErrLeaseLost},
		"append with it to what went": {"gone", false, "me", ErrUnknown},
		"with the lease":              {"old", false, "me", nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := db.Append(t.Context(), Batch{Session: Session{ID: tt.id}, Create: tt.create, Holder: tt.holder, Events: []Event{event("y")}})
			if !errors.Is(err, tt.want) {
				t.Errorf("%v, want %v", err, tt.want)
			}
		})
	}
	if got := strings.Join(texts(t, db, "old"), ""); got != "xy" {
		t.Errorf("log is %q", got)
	}
	if _, err := db.Session(t.Context(), "new"); !errors.Is(err, ErrUnknown) {
		t.Errorf("a refused session is there: %v", err)
	}
}

// The first events of a session take its lease, so that a turn need not acquire it first.
func TestCreateTakesTheLease(t *testing.T) {
	db, _ := openAt(t, newPath(t))
	s := Session{ID: "s", CWD: "/w"}
	if _, err := db.Append(t.Context(), Batch{Session: s, Create: true, Holder: "me", Events: []Event{event("x")}}); err != nil {
		t.Fatal(err)
	}
	_, err := db.Acquire(t.Context(), "s", "you")
	if leased, ok := errors.AsType[*LeasedError](err); !ok || leased.Holder != "me" {
		t.Errorf("Acquire for another holder: %v, want a LeasedError of me", err)
	}
	if _, err := db.Append(t.Context(), Batch{Session: s, Holder: "me", Events: []Event{event("y")}, Release: true}); err != nil {
		t.Errorf("Append for the holder: %v", err)
	}
	if _, err := db.Acquire(t.Context(), "s", "you"); err != nil {
		t.Errorf("Acquire after the release: %v", err)
	}
}

// During a turn the time of the newest event may lag by a second; a turn ends with the
// true one.
func TestUpdatedDuringTurn(t *testing.T) {
	db, _ := openAt(t, newPath(t))
	at := func(after time.Duration) []Event { return []Event{{Time: start.Add(after), Kind: "k"}} }
	if _, err := db.Append(t.Context(), Batch{Session: Session{ID: "s", CWD: "/w"}, Create: true, Events: at(0)}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Acquire(t.Context(), "s", "me"); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		after, want time.Duration
		release     bool
	}{
		{time.Millisecond, 0, false},
		{time.Second, time.Second, false},
		{1999 * time.Millisecond, time.Second, false},
		{1999 * time.Millisecond, 1999 * time.Millisecond, true},
	} {
		batch := Batch{Session: Session{ID: "s", CWD: "/w"}, Holder: "me", Events: at(tt.after), Release: tt.release}
		if _, err := db.Append(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		if s, err := db.Session(t.Context(), "s"); err != nil || s.Updated.Sub(start) != tt.want {
			t.Errorf("after %v: %v, %v", tt.after, s.Updated.Sub(start), err)
		}
	}
}

func TestUpdatedNeverGoesBack(t *testing.T) {
	db, _ := openAt(t, newPath(t))
	must(t, db, "s", true, "x")
	if _, err := db.Append(t.Context(), Batch{Session: Session{ID: "s"}, Events: []Event{{Time: start.Add(-time.Hour)}}}); err != nil {
		t.Fatal(err)
	}
	if s, err := db.Session(t.Context(), "s"); err != nil || !s.Updated.Equal(start) || s.Events != 2 || s.CWD != "/w" {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestDelete(t *testing.T) {
	path := newPath(t)
	db, c := openAt(t, path)
	other, _ := openAt(t, path)
	must(t, db, "s", true, "x", "y")
	must(t, db, "t", true, "z")
	if _, err := db.Acquire(t.Context(), "s", "me"); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second deletes nothing
		if err := other.Delete(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Append(t.Context(), Batch{Session: Session{ID: "s"}, Holder: "me", Events: []Event{event("late")}}); !errors.Is(err, ErrUnknown) {
		t.Errorf("Append: %v", err)
	}
	if _, err := db.Events(t.Context(), "s", 0); !errors.Is(err, ErrUnknown) {
		t.Errorf("Events: %v", err)
	}
	if err := db.Heartbeat(t.Context(), "s", "me"); err != nil {
		t.Errorf("the lease went with the session: %v", err)
	}
	if got := texts(t, db, "t"); len(got) != 1 {
		t.Errorf("of another session: %v", got)
	}
	c.pass(LeaseTimeout)
	if err := db.Delete(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	if err := db.Heartbeat(t.Context(), "s", "me"); !errors.Is(err, ErrUnknown) {
		t.Errorf("a stale lease is still there: %v", err)
	}
	must(t, db, "s", true, "anew")
	if err := db.Heartbeat(t.Context(), "s", "me"); !errors.Is(err, ErrLeaseLost) {
		t.Errorf("Heartbeat without a lease: %v", err)
	}
	var rows int
	if err := db.h.one([]any{&rows}, "SELECT count(*) FROM events"); err != nil || rows != 2 {
		t.Errorf("%d rows of events, %v", rows, err)
	}
}

func TestLargePayloads(t *testing.T) {
	path := newPath(t)
	db, _ := openAt(t, path)
	must(t, db, "s", true, "small")
	sizes := []int{0, 1, partSize - 1, partSize, partSize + 1, 2 * partSize, 20<<20 + 7, 3}
	var want []Event
	for i, size := range sizes {
		data := bytes.Repeat(fmt.Appendf(nil, "%d, ", i), size/3+1)[:size]
		want = append(want, Event{Seq: int64(i) + 2, Time: start, Kind: "k", Data: data})
	}
	if _, err := db.Append(t.Context(), Batch{Session: Session{ID: "s"}, Events: want}); err != nil {
		t.Fatal(err)
	}
	got, err := db.Events(t.Context(), "s", 1)
	if err != nil || len(got) != len(want) {
		t.Fatalf("%d events, %v", len(got), err)
	}
	for i := range got {
		if got[i].Seq != want[i].Seq || !bytes.Equal(got[i].Data, want[i].Data) {
			t.Errorf("event %d of %d bytes is another, of %d", i, len(want[i].Data), len(got[i].Data))
		}
	}
	must(t, db, "s", false, "reuses the WAL")
	if info, err := os.Stat(path + "-wal"); err != nil || info.Size() > 5<<20 {
		t.Errorf("the WAL stays large: %d, %v", info.Size(), err)
	}
}

// EachEvent reads a log of any length in pieces, and lets other methods run in between.
func TestEachEvent(t *testing.T) {
	for _, n := range []int{0, 1, readAtOnce - 1, readAtOnce, readAtOnce + 1, 3 * readAtOnce} {
		db, _ := openAt(t, newPath(t))
		want := slices.Repeat([]string{"x"}, n)
		must(t, db, "s", true, want...)
		var seqs []int64
		err := db.EachEvent(t.Context(), "s", func(e Event) {
			if seqs = append(seqs, e.Seq); len(seqs) == readAtOnce {
				must(t, db, "s", false, "while it reads")
			}
		})
		whole, wholeErr := db.Events(t.Context(), "s", 0)
		if err != nil || wholeErr != nil || len(seqs) != len(whole) {
			t.Fatalf("%d of %d events: %v, %v", len(seqs), len(whole), err, wholeErr)
		}
		for i, seq := range seqs {
			if seq != int64(i)+1 {
				t.Fatalf("event %d has Seq %d", i, seq)
			}
		}
	}
}

// A log that breaks off in any piece is refused, and so is one that is deleted while it is read.
func TestEachEventRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spoil string
		want  error
	}{
		"a gap":       {"DELETE FROM events WHERE seq = 400", errAltered},
		"no last one": {"DELETE FROM events WHERE seq = 600", errAltered},
		"deleted":     {"DELETE FROM sessions", ErrUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			db, _ := openAt(t, newPath(t))
			must(t, db, "s", true, slices.Repeat([]string{"x"}, 600)...)
			n := 0
			err := db.EachEvent(t.Context(), "s", func(Event) {
				if n++; n == 1 {
					if _, err := db.h.exec(c.spoil); err != nil {
						t.Fatal(err)
					}
				}
			})
			if !errors.Is(err, c.want) || n >= 600 {
				t.Errorf("%d events, %v", n, err)
			}
		})
	}
}

// The driver's slices, which blob keeps, must not change with the next row.
func TestEventsAreCopies(t *testing.T) {
	db, _ := openAt(t, newPath(t))
	must(t, db, "s", true, "aaaa", "bbbb", "cccc")
	first, err := db.Events(t.Context(), "s", 0)
	if err != nil {
		t.Fatal(err)
	}
	must(t, db, "s", false, "dddd")
	if got := strings.Join(texts(t, db, "s"), " "); got != "aaaa bbbb cccc dddd" {
		t.Errorf(`strings.Join(texts(t, db, "s"), " "): got %q, want %q`, got, "aaaa bbbb cccc dddd")
	}
	if string(first[0].Data)+string(first[2].Data) != `"aaaa""cccc"` {
		t.Errorf("%v", first)
	}
}

func TestContext(t *testing.T) {
	db, _ := openAt(t, newPath(t))
	must(t, db, "s", true, "x")
	cause := errors.New("turn cancelled")
	ctx, cancel := context.WithCancelCause(t.Context())
	if !db.lock.TryAcquire(1) { // another method is running
		t.Fatal("a method is running")
	}
	done := make(chan error)
	go func() {
		_, err := db.Append(ctx, Batch{Session: Session{ID: "s"}, Events: []Event{event("y")}})
		done <- err
	}()
	cancel(cause)
	if err := <-done; err != cause {
		t.Errorf("while waiting: %v", err)
	}
	db.lock.Release(1)
	if _, err := db.Events(ctx, "s", 0); err != cause {
		t.Errorf("before the start: %v", err)
	}
	if got := texts(t, db, "s"); len(got) != 1 {
		t.Errorf("log: %v", got)
	}
}

func TestFileReplaced(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows keeps an open file where it is")
	}
	path := newPath(t)
	db, _ := openAt(t, path)
	must(t, db, "s", true, "x")
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Remove(path + suffix); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := db.Append(t.Context(), Batch{Session: Session{ID: "s"}}); !errors.Is(err, ErrUnknown) {
		t.Errorf("Append to what was removed: %v", err)
	}
	must(t, db, "t", true, "y")
	again, _ := openAt(t, path)
	if got := texts(t, again, "t"); len(got) != 1 {
		t.Errorf("in the new file: %v", got)
	}
}

// The next method finds the database that Open opened, and Open returns the same
// errors as any other method.
func TestOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "zeph.db")
	db := New(path, Options{})
	if err := db.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if err := db.Open(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}
