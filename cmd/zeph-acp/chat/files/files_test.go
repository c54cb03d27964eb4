package files

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// project returns a directory with files, some of them ignored.
func project(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(dir, "none"))
	for name, text := range map[string]string{
		".gitignore": "*.log\nbuild/\n", "main.go": "", "a.log": "", "build/out": "", "docs/a b.md": "", "docs/a \"b\".md": "", "docs/a.md": "",
		"docs/deep/b.md": "", ".git/config": "",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestNames(t *testing.T) {
	dir := project(t)
	got, err := Names(t.Context(), dir)
	want := []string{".gitignore", "docs/", "docs/a b.md", "docs/a.md", "docs/deep/", "docs/deep/b.md", "main.go"}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("Names: %v, (-want +got)\n%s", err, diff)
	}
	if got, err := list(t.Context(), dir, 2, time.Minute); err != nil || len(got) != 2 {
		t.Errorf("at most 2 names: %q, %v", got, err)
	}
	if got, err := list(t.Context(), dir, 10, 0); err != nil {
		t.Errorf("out of time: %q, %v", got, err)
	}
	if _, err := Names(t.Context(), filepath.Join(dir, "none")); err == nil {
		t.Error("no error for a directory that does not exist")
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Names(cancelled, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
