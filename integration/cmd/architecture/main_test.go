package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPicture checks that docs/architecture.svg shows the imports as they are.
func TestPicture(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	got := filepath.Join(t.TempDir(), "architecture.svg")
	if err := write(root, got); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(got)
	if err != nil {
		t.Fatal(err)
	}
	committed, err := os.ReadFile(filepath.Join(root, "docs", "architecture.svg"))
	if err != nil || strings.ReplaceAll(string(committed), "\r\n", "\n") != string(want) {
		t.Errorf("docs/architecture.svg is not what the imports say: run go run ./integration/cmd/architecture (%v)", err)
	}
}

// TestRows draws only the arrows that no other path implies, and refuses a cycle.
func TestRows(t *testing.T) {
	g := graph{"cmd/zeph-acp": {"acp", "session"}, "session": {"acp"}}
	if got := g.reduced()["cmd/zeph-acp"]; len(got) != 1 || got[0] != "session" {
		t.Errorf("arrows of cmd/zeph-acp: %q, want session alone", got)
	}
	g["acp"] = []string{"session"}
	if _, err := g.rows(); err == nil || !strings.Contains(err.Error(), "acp → session") && !strings.Contains(err.Error(), "session → acp") {
		t.Errorf("a cycle: got %v", err)
	}
}
