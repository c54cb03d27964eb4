package walk

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// emptyTree returns the tree of a new directory.
func emptyTree(t *testing.T) Tree {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	roots, err := workspace.New(dir)
	must(t, err)
	return Tree{Roots: roots, Dir: dir, Ignore: true, Budget: MaxEntries}
}

// write makes a file below the directory of a tree.
func write(t *testing.T, tree Tree, name, text string) {
	t.Helper()
	path := filepath.Join(tree.Dir, name)
	must(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must(t, os.WriteFile(path, []byte(text), 0o644))
}

// readFiles returns how many files of a tree were read.
func readFiles(t *testing.T, tree Tree) (n int, unseen Unseen) {
	t.Helper()
	unseen, err := Do(t.Context(), tree, func() Visit[string] {
		return func(e Entry, _ func() bool) (string, bool, error) {
			if !e.Type.IsRegular() {
				return "", false, nil
			}
			text, _, err := e.Dir.Read(e.Name, nil, 100)
			return string(text), true, err
		}
	}, func(text string) int { return len(text) }, func(text string) bool {
		if text == "hit\n" {
			n++
		}
		return true
	})
	must(t, err)
	return n, unseen
}

// More directories than are held open, a chain of them deeper than the longest
// path, and many names in one.
func TestLargeTree(t *testing.T) {
	tree := emptyTree(t)
	root, err := os.OpenRoot(tree.Dir)
	must(t, err)
	name := strings.Repeat("d", 20)
	deep := 300
	for range deep {
		must(t, root.Mkdir(name, 0o755))
		must(t, root.Mkdir("side", 0o755))
		must(t, root.WriteFile("zz", []byte("hit\n"), 0o644))
		sub, err := root.OpenRoot(name)
		must(t, err)
		root.Close()
		root = sub
	}
	root.Close()
	for i := range 1000 {
		write(t, tree, fmt.Sprintf("wide/%d", i), "hit\n")
	}
	before := openFiles(t)
	if n, unseen := readFiles(t, tree); n != deep+1000 || unseen.String() != "" {
		t.Errorf("%d files%s", n, unseen)
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d files are open, there were %d", after, before)
	}
}

// The walk reports paths that are too long, and continues.
func TestTooDeep(t *testing.T) {
	tree := emptyTree(t)
	write(t, tree, "z", "hit\n")
	root, err := os.OpenRoot(tree.Dir)
	must(t, err)
	for range maxPath/201 + 2 {
		name := strings.Repeat("d", 200)
		must(t, root.Mkdir(name, 0o755))
		sub, err := root.OpenRoot(name)
		must(t, err)
		root.Close()
		root = sub
	}
	root.Close()
	n, unseen := readFiles(t, tree)
	if text := unseen.String(); n != 1 || !strings.HasPrefix(text, "\n[could not read ddd") || !strings.HasSuffix(text, "d (the path is too long)]") {
		t.Errorf("%d files%s", n, text)
	}
}

func openFiles(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0 // not on this system
	}
	return len(entries)
}

func TestWalkCancelled(t *testing.T) {
	tree := emptyTree(t)
	for i := range 300 {
		write(t, tree, fmt.Sprintf("d%d/f", i), "x\n")
	}
	cause := errors.New("the user stopped")
	before := openFiles(t)
	for n := range 20 {
		ctx, cancel := context.WithCancelCause(t.Context())
		visits := 0
		_, err := Do(ctx, tree, func() Visit[int] {
			return func(e Entry, _ func() bool) (int, bool, error) { return 1, true, nil }
		}, func(int) int { return 1 }, func(int) bool {
			if visits++; visits == n*10+1 {
				cancel(cause)
			}
			return true
		})
		if !errors.Is(err, cause) {
			t.Errorf("%v after %d", err, visits)
		}
	}
	if after := openFiles(t); after != before {
		t.Errorf("%d files are open, there were %d", after, before)
	}
}

// A panic of a visit is raised in the caller of the walk, after all goroutines
// have ended.
func TestWalkPanics(t *testing.T) {
	tree := emptyTree(t)
	for _, name := range []string{"a/x", "b/x", "c"} {
		write(t, tree, name, "")
	}
	defer func() {
		if p := recover(); p != "odd" {
			t.Errorf("recovered %v", p)
		}
	}()
	_, err := Do(t.Context(), tree, func() Visit[int] {
		return func(e Entry, _ func() bool) (int, bool, error) {
			if e.Name == "x" {
				panic("odd")
			}
			return 0, false, nil
		}
	}, func(int) int { return 0 }, func(int) bool { return true })
	t.Error("no panic, but", err)
}
