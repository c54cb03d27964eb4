package leaks

import (
	"os"
	"path/filepath"
	"testing"
)

// Every part of every credential is found, in a recording and in files.
func TestFind(t *testing.T) {
	if len(Credentials) != 20 {
		t.Errorf("%d credentials", len(Credentials))
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "zeph.db-wal"), []byte("\x00"+All()), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.toml"), []byte(All()), 0o600); err != nil {
		t.Fatal(err)
	}
	inFiles, err := InDir(dir, "config.toml")
	if err != nil || len(inFiles) != len(Credentials) {
		t.Errorf("found %d in files: %v", len(inFiles), err)
	}
	for _, c := range Credentials {
		for _, part := range c.Parts {
			if found := In("x", []byte(part)); len(found) != 1 || found[0].Credential != c.Name {
				t.Errorf("%s, %s: found %v", c.Name, part, found)
			}
		}
	}
	if found := In("x", []byte("nothing")); len(found) > 0 {
		t.Error(found)
	}
}
