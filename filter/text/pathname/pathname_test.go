package pathname

import (
	"os"
	"path/filepath"
	"testing"
)

// The path of a file with a drive of Windows has a slash before it: the drive is no host.
func TestURI(t *testing.T) {
	for path, want := range map[string]string{
		"/a/b c?.go": "file:///a/b%20c%3F.go",
		"C:/a/b.go":  "file:///C:/a/b.go",
	} {
		if got := URI(path); got != want {
			t.Errorf("URI(%q) = %q, want %q", path, got, want)
		}
	}
}

func TestFrom(t *testing.T) {
	dir, err := filepath.Abs("dir")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"a/../b": filepath.Join(dir, "b"), "": dir, filepath.Join(dir, "c") + "//": filepath.Join(dir, "c")} {
		if got := From(dir, path); got != want {
			t.Errorf("From(%q, %q) = %q, want %q", dir, path, got, want)
		}
	}
}

func TestSame(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for _, file := range []string{a, b} {
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if !Same(a, filepath.Join(dir, ".", "a")) || Same(a, b) || Same(a, filepath.Join(dir, "missing")) {
		t.Error("want only two spellings of one file to be the same")
	}
}

func TestUnescape(t *testing.T) {
	for pattern, want := range map[string]string{`a\*b`: "a*b", `\\`: `\`, `end\`: `end\`, "plain": "plain"} {
		if got := Unescape(pattern); got != want {
			t.Errorf("Unescape(%q) = %q, want %q", pattern, got, want)
		}
	}
}
