package undo

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

var defaults = setting.Default[Limits]()

// All stores name a content alike, whatever its size, and return it as it was put.
func TestStores(t *testing.T) {
	spool := NewSpoolStore()
	defer spool.Close()
	for _, size := range []int{0, 1, chunkSize - 1, chunkSize, chunkSize + 1, 3 << 20, 1} {
		data := bytes.Repeat([]byte("x"), size)
		for name, store := range map[string]Store{"compared": Compared{}, "directory": DirStore{t.TempDir()}, "spool": spool} {
			hash, n, err := store.Put(bytes.NewReader(data))
			if hash != Hash(data) || n != int64(size) || err != nil {
				t.Fatalf("%s, %d bytes: Put returned %s, %d, %v; want %s", name, size, hash, n, err, Hash(data))
			}
			content, err := store.Open(hash)
			if name == "compared" {
				if err == nil {
					t.Errorf("a store that keeps nothing opened %d bytes", size)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s, %d bytes: %v", name, size, err)
			}
			if got, err := io.ReadAll(content); err != nil || !bytes.Equal(got, data) {
				t.Errorf("%s returned %d bytes, %v; want %d", name, len(got), err, size)
			}
		}
	}
	if used := spool.size; used > 4<<20 {
		t.Errorf("the spool has %d bytes: it keeps a small content twice", used)
	}
}

// A damaged or removed content is an error, and never returned.
func TestDamagedContent(t *testing.T) {
	store := DirStore{t.TempDir()}
	hash, _, err := store.Put(strings.NewReader("content"))
	if err != nil {
		t.Fatal(err)
	}
	check := func(hash, want string) {
		t.Helper()
		if _, err := Read(store, hash); err == nil || err.Error() != want {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	if err := os.WriteFile(store.name(hash), []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	check(hash, "its kept content is damaged")
	if err := os.Remove(store.name(hash)); err != nil {
		t.Fatal(err)
	}
	check(hash, "its content is no longer kept")
	check("", "its content was not kept")
}

// A file that cannot be read is not a file that cannot be kept: only the latter can be compared.
func TestKeep(t *testing.T) {
	broken := errors.New("broken")
	if _, err := Keep(Compared{}, State{}, iotest.ErrReader(broken)); err != broken {
		t.Errorf("an unreadable content: %v", err)
	}
	full := filepath.Join(t.TempDir(), "full")
	if err := os.WriteFile(full, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	state, err := Keep(DirStore{full}, State{Mode: NewFile}, strings.NewReader("x"))
	if err != nil || state.Hash != Hash([]byte("x")) || !strings.HasPrefix(state.Unrestorable(), "its content could not be kept: ") {
		t.Errorf("no room: %+v, %v", state, err)
	}
}

// testRoots returns the roots of a new directory with files, by their names.
func testRoots(t *testing.T, files map[string]string) *workspace.Roots {
	t.Helper()
	roots, err := workspace.New(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		path := filepath.Join(roots.Cwd(), name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return roots
}

// A survey over a limit names the key of the limit. What it does not cover does not count.
func TestSurveyLimits(t *testing.T) {
	roots := testRoots(t, map[string]string{"a": "1234", "b": "1234", "d/c": "1234"})
	for name, tt := range map[string]struct {
		limits Limits
		covers func(string, bool) bool
		want   string
	}{
		"within":       {Limits{5, 12, 4}, nil, ""},
		"files":        {Limits{4, 12, 4}, nil, "there are more than 4 files (tools.undo.max_files)"},
		"bytes":        {Limits{5, 11, 4}, nil, "the files have more than 11 bytes (tools.undo.max_bytes)"},
		"covers fewer": {Limits{1, 4, 4}, func(path string, _ bool) bool { return filepath.Base(path) == "c" }, ""},
	} {
		s := Survey{Roots: roots, Limits: tt.limits, Store: Compared{}, Covers: tt.covers}
		if _, err := s.Run(t.Context(), roots.Dirs(), nil); (err == nil) != (tt.want == "") || err != nil && err.Error() != tt.want {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
	s := Survey{Roots: roots, Limits: Limits{5, 12, 3}, Store: Compared{}}
	found, err := s.Run(t.Context(), roots.Dirs(), nil)
	if why := found[filepath.Join(roots.Cwd(), "a")].NotKept; err != nil || why != "it is larger than 3 bytes (tools.undo.max_file_bytes)" {
		t.Errorf("a large file: %q, %v", why, err)
	}
}

// The mode of a directory comes back even if it has to be writable for its entries.
func TestRestoreModeOfDirectory(t *testing.T) {
	roots := testRoots(t, map[string]string{"d/a": "a"})
	store := DirStore{t.TempDir()}
	s := Survey{Roots: roots, Limits: defaults, Store: store}
	before, err := s.Run(t.Context(), roots.Dirs(), nil)
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(roots.Cwd(), "d")
	if err := errors.Join(os.Remove(filepath.Join(dir, "a")), os.Chmod(dir, 0o555)); err != nil {
		t.Fatal(err)
	}
	after, err := s.Run(t.Context(), roots.Dirs(), before)
	if err != nil {
		t.Fatal(err)
	}
	changed := before.Changes(after)
	if want := []string{dir, filepath.Join(dir, "a")}; !slices.Equal(changed, want) {
		t.Fatalf("changed are %q, want %q", changed, want)
	}
	var steps []Step
	for _, path := range changed {
		steps = append(steps, Step{path, after[path].State, before[path].State})
	}
	r := Restorer{Roots: roots, Store: store, ID: "x"}
	if failed := r.Restore(context.Background(), steps); len(failed) > 0 {
		t.Error(failed)
	}
	after, err = s.Run(t.Context(), roots.Dirs(), before)
	if changed := before.Changes(after); err != nil || len(changed) > 0 {
		t.Errorf("after the restoration %q differ, %v", changed, err)
	}
}
