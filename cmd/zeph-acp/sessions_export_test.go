package main

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/zeph-acp/zeph-acp/session"
)

func document(doc session.Export) func(io.Writer) error {
	return func(w io.Writer) error { return writeExport(w, doc) }
}

// Only the user can read an exported session, even in a file that was readable
// for all. An export replaces no content.
func TestExportIsPrivate(t *testing.T) {
	file := filepath.Join(t.TempDir(), "session.json")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := exportTo(file, document(session.Export{})); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != fs.FileMode(0o600) && runtime.GOOS != "windows" {
		t.Error(got)
	}
	if _, err := readExport(file); err != nil {
		t.Error(err)
	}
	if err := exportTo(file, document(session.Export{Title: "another"})); err == nil {
		t.Error("overwritten")
	}
	if doc, err := readExport(file); err != nil || doc.Title != "" {
		t.Errorf("%+v, %v", doc, err)
	}
}
