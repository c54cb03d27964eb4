package certify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A prompt about a scenario that the client reaches by other requests passes nothing yet.
func TestVerdictOfUnprompted(t *testing.T) {
	a := &agent{}
	for _, s := range scenarios() {
		one := &turn{agent: a, scenario: s}
		if got := strings.TrimSpace(one.verdict()); (got == "Passed.") == s.unprompted {
			t.Errorf("%s: %q", s.name, got)
		}
	}
}

// The directory of a scenario is one that nobody has.
func TestScratch(t *testing.T) {
	dir := t.TempDir()
	kept := filepath.Join(dir, "zeph-certify-1.tmp")
	if err := os.Mkdir(kept, 0o700); err != nil {
		t.Fatal(err)
	}
	one := &turn{cwd: dir}
	if got, want := one.file("a.txt", "a"), filepath.Join(dir, "zeph-certify-2.tmp", "a.txt"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if one.scratch() != filepath.Join(dir, "zeph-certify-2.tmp") {
		t.Errorf("it changed to %s", one.scratch())
	}
}
