package schema

import (
	"bytes"
	"compress/gzip"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/zeph-acp/zeph-acp/protocol-fixtures/machine"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/schema/editions"
)

var update = flag.Bool("update", false, "copy the schemas of the module again")

// TestCopies compares the copies with the module that go.mod requires.
func TestCopies(t *testing.T) {
	dir := filepath.Join(machine.ModuleDir(t, "github.com/coder/acp-go-sdk"), "schema")
	for _, name := range []string{"schema.json", "schema.unstable.json"} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			var b bytes.Buffer
			w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // the level is valid
			_, _ = w.Write(want)                                  // never fails on a buffer
			_ = w.Close()
			if err := os.WriteFile(filepath.Join("editions", name+".gz"), b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got, err := editions.Read(name); err != nil || !bytes.Equal(got, want) {
			t.Errorf("the copy of %s differs from the module (%v): run the test with -update", name, err)
		}
	}
}
