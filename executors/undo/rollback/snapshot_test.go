package rollback

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/zeph-acp/zeph-acp/executors/undo"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// makeTree writes files, by their slash-separated names below dir.
func makeTree(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	tree := fstest.MapFS{}
	for name, content := range files {
		tree[name] = &fstest.MapFile{Data: []byte(content), Mode: 0o644}
	}
	if err := os.CopyFS(dir, tree); err != nil {
		t.Fatal(err)
	}
}

var limits = setting.Default[undo.Limits]()

// copied returns the copied contents, in the order of their paths.
func copied(t *testing.T, s *Snapshot) string {
	t.Helper()
	var all strings.Builder
	for _, path := range slices.Sorted(maps.Keys(s.before)) {
		if e := s.before[path]; e.IsFile() {
			content, err := s.store.Open(e.Hash)
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			if _, err := io.Copy(&all, content); err != nil {
				t.Fatalf("%s: %v", path, err)
			}
		}
	}
	return all.String()
}

// zeph-acp's own files are neither copied nor written.
func TestOwnFilesStay(t *testing.T) {
	dir := t.TempDir()
	makeTree(t, dir, map[string]string{"own/config.toml": "secret", "a": "a"})
	roots, err := workspace.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	roots = roots.Without(&workspace.AgentFiles{Places: []workspace.Place{{Dir: filepath.Join(dir, "own"), Files: []string{"config.toml"}}}})
	snap, err := Take(t.Context(), NewScope(roots, nil, true, []string{"**"}), limits)
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	if all := copied(t, snap); all != "a" {
		t.Errorf("the snapshot holds %q of %v", all, slices.Sorted(maps.Keys(snap.before)))
	}
	os.WriteFile(filepath.Join(dir, "own", "config.toml"), []byte("new"), 0o600)
	if _, err := snap.Restore(); err != nil {
		t.Error(err)
	}
	if b, _ := os.ReadFile(filepath.Join(dir, "own", "config.toml")); string(b) != "new" {
		t.Errorf("it holds %q", b)
	}
}

// Only the outermost of nested directories is surveyed, and each file is
// matched relative to the innermost of the session's directories.
func TestScopeOfNestedRoots(t *testing.T) {
	dir := t.TempDir()
	makeTree(t, dir, map[string]string{"a/x": "1", "a/in/x": "2", "a-b/x": "3", "c/x": "4"})
	roots, err := workspace.New(filepath.Join(dir, "a"), filepath.Join(dir, "a/in"), filepath.Join(dir, "a-b"), filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err)
	}
	dirs := roots.Dirs()
	if got := NewScope(roots, nil, true, nil).paths; !slices.Equal(got, []string{dirs[0], dirs[2]}) {
		t.Errorf("got %q", got)
	}
	if got := NewScope(roots, []string{dirs[0] + "/x", dirs[1] + "/new/y", dirs[1], filepath.Join(dir, "c/x"), dirs[2] + "/.git/config"}, false,
		nil).paths; !slices.Equal(got, []string{dirs[1], dirs[0] + "/x"}) {
		t.Errorf("got %q", got)
	}
	snap, err := Take(t.Context(), NewScope(roots, nil, true, []string{"x"}), limits)
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	if got := copied(t, snap); len(got) != 3 {
		t.Errorf("copied %q", got)
	}
}

func BenchmarkSnapshot(b *testing.B) {
	roots, err := workspace.New(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	const files, size = 2000, 8 << 10
	for i := range files {
		dir := filepath.Join(roots.Cwd(), fmt.Sprint(i/50))
		os.Mkdir(dir, 0o755)
		os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), make([]byte, size), 0o644)
	}
	b.SetBytes(files * size)
	b.ReportAllocs()
	for b.Loop() {
		snap, err := Take(b.Context(), NewScope(roots, nil, true, []string{"**"}), limits)
		if err != nil {
			b.Fatal(err)
		}
		snap.Close()
	}
}
