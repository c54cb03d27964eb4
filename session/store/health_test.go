package store

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

func TestCheck(t *testing.T) {
	path := newPath(t)
	if _, err := Check(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Error("Check created a file")
	}
	db := New(path, Options{})
	if _, err := db.Append(t.Context(), Batch{Session: Session{ID: "s", CWD: "/w"}, Create: true, Events: []Event{event("hi")}}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	h, err := Check(path)
	if err != nil || h.Sessions != 1 || h.Outdated || h.Bytes < 4096 {
		t.Errorf("Check: %+v, %v", h, err)
	}
	files, err := filepath.Glob(path + "*")
	if err != nil || len(files) != 1 {
		t.Errorf("Check left %q, %v", files, err)
	}

	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copy(data[4096:], "damage in the page after the header, which opening the file does not read")
	for name, content := range map[string][]byte{"damaged": data, "foreign": []byte("no database\n")} {
		bad := filepath.Join(t.TempDir(), "bad.db")
		if err := os.WriteFile(bad, content, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := Check(bad)
		if u, ok := errors.AsType[*UnusableError](err); !ok || u.Advice == "" || !u.damaged() {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Check(filepath.Dir(path)); err == nil {
		t.Error("a directory passed")
	}
}

// Another DB of the same machine may have the file open; its commits that are only in the
// write-ahead log count.
func TestCheckInUse(t *testing.T) {
	db, _ := openAt(t, newPath(t))
	if _, err := db.Append(t.Context(), Batch{Session: Session{ID: "s", CWD: "/w"}, Create: true, Events: []Event{event("hi")}}); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "zeph.db") // this process must not open the file itself
	for _, end := range []string{"", "-wal"} {
		data, err := os.ReadFile(db.path + end)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(copied+end, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if h, err := Check(copied); err != nil || h.Sessions != 1 {
		t.Errorf("Check: %+v, %v", h, err)
	}
}
