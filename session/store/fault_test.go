package store

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// raw returns a plain SQLite connection to the file.
func raw(t *testing.T, path string) *sql.DB {
	t.Helper()
	dsn := url.URL{Scheme: "file", Path: path}
	db, err := sql.Open("sqlite", dsn.String())
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func run(t *testing.T, db *sql.DB, script string) {
	t.Helper()
	if _, err := db.Exec(script); err != nil {
		t.Fatal(err)
	}
}

// makeClosed returns the path of a closed database with a session "s" of some hundred
// events.
func makeClosed(t *testing.T) string {
	t.Helper()
	path := newPath(t)
	db := New(path, Options{Now: func() time.Time { return start }})
	var all []string
	for i := range 300 {
		all = append(all, strings.Repeat(fmt.Sprint(i, " "), 50))
	}
	must(t, db, "s", true, all...)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// contents returns the contents of all files in a directory.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		files[d.Name()] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// callAll calls every method of a DB and returns their errors.
func callAll(t *testing.T, db *DB) map[string]error {
	ctx := t.Context()
	_, appended := db.Append(ctx, Batch{Session: Session{ID: "s"}, Events: []Event{event("x")}})
	_, session := db.Session(ctx, "s")
	_, events := db.Events(ctx, "s", 0)
	_, _, list := db.List(ctx, Query{})
	_, acquired := db.Acquire(ctx, "s", "me")
	put := db.PutOverflow(ctx, "s", "u", strings.NewReader("x"))
	var overflow error
	for _, overflow = range db.Overflow(ctx, "s", "u") {
	}
	return map[string]error{"PutOverflow": put, "Overflow": overflow, "Append": appended, "Session": session, "Events": events, "List": list, "Acquire": acquired,
		"Delete": db.Delete(ctx, "s"), "Heartbeat": db.Heartbeat(ctx, "s", "me"), "Release": db.Release(ctx, "s", "me")}
}

func TestUnusableFileStaysAsItIs(t *testing.T) {
	write := func(data string) func(*testing.T) string {
		return func(t *testing.T) string {
			path := newPath(t)
			if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}
	}
	changed := func(change func([]byte) []byte) func(*testing.T) string {
		return func(t *testing.T) string {
			path := makeClosed(t)
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, change(data), 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}
	}
	script := func(text string) func(*testing.T) string {
		return func(t *testing.T) string {
			path := newPath(t)
			other := raw(t, path)
			run(t, other, text)
			_ = other.Close()
			return path
		}
	}
	for name, tt := range map[string]struct {
		make func(*testing.T) string
		want []string // part of the message
	}{
		"newer": {changed(func(b []byte) []byte { b[63] = 99; return b }),
			[]string{"newer zeph-acp", fmt.Sprint("schema version 99, this program supports ", knownVersion()), "install", "ZEPH_HOME"}},
		"newer, all in the WAL": {func(t *testing.T) string {
			from := makeClosed(t)
			run(t, raw(t, from), "PRAGMA user_version=7")
			path := newPath(t) // as a killed process left it
			for _, suffix := range []string{"", "-wal", "-shm"} {
				data, err := os.ReadFile(from + suffix)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path+suffix, data, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			return path
		}, []string{"newer", "version 7"}},
		"newer, of no application": {script("PRAGMA journal_mode=WAL; PRAGMA user_version=7"), []string{"newer", "version 7"}},
		"of another program":       {script("CREATE TABLE notes (text)"), []string{"another program", "ZEPH_HOME"}},
		"marked by another":        {script("PRAGMA application_id=1; PRAGMA user_version=1"), []string{"another program"}},
		"text":                     {write("hello\n"), []string{"damaged", "move the file away"}},
		"long text":                {write(strings.Repeat("hello ", 5000)), []string{"damaged"}},
		"zeros":                    {write(strings.Repeat("\x00", 8192)), []string{"damaged"}},
		"header alone":             {changed(func(b []byte) []byte { return b[:100] }), []string{"damaged"}},
		"truncated":                {changed(func(b []byte) []byte { return b[:len(b)/2] }), []string{"damaged"}},
		"header overwritten":       {changed(func(b []byte) []byte { copy(b, bytes.Repeat([]byte("\xa5"), 100)); return b }), []string{"damaged"}},
		"first page overwritten":   {changed(func(b []byte) []byte { copy(b[100:], bytes.Repeat([]byte("\xa5"), 3000)); return b }), []string{"damaged"}},
	} {
		t.Run(name, func(t *testing.T) {
			path := tt.make(t)
			before := contents(t, filepath.Dir(path))
			db, c := openAt(t, path)
			for range 2 {
				for what, err := range callAll(t, db) {
					u, ok := errors.AsType[*UnusableError](err)
					if !ok || u.Path != path {
						t.Errorf("%s: %v", what, err)
						continue
					}
					for _, want := range append(tt.want, path) {
						if !strings.Contains(err.Error(), want) {
							t.Errorf("%s: %v: want %q", what, err, want)
						}
					}
					if _, ok := errors.AsType[*NewerError](err); ok != strings.HasPrefix(name, "newer") {
						t.Errorf("%s: %v: is a NewerError: %v", what, err, ok)
					}
				}
				c.pass(time.Minute)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
			after := contents(t, filepath.Dir(path))
			delete(after, "zeph.db-shm") // an index of the WAL, which readers share
			delete(before, "zeph.db-shm")
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("the directory has changed (-before +after)\n%s", diff)
			}
		})
	}
}

// Wherever the damage is, events are read unchanged, or there is an error.
func TestDamageInTheMiddle(t *testing.T) {
	path := makeClosed(t)
	db, _ := openAt(t, path)
	want := texts(t, db, "s")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for at := 0; at+64 <= len(sound); at += 1000 {
		data := bytes.Clone(sound)
		copy(data[at:], bytes.Repeat([]byte("\xa5\x5a"), 32))
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		db := New(path, Options{})
		events, err := db.Events(t.Context(), "s", 0)
		if err == nil {
			for i, e := range events {
				if e.Damaged {
					found++
				} else if got := fmt.Sprintf("%q", want[i]); string(e.Data) != got {
					t.Errorf("damage at %d: event %d is %.100q, no error", at, i, e.Data)
				}
			}
			if len(events) != len(want) {
				t.Errorf("damage at %d: %d events, no error", at, len(events))
			}
		} else {
			found++
			if !strings.Contains(err.Error(), "damaged") && !errors.Is(err, ErrUnknown) && !strings.Contains(err.Error(), "newer") && !strings.Contains(err.Error(),
				"another program") {
				t.Errorf("damage at %d: %v", at, err)
			}
		}
		_ = db.Close()
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, data) {
			t.Errorf("damage at %d: the file was changed, %v", at, err)
		}
	}
	if found == 0 {
		t.Error("no damage was ever noticed")
	}
}

// After SQLite has found damage, nothing is written until the whole file is
// sound.
func TestDamageStopsWriting(t *testing.T) {
	path := makeClosed(t)
	db, c := openAt(t, path)
	texts(t, db, "s")
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var root int
	if err := db.h.one([]any{&root}, "SELECT rootpage FROM sqlite_schema WHERE name = 'events'"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	broken := bytes.Clone(sound)
	copy(broken[(root-1)*4096:], "no page of a tree")
	overwrite := func(data []byte) {
		t.Helper()
		f, err := os.OpenFile(path, os.O_WRONLY, 0) // keeps the same file in place
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.Write(data); err != nil {
			t.Fatal(err)
		}
	}
	overwrite(broken)
	db = New(path, Options{Now: c.Now})
	defer db.Close()
	if _, err := db.Session(t.Context(), "s"); err != nil {
		t.Fatalf("what is not damaged: %v", err)
	}
	if _, err := db.Events(t.Context(), "s", 0); err == nil {
		t.Fatal("Events of a damaged session: got no error")
	}
	for range 3 {
		for what, err := range callAll(t, db) {
			if u, ok := errors.AsType[*UnusableError](err); !ok || !u.damaged() {
				t.Errorf("%s: %v", what, err)
			}
		}
		c.pass(retryAfter)
	}
	if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, broken) {
		t.Errorf("the file was changed, %v", err)
	}
	overwrite(sound)
	c.pass(retryAfter)
	must(t, db, "s", false, "goes on")
}

func TestLocked(t *testing.T) {
	path := makeClosed(t)
	db, c := openAt(t, path)
	must(t, db, "s", false, "before")
	other := raw(t, path)
	run(t, other, "BEGIN IMMEDIATE")
	_, err := db.Append(t.Context(), Batch{Session: Session{ID: "s"}, Events: []Event{event("x")}})
	if u, ok := errors.AsType[*UnusableError](err); !ok || !strings.Contains(err.Error(), "locked by another program; find it with") {
		t.Fatalf("%v, %+v", err, u)
	}
	if got := texts(t, db, "s"); len(got) != 301 {
		t.Errorf("reading while locked: %d events", len(got))
	}
	for range 3 {
		start := time.Now()
		if again := db.Release(t.Context(), "s", "me"); again == nil || again.Error() != err.Error() {
			t.Errorf("right after: %v, want what was found", again)
		}
		if waited := time.Since(start); waited > busyTimeout/2 {
			t.Errorf("right after, waited %v for the lock again", waited)
		}
	}
	run(t, other, "ROLLBACK")
	must(t, db, "s", false, "right after the lock")
	c.pass(retryAfter)
	must(t, db, "s", false, "later")
	if got := texts(t, db, "s"); len(got) != 303 {
		t.Errorf("%d events", len(got))
	}
	run(t, other, "BEGIN IMMEDIATE")
	start := time.Now()
	if err := db.Release(t.Context(), "s", "me"); err == nil || time.Since(start) < busyTimeout/2 {
		t.Errorf("a new lock: %v after %v, want a wait for it", err, time.Since(start))
	}
}

func TestLockedAtOpen(t *testing.T) {
	path := makeClosed(t)
	other := raw(t, path)
	run(t, other, "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=DELETE; BEGIN EXCLUSIVE")
	db, c := openAt(t, path)
	_, _, err := db.List(t.Context(), Query{})
	if err == nil || !strings.Contains(err.Error(), "locked by another program") {
		t.Fatal(err)
	}
	run(t, other, "ROLLBACK")
	_ = other.Close()
	if _, _, again := db.List(t.Context(), Query{}); again == nil || again.Error() != err.Error() {
		t.Errorf("right after: %v", again)
	}
	c.pass(retryAfter)
	if got := texts(t, db, "s"); len(got) != 300 {
		t.Errorf("%d events", len(got))
	}
}

// Another process may migrate the schema while this one runs.
func TestNewerWhileOpen(t *testing.T) {
	path := makeClosed(t)
	db, _ := openAt(t, path)
	must(t, db, "s", false, "x")
	run(t, raw(t, path), "PRAGMA user_version=7")
	for range 2 {
		_, err := db.Append(t.Context(), Batch{Session: Session{ID: "s"}, Events: []Event{event("y")}})
		if newer, ok := errors.AsType[*NewerError](err); !ok || newer.Version != 7 {
			t.Errorf("%v", err)
		}
	}
}

func TestDiskFull(t *testing.T) {
	db, _ := openAt(t, newPath(t))
	must(t, db, "s", true, "x")
	var unused any
	if err := db.h.one([]any{&unused}, "PRAGMA max_page_count=1"); err != nil { // the present size
		t.Fatal(err)
	}
	big := []Event{event("y"), {Data: make([]byte, 1<<20)}}
	_, err := db.Append(t.Context(), Batch{Session: Session{ID: "s"}, Events: big})
	if _, ok := errors.AsType[*UnusableError](err); !ok || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("%v", err)
	}
	if got := texts(t, db, "s"); len(got) != 1 {
		t.Errorf("half of an append is there: %v", got)
	}
	if err := db.h.one([]any{&unused}, "PRAGMA max_page_count=100000"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Append(t.Context(), Batch{Session: Session{ID: "s"}, Events: big}); err != nil {
		t.Errorf("with space again: %v", err)
	}
}

func TestPathIsNoFile(t *testing.T) {
	dir := t.TempDir()
	for _, sub := range []string{"d", "d/zeph.db"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "f"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"d/zeph.db": "is not a file", "f/zeph.db": "cannot be used", "f/sub/zeph.db": "cannot be used"} {
		if runtime.GOOS == "windows" && path != "d/zeph.db" {
			continue // Windows reports "not found" for a path through a file
		}
		db, _ := openAt(t, filepath.Join(dir, path))
		for what, err := range callAll(t, db) {
			if _, ok := errors.AsType[*UnusableError](err); !ok || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
}

func TestReadOnly(t *testing.T) {
	for name, tt := range map[string]struct {
		file, dir fs.FileMode
		crashed   bool // -wal and -shm exist
		read      bool
	}{
		"file":                  {0o444, 0o777, false, true},
		"directory":             {0o666, 0o555, false, true},
		"both":                  {0o444, 0o555, false, true},
		"both, after a crash":   {0o444, 0o555, true, true},
		"no access to the file": {0o000, 0o555, false, false},
		"no access at all":      {0o666, 0o000, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			from := makeClosed(t)
			if tt.crashed {
				keeper := New(from, Options{})
				defer keeper.Close()
				must(t, keeper, "late", true, "only in the WAL")
			}
			dir := t.TempDir()
			path := filepath.Join(dir, "zeph.db")
			chmod := func(file, directory fs.FileMode) {
				t.Helper()
				for _, suffix := range []string{"", "-wal", "-shm"} {
					if err := os.Chmod(path+suffix, file); err != nil && !errors.Is(err, fs.ErrNotExist) {
						t.Fatal(err)
					}
				}
				if err := os.Chmod(dir, directory); err != nil {
					t.Fatal(err)
				}
			}
			for file, data := range contents(t, filepath.Dir(from)) {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(data), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			chmod(tt.file, tt.dir)
			defer chmod(0o666, 0o777)
			c := &clock{now: start}
			db := New(path, Options{Now: c.Now})
			defer db.Close()
			unprivileged(t, dir, func() {
				for range 2 {
					errs := callAll(t, db)
					for _, what := range []string{"Append", "PutOverflow", "Acquire", "Delete", "Heartbeat", "Release"} {
						_, ok := errors.AsType[*UnusableError](errs[what])
						if !ok || !strings.Contains(errs[what].Error(), "make the file and its directory") {
							t.Errorf("%s: %v", what, errs[what])
						}
					}
					for _, what := range []string{"Session", "Events", "List"} {
						if (errs[what] == nil) != tt.read {
							t.Errorf("%s: %v", what, errs[what])
						}
					}
					if tt.crashed {
						if _, err := db.Session(t.Context(), "late"); err != nil {
							t.Errorf("what is only in the WAL: %v", err)
						}
					}
					c.pass(retryAfter)
				}
			})
			chmod(0o666, 0o777)
			unprivileged(t, dir, func() {
				if _, err := db.Append(t.Context(), Batch{Session: Session{ID: "s"}, Events: []Event{event("x")}}); err != nil {
					t.Errorf("writable again: %v", err)
				}
			})
		})
	}
}

func TestNoPermissionToCreate(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"zeph.db", "sub/zeph.db"} {
		db, _ := openAt(t, filepath.Join(dir, path))
		unprivileged(t, dir, func() {
			for what, err := range callAll(t, db) {
				if _, ok := errors.AsType[*UnusableError](err); !ok || !strings.Contains(err.Error(), "make the file and its directory writable") {
					t.Errorf("%s: %v", what, err)
				}
			}
		})
	}
}

// TestDamagedIndexEntry makes the index name the row of another event: the log is refused, since
// every row has its checksum.
func TestDamagedIndexEntry(t *testing.T) {
	path := newPath(t)
	db, _ := openAt(t, path)
	var all []string
	for i := range 20 {
		all = append(all, fmt.Sprintf("event %d", i))
	}
	must(t, db, "s", true, all...)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// A record of the index: its length, the length of its header, the types of its columns (1 and 0 have
	// types without data), then the number of the event and of its row.
	entry := []byte{7, 5, 9, 1, 8, 1, 11, 11}
	at := bytes.Index(data, entry)
	if at < 0 || bytes.Count(data, entry) != 1 {
		t.Fatalf("got the entry of event 11 %d times in the file, want once", bytes.Count(data, entry))
	}
	data[at+len(entry)-1] = 12
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	db, _ = openAt(t, path)
	if events, err := db.Events(t.Context(), "s", 0); !errors.Is(err, errAltered) {
		t.Errorf("got %d events and %v, want %v", len(events), err, errAltered)
	}
}
