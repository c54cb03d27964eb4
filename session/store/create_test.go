package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write empty.db.runs")

// Places in the header of a database, for the versions of the format that writers
// and readers need: https://www.sqlite.org/fileformat2.html#file_format_version_numbers
const (
	writeVersion = 18
	readVersion  = 19
	formatWAL    = 2
)

// migratedImage returns the content of a database that all migrations were run on.
func migratedImage(t *testing.T) (image []byte, schema []string) {
	t.Helper()
	h, err := dial(":memory:")
	if err != nil {
		t.Fatal(err)
	}
	defer h.close()
	if err := h.migrate(); err != nil {
		t.Fatal(err)
	}
	err = h.conn.Raw(func(conn any) (err error) {
		image, err = conn.(interface{ Serialize() ([]byte, error) }).Serialize()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	image[writeVersion], image[readVersion] = formatWAL, formatWAL
	return image, schemaOf(t, h)
}

// schemaOf returns the marks and the schema of a database.
func schemaOf(t *testing.T, h *handle) (rows []string) {
	t.Helper()
	var row string
	for _, query := range []string{
		"SELECT printf('%d %d', user_version, application_id) FROM pragma_user_version, pragma_application_id",
		"SELECT concat_ws(' ', type, name, rootpage, sql) FROM sqlite_schema",
	} {
		err := h.each(t.Context(), func() error { rows = append(rows, row); return nil }, []any{&row}, query)
		if err != nil {
			t.Fatal(err)
		}
	}
	return rows
}

// runs returns an image as empty.db.runs has it. A run ends before sixteen zeros.
func runs(image []byte) (out []byte) {
	for len(image) > 0 {
		rest := bytes.TrimLeft(image, "\x00")
		out = binary.AppendUvarint(out, uint64(len(image)-len(rest)))
		size := bytes.Index(rest, make([]byte, 16))
		if size < 0 {
			size = len(rest)
		}
		out = binary.AppendUvarint(out, uint64(size))
		out = append(out, rest[:size]...)
		image = rest[size:]
	}
	return out
}

// empty.db.runs has the schema of the migrations, without a row of a session.
func TestEmpty(t *testing.T) {
	image, want := migratedImage(t)
	if *update {
		emptyRuns = string(runs(image))
		if err := os.WriteFile("empty.db.runs", []byte(emptyRuns), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	written := newPath(t)
	if err := publish(written); err != nil {
		t.Fatal(err)
	}
	before, err := connect(written, "mode=ro&immutable=1")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := before.version(); err != nil || v != knownVersion() {
		t.Errorf("empty.db.runs has the schema version %d, want %d: go test ./session/store -run TestEmpty -update (%v)", v, knownVersion(), err)
	}
	if err := before.close(); err != nil {
		t.Fatal(err)
	}
	db, _ := openAt(t, newPath(t))
	if page, _, err := db.List(t.Context(), Query{}); err != nil || len(page) > 0 {
		t.Errorf("%v, %v", page, err)
	}
	if diff := cmp.Diff(want, schemaOf(t, db.h)); diff != "" {
		t.Errorf("the schema differs from the migrations' result (-want +got)\n%s", diff)
	}
	for query, want := range map[string]string{
		"PRAGMA journal_mode": "wal", "PRAGMA synchronous": "1", "PRAGMA integrity_check": "ok",
		"SELECT count(*) FROM events": "0", "PRAGMA freelist_count": "0",
	} {
		var got string
		if err := db.h.one([]any{&got}, query); err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", query, got, err, want)
		}
	}
}

// A file system without hard links leaves an empty file, as does a process that was
// killed in an earlier version. A WAL without its database is never applied to a new
// one.
func TestCreateFromLeftovers(t *testing.T) {
	for name, prepare := range map[string]func(path string) error{
		"empty file": func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"empty file and WAL": func(path string) error {
			return errors.Join(os.WriteFile(path, nil, 0o600), os.WriteFile(path+"-wal", nil, 0o600))
		},
		"WAL of a removed database": func(path string) error {
			return os.Rename(killed(t)+"-wal", path+"-wal")
		},
		"journal of a removed database": func(path string) error {
			db := raw(t, path)
			run(t, db, "PRAGMA synchronous=OFF; CREATE TABLE notes (text); BEGIN; INSERT INTO notes VALUES ('x')")
			rest, err := os.ReadFile(path + "-journal")
			return errors.Join(err, db.Close(), os.Remove(path), os.WriteFile(path+"-journal", rest, 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := newPath(t)
			if err := prepare(path); err != nil {
				t.Fatal(err)
			}
			db, _ := openAt(t, path)
			must(t, db, "new", true, "x")
			page, _, err := db.List(t.Context(), Query{})
			if err != nil || len(page) != 1 {
				t.Errorf("%v, %v", page, err)
			}
			if err := db.Close(); err != nil {
				t.Error(err)
			}
			if got := slices.Collect(maps.Keys(contents(t, filepath.Dir(path)))); len(got) != 1 {
				t.Errorf("files %q", got)
			}
		})
	}
}

// Processes that are killed while they create the database leave it whole or not at
// all, and at most their own new file.
func TestKillCreate(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	left := 0
	for round := range 20 {
		path := newPath(t)
		var group []*exec.Cmd
		for i := range 2 {
			cmd, _ := spawn(t, "append", path, fmt.Sprint(i), "100000")
			group = append(group, cmd)
		}
		time.Sleep(time.Duration(random.IntN(15_000)) * time.Microsecond) // at a random point of their start
		for _, cmd := range group {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
		}
		db, _ := openAt(t, path)
		must(t, db, "mine", true, "x")
		if loss := db.Loss(); strings.Contains(loss, "damaged") {
			t.Errorf("round %d: %s", round, loss)
		}
		var verdict string
		if err := db.h.one([]any{&verdict}, "PRAGMA integrity_check"); err != nil || verdict != "ok" {
			t.Errorf("round %d: integrity: %s, %v", round, verdict, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		for name := range contents(t, filepath.Dir(path)) {
			if strings.HasPrefix(name, "zeph.db.new-") {
				left++
			} else if name != "zeph.db" {
				t.Errorf("round %d: file %s", round, name)
			}
		}
	}
	t.Logf("%d new files left", left)
}

// TestStaleNewFiles checks that a new database removes the files of killed processes, and that a
// process whose file is removed meanwhile creates the database all the same.
func TestStaleNewFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "zeph.db")
	old, fresh := path+newSuffix+"1", path+newSuffix+"2"
	for _, name := range []string{old, fresh, filepath.Join(dir, "other.new-1")} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(path+newSuffix+"3", 0o700); err != nil {
		t.Fatal(err)
	}
	before := time.Now().Add(-2 * staleAge)
	for _, name := range []string{old, filepath.Join(dir, "other.new-1"), path + newSuffix + "3"} {
		if err := os.Chtimes(name, before, before); err != nil {
			t.Fatal(err)
		}
	}
	if _, created, err := createFile(path); err != nil || !created {
		t.Fatalf("created %v, %v", created, err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	for i := range names {
		names[i] = filepath.Base(names[i])
	}
	if diff := cmp.Diff([]string{"other.new-1", "zeph.db", "zeph.db.new-2", "zeph.db.new-3"}, names); err != nil || diff != "" {
		t.Errorf("%v: the directory has (-want +got)\n%s", err, diff)
	}
}

// TestStaleOfSlowProcess removes the file of a process that is about to publish it.
func TestStaleOfSlowProcess(t *testing.T) {
	for range 20 {
		dir := t.TempDir()
		path := filepath.Join(dir, "zeph.db")
		stop := make(chan struct{})
		var removing sync.WaitGroup
		removing.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				names, _ := filepath.Glob(path + newSuffix + "*")
				for _, name := range names {
					os.Remove(name)
				}
			}
		})
		db := New(path, Options{})
		err := db.Open(t.Context())
		close(stop)
		removing.Wait()
		if err != nil {
			t.Fatal(err)
		}
		db.Close()
	}
}
