package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"
)

func keep(t *testing.T, db *DB, session, id, text string) {
	t.Helper()
	if err := db.PutOverflow(t.Context(), session, id, strings.NewReader(text)); err != nil {
		t.Fatalf("PutOverflow(%s, %s): %v", session, id, err)
	}
}

func overflow(t *testing.T, db *DB, session, id string) (string, error) {
	t.Helper()
	var b strings.Builder
	for piece, err := range db.Overflow(t.Context(), session, id) {
		if err != nil {
			return "", err
		}
		b.Write(piece)
	}
	return b.String(), nil
}

// checkKept fails unless the file has exactly this many overflows and parts.
func checkKept(t *testing.T, db *DB, overflows, parts int) {
	t.Helper()
	var n, p int
	err := db.read(t.Context(), func(h *handle) error {
		return errors.Join(h.one([]any{&n}, "SELECT count(*) FROM tool_overflow"), h.one([]any{&p}, "SELECT count(*) FROM tool_overflow_parts"))
	})
	if err != nil || n != overflows || p != parts {
		t.Errorf("%d overflows and %d parts are kept, want %d and %d; %v", n, p, overflows, parts, err)
	}
}

func TestOverflow(t *testing.T) {
	path := newPath(t)
	db, _ := openAt(t, path)
	other, _ := openAt(t, path)
	must(t, db, "s", true, "x")
	must(t, db, "t", true, "x")
	const batch = batchParts * partSize
	for _, size := range []int{0, 1, partSize - 1, partSize, partSize + 1, batch - 1, batch, batch + 1, 3*batch + 17} {
		id := fmt.Sprint(size)
		text := strings.Repeat("0123456789abcde\x00\xff", size/17+1)[:size]
		if err := db.PutOverflow(t.Context(), "s", id, iotest.HalfReader(strings.NewReader(text))); err != nil {
			t.Fatal(err)
		}
		keep(t, other, "s", id, "it is there already")
		for name, db := range map[string]*DB{"same handle": db, "another": other} {
			if got, err := overflow(t, db, "s", id); got != text || err != nil {
				t.Errorf("%s, %d bytes: %d bytes, %v", name, size, len(got), err)
			}
		}
		for _, key := range [][2]string{{"t", id}, {"", id}, {"unknown", id}, {"s", ""}, {"s", id + " "}, {"s", "%"}} {
			if _, err := overflow(t, db, key[0], key[1]); !errors.Is(err, ErrNoOverflow) || !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%q: %v, want ErrNoOverflow", key, err)
			}
		}
	}
	if err := db.PutOverflow(t.Context(), "unknown", "x", strings.NewReader("x")); !errors.Is(err, ErrUnknown) {
		t.Errorf("for a session that is not stored: %v", err)
	}
	if _, err := db.Session(t.Context(), "unknown"); !errors.Is(err, ErrUnknown) {
		t.Errorf("it was made: %v", err)
	}
	keep(t, db, "t", "1", "of t")
	if err := db.Delete(t.Context(), "s"); err != nil {
		t.Fatal(err)
	}
	checkKept(t, db, 1, 1)
	run(t, raw(t, path), "PRAGMA foreign_keys=1; DELETE FROM sessions") // by any program
	checkKept(t, db, 0, 0)
}

// A reader may stop early, and may use the store between two pieces.
func TestOverflowInPieces(t *testing.T) {
	db, _ := openAt(t, newPath(t))
	must(t, db, "s", true, "x")
	keep(t, db, "s", "u", strings.Repeat("x", 3*partSize))
	for piece, err := range db.Overflow(t.Context(), "s", "u") {
		if len(piece) != partSize || err != nil {
			t.Errorf("%d bytes, %v", len(piece), err)
		}
		break
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	seen := 0
	for _, err := range db.Overflow(ctx, "s", "u") {
		if seen++; seen == 1 {
			must(t, db, "s", false, "meanwhile")
			cancel(io.ErrClosedPipe)
		} else if !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("after the cancel: %v", err)
		}
	}
	if seen != 2 {
		t.Errorf("%d pieces", seen)
	}
	var last error
	for _, err := range db.Overflow(t.Context(), "s", "u") {
		if err := db.Delete(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
		last = err
	}
	if !errors.Is(last, ErrNoOverflow) {
		t.Errorf("removed while it is read: %v", last)
	}
}

func TestOverflowIsWholeOrMissing(t *testing.T) {
	long := strings.Repeat("x", 3*batchParts*partSize)
	for name, tt := range map[string]struct {
		meanwhile func(*testing.T, *DB, context.CancelCauseFunc) error // called when half of the text is written
		want      error
	}{
		"reader fails":    {func(*testing.T, *DB, context.CancelCauseFunc) error { return io.ErrNoProgress }, io.ErrNoProgress},
		"cancelled":       {func(_ *testing.T, _ *DB, cancel context.CancelCauseFunc) error { cancel(io.ErrClosedPipe); return nil }, io.ErrClosedPipe},
		"session deleted": {func(t *testing.T, db *DB, _ context.CancelCauseFunc) error { return db.Delete(t.Context(), "s") }, ErrNoOverflow},
		"written by another": {func(t *testing.T, db *DB, _ context.CancelCauseFunc) error {
			keep(t, db, "s", "u", "theirs")
			return nil
		}, ErrNoOverflow},
	} {
		t.Run(name, func(t *testing.T) {
			db, _ := openAt(t, newPath(t))
			must(t, db, "s", true, "x")
			ctx, cancel := context.WithCancelCause(t.Context())
			r := &hook{Reader: strings.NewReader(long), after: 2 * batchParts * partSize, do: func() error {
				if _, err := overflow(t, db, "s", "u"); !errors.Is(err, ErrNoOverflow) {
					t.Errorf("half of it is there: %v", err)
				}
				return tt.meanwhile(t, db, cancel)
			}}
			if err := db.PutOverflow(ctx, "s", "u", r); !errors.Is(err, tt.want) {
				t.Errorf("%v, want %v", err, tt.want)
			}
			want := 0
			if name == "written by another" {
				want = 1
			}
			checkKept(t, db, want, want)
		})
	}
}

// hook calls do once this many bytes have been read.
type hook struct {
	io.Reader
	after int
	do    func() error
	err   error
}

func (h *hook) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	if h.after -= n; h.after <= 0 && h.do != nil {
		do := h.do
		h.do = nil
		h.err = do()
	}
	return n, cmp.Or(h.err, err)
}

func TestOverflowDamaged(t *testing.T) {
	path := newPath(t)
	db, _ := openAt(t, path)
	must(t, db, "s", true, "x")
	keep(t, db, "s", "u", strings.Repeat("x", 2*partSize))
	run(t, raw(t, path), "UPDATE tool_overflow_parts SET data = x'00' WHERE part = 1")
	_, err := overflow(t, db, "s", "u")
	if u, ok := errors.AsType[*UnusableError](err); !ok || !strings.Contains(u.Problem, "damaged") {
		t.Errorf("%v", err)
	}
	must(t, db, "s", false, "the rest goes on")
}

func TestRetention(t *testing.T) {
	path := newPath(t)
	c := &clock{now: start}
	db := New(path, Options{Now: c.Now, Retention: 7 * 24 * time.Hour})
	db.sweepDelay = 0
	defer db.Close()
	must(t, db, "s", true, "x")
	keep(t, db, "s", "old", strings.Repeat("x", 5*batchParts*partSize))
	keep(t, db, "s", "seen again", "x")
	run(t, raw(t, path), "INSERT INTO tool_overflow (session, id, created, parts) VALUES (1, 'half', "+fmt.Sprint(start.UnixMicro())+", 0)")
	c.pass(2 * 24 * time.Hour)
	keep(t, db, "s", "seen again", "x")
	keep(t, db, "s", "new", "x")
	db.sweeping.Wait()
	c.pass(5*24*time.Hour + time.Hour)
	if _, err := overflow(t, db, "s", "old"); !errors.Is(err, ErrNoOverflow) {
		t.Errorf("an expired text that is not removed yet can be read: %v", err)
	}
	must(t, db, "s", false, "sweeps")
	db.sweeping.Wait()
	checkKept(t, db, 2, 2)
	for id, want := range map[string]error{"old": ErrNoOverflow, "half": ErrNoOverflow, "seen again": nil, "new": nil} {
		if _, err := overflow(t, db, "s", id); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", id, err, want)
		}
	}
	c.pass(30 * 24 * time.Hour)
	db.sweepDelay = time.Hour
	must(t, db, "s", false, "begins to sweep") // Close does not wait for the sweep
	forever, _ := openAt(t, path)
	must(t, forever, "s", false, "a day later, without retention")
	checkKept(t, forever, 2, 2)
}

// TestRetentionOfShortProcesses checks that a process which ends before its sweep begins removes
// what has expired.
func TestRetentionOfShortProcesses(t *testing.T) {
	path := newPath(t)
	c := &clock{now: start}
	for range 2 {
		db := New(path, Options{Now: c.Now, Retention: 24 * time.Hour})
		db.sweepDelay = time.Hour
		if c.now == start {
			must(t, db, "s", true, "x")
			keep(t, db, "s", "old", "x")
		} else {
			must(t, db, "s", false, "x")
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		c.pass(48 * time.Hour)
	}
	db, _ := openAt(t, path)
	checkKept(t, db, 0, 0)
}

// An agent that is only started removes what has expired.
func TestRetentionAtStart(t *testing.T) {
	path := newPath(t)
	c := &clock{now: start}
	o := Options{Now: c.Now, Retention: 24 * time.Hour}
	first := New(path, o)
	must(t, first, "s", true, "x")
	keep(t, first, "s", "old", "x")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	c.pass(48 * time.Hour)
	db := New(path, o)
	defer db.Close()
	db.sweepDelay = 0
	if err := db.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	db.sweeping.Wait()
	checkKept(t, db, 0, 0)
}

// TestExpiredAgain checks that a text which has expired is stored again.
func TestExpiredAgain(t *testing.T) {
	c := &clock{now: start}
	db := New(newPath(t), Options{Now: c.Now, Retention: 24 * time.Hour})
	db.sweepDelay = time.Hour
	defer db.Close()
	must(t, db, "s", true, "x")
	keep(t, db, "s", "a", "text")
	c.pass(48 * time.Hour)
	keep(t, db, "s", "a", "text")
	if got, err := overflow(t, db, "s", "a"); got != "text" || err != nil {
		t.Errorf("got %q, %v, want the text", got, err)
	}
}

func TestCopyOverflow(t *testing.T) {
	db, _ := openAt(t, newPath(t))
	must(t, db, "s", true, "x")
	must(t, db, "copy", true, "x")
	text := strings.Repeat("0123456789abcdef", 9*partSize/16)
	keep(t, db, "s", "a", text)
	for range 2 {
		if err := db.CopyOverflow(t.Context(), "s", "copy", "a"); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := overflow(t, db, "copy", "a"); got != text || err != nil {
		t.Errorf("the copy has %d bytes, %v, want %d", len(got), err, len(text))
	}
	if err := db.CopyOverflow(t.Context(), "s", "copy", "b"); !errors.Is(err, ErrNoOverflow) {
		t.Errorf("copying an unknown text: %v, want %v", err, ErrNoOverflow)
	}
}

// The data of an earlier version is readable after a migration.
func TestMigration(t *testing.T) {
	path := newPath(t)
	first, err := migrations.ReadFile("migrations/0001_sessions.sql")
	if err != nil {
		t.Fatal(err)
	}
	old := raw(t, path)
	run(t, old, fmt.Sprintf(`PRAGMA journal_mode=WAL; %s; PRAGMA application_id=%d; PRAGMA user_version=1;
		INSERT INTO sessions VALUES (1, 's', '/w', '[]', 'title', 1, 1, 1);
		INSERT INTO events VALUES (1, 1, 0, 1, 1, 'text', %d, CAST('"x"' AS BLOB));`, first, applicationID, crc32.ChecksumIEEE([]byte(`"x"`))))
	_ = old.Close()
	var group sync.WaitGroup
	for range 4 { // one of several processes migrates
		db := New(path, Options{})
		defer db.Close()
		group.Go(func() {
			if s, err := db.Session(t.Context(), "s"); err != nil || s.Title != "title" {
				t.Errorf("%+v, %v", s, err)
			}
		})
	}
	group.Wait()
	db, _ := openAt(t, path)
	keep(t, db, "s", "u", "y")
	if got, err := overflow(t, db, "s", "u"); got != "y" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	if got := texts(t, db, "s"); len(got) != 1 || got[0] != "x" {
		t.Errorf("the events are %q", got)
	}
}

// Two handles that store the same text concurrently, and other data, do not
// interfere.
func TestOverflowAtOnce(t *testing.T) {
	path := newPath(t)
	setUp, _ := openAt(t, path)
	must(t, setUp, "s", true, "x")
	var group sync.WaitGroup
	for n := range 2 {
		db := New(path, Options{})
		defer db.Close()
		group.Go(func() {
			for i := range 20 {
				keep(t, db, "s", fmt.Sprint(i), strings.Repeat("x", batchParts*partSize/2))
				keep(t, db, "s", fmt.Sprint(n, " of ", i), strings.Repeat("y", i*batchParts*partSize/8))
			}
		})
	}
	group.Wait()
	for i := range 20 {
		if got, err := overflow(t, setUp, "s", fmt.Sprint(i)); len(got) != batchParts*partSize/2 || err != nil {
			t.Errorf("%d: %d bytes, %v", i, len(got), err)
		}
	}
}

// After a process was killed while storing, the texts that were reported as
// stored are there, and an incomplete one can be stored again.
func TestKillOverflow(t *testing.T) {
	path := newPath(t)
	db, _ := openAt(t, path)
	for round := range 5 {
		id := fmt.Sprint("round ", round)
		cmd, lines := spawn(t, "overflow", path, id)
		seen := ""
		for range round + 1 {
			seen = <-lines
		}
		time.Sleep(time.Duration(round) * 5 * time.Millisecond) // at a random point in the next texts
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_, _ = cmd.Process.Wait()
		if got, err := overflow(t, db, id, seen); err != nil || !strings.HasPrefix(got, seen+" "+seen) {
			t.Errorf("%s: overflow %s: %.20q, %v", id, seen, got, err)
		}
		for i := range 1000 {
			_, err := overflow(t, db, id, fmt.Sprint(i))
			if err == nil {
				continue
			}
			keep(t, db, id, fmt.Sprint(i), "again")
			if got, err := overflow(t, db, id, fmt.Sprint(i)); got != "again" || err != nil {
				t.Errorf("%s: %.20q, %v", id, got, err)
			}
			break
		}
	}
}

func BenchmarkPutOverflow10MiB(b *testing.B) {
	path := filled(b, 1)
	db := New(path, Options{})
	defer db.Close()
	text := strings.Repeat("0123456789abcde\n", 10<<20/16)
	n := 0
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		n++
		if err := db.PutOverflow(b.Context(), "s", fmt.Sprint(n), strings.NewReader(text)); err != nil {
			b.Fatal(err)
		}
	}
	if info, err := os.Stat(path); err == nil {
		b.ReportMetric(float64(info.Size())/float64(n), "file-bytes/op")
	}
}

func BenchmarkOverflow10MiB(b *testing.B) {
	db := New(filled(b, 1), Options{})
	defer db.Close()
	text := strings.Repeat("0123456789abcde\n", 10<<20/16)
	if err := db.PutOverflow(b.Context(), "s", "u", strings.NewReader(text)); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		for _, err := range db.Overflow(b.Context(), "s", "u") {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
