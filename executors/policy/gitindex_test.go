package policy

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The paths of an index are those that git lists, in each version that is known.
func TestIndexed(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip(err)
	}
	for name, tt := range map[string]struct {
		init, make []string
		fails      bool
	}{
		"version 2": {nil, []string{"update-index", "--index-version=2"}, false},
		"version 3": {nil, []string{"update-index", "--skip-worktree", "a/b"}, false},
		"version 4": {nil, []string{"update-index", "--index-version=4"}, false},
		"split":     {nil, []string{"update-index", "--split-index"}, true},
		"SHA-256":   {[]string{"--object-format=sha256"}, []string{"update-index", "--index-version=2"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			git := func(args ...string) string {
				t.Helper()
				cmd := exec.Command("git", args...)
				cmd.Dir = dir
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("git %s: %v\n%s", args, err, out)
				}
				return string(out)
			}
			git(append([]string{"init", "-q", "."}, tt.init...)...)
			for _, path := range []string{"a/b", "a/bc/d", "a/" + strings.Repeat("long", 50), "x", strings.Repeat("y/", 200) + "z"} {
				path = filepath.Join(dir, path)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(path), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			git("add", ".")
			git(tt.make...)
			data, err := os.ReadFile(filepath.Join(dir, ".git", "index"))
			if err != nil {
				t.Fatal(err)
			}
			entries, err := parseIndex(data)
			if tt.fails {
				if err == nil {
					t.Errorf("got %v", entries)
				}
				return
			}
			var names []string
			for _, e := range entries {
				names = append(names, e.name)
			}
			if want := git("ls-files"); err != nil || strings.Join(names, "\n")+"\n" != want {
				t.Errorf("%v, got %q, want %q", err, names, want)
			}
		})
	}
}

// An index is refused if one of its extensions says that more paths are elsewhere.
func TestIndexExtensions(t *testing.T) {
	entry := append(make([]byte, 62), "a/b\x00\x00\x00\x00\x00\x00\x00"...)
	entry[61] = 3
	index := "DIRC\x00\x00\x00\x02\x00\x00\x00\x01" + string(entry[:72])
	for extensions, ok := range map[string]bool{
		"":                       true,
		"TREE\x00\x00\x00\x02ab": true,
		"link\x00\x00\x00\x00":   false,
		"sdir\x00\x00\x00\x00":   false,
		"TREE\x00\x00\x00\x01alink\x00\x00\x00\x00": false,
		"TREE\xff\xff\xff\xff":                      false,
		"TREE":                                      false,
	} {
		if entries, err := parseIndex([]byte(index + extensions + strings.Repeat("\x00", 20))); (err == nil) != ok {
			t.Errorf("%q: got %v, %v", extensions, entries, err)
		}
	}
}

// A name of an index counts only as the file that it looks like.
func TestInsideRepository(t *testing.T) {
	for name, want := range map[string]bool{
		"a": true, "a/..b/c...": true, "a b/.gitignore": true, "sub.git/x": true,
		"": false, "..": false, "../a": false, "a/../../b": false, "a/../b": false, "/a": false, "a//b": false, "./a": false, ".git/config": false, "a/.GIT/config": false,
	} {
		if got := insideRepository(name); got != want {
			t.Errorf("insideRepository(%q) = %v", name, got)
		}
	}
}

// FuzzIndexed reads indexes that may be damaged.
func FuzzIndexed(f *testing.F) {
	entry := bytes.Repeat([]byte{0}, 62)
	entry[61] = 3
	for _, version := range []byte{2, 4} {
		head := append([]byte("DIRC\x00\x00\x00"), version, 0, 0, 0, 1)
		f.Add(append(append(head, entry...), append([]byte("a/b\x00"), make([]byte, 26)...)...))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := parseIndex(data)
		if err == nil && len(entries) > len(data)/62 {
			t.Errorf("%d entries in %d bytes", len(entries), len(data))
		}
	})
}
