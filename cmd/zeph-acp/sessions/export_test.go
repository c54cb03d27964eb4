package sessions

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/session"
)

func document(doc session.Export) func(io.Writer) error {
	return func(w io.Writer) error { return cli.WriteExport(w, doc) }
}

// Only the user can read an exported session, even in a file that was readable
// for all. An export replaces no content.
func TestExportIsPrivate(t *testing.T) {
	quiet := &cobra.Command{}
	quiet.SetErr(io.Discard)
	file := filepath.Join(t.TempDir(), "session.json")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := cli.WriteNew(quiet, file, "a session", document(session.Export{})); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != fs.FileMode(0o600) && runtime.GOOS != "windows" {
		t.Errorf("the file has the mode %v, want 0600", got)
	}
	if _, err := readExport(file); err != nil {
		t.Errorf("the file cannot be read back: %v", err)
	}
	if err := cli.WriteNew(quiet, file, "a session", document(session.Export{Title: "another"})); err == nil {
		t.Error("an export replaced a file with content")
	}
	if doc, err := readExport(file); err != nil || doc.Title != "" {
		t.Errorf("the file has %+v, %v, want the first export", doc, err)
	}
}

// A file is read to its end, so it must have one. Editors and shells of Windows write other
// encodings than ours.
func TestReadExport(t *testing.T) {
	dir := t.TempDir()
	for name, tt := range map[string]struct{ content, err string }{
		"byte order mark":  {"\ufeff" + `{"version": 1, "title": "x"}`, ""},
		"UTF-16":           {"\xff\xfe{\x00}\x00", "is in UTF-16"},
		"text":             {"hello", "is not JSON"},
		"another document": {`{"version": "one"}`, `is not an exported session: version must be`},
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(tt.content), 0o600); err != nil {
			t.Fatal(err)
		}
		doc, err := readExport(file)
		if tt.err == "" && (err != nil || doc.Title != "x") || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: %+v, %v, want %q", name, doc, err, tt.err)
		}
	}
	for _, name := range []string{dir, os.DevNull} {
		if _, err := readExport(name); err == nil || !strings.Contains(err.Error(), "not a regular file") {
			t.Errorf("%s: %v, want it refused, since it is not a regular file", name, err)
		}
	}
}
