package bundle

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// folder makes a directory with files. A text that begins with "->" is the target of a link, and one that begins with "#!"
// is a program.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "plug")
	must(t, os.Mkdir(dir, 0o700))
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		target, link := strings.CutPrefix(text, "->")
		mode := os.FileMode(0o600)
		if strings.HasPrefix(text, "#!") {
			mode = 0o700
		}
		if link {
			must(t, os.Symlink(target, path))
			continue
		}
		must(t, os.WriteFile(path, []byte(text), mode))
	}
	return dir
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestReadTree(t *testing.T) {
	deep := strings.Repeat("d/", maxDepth) + "x"
	for name, tt := range map[string]struct {
		files map[string]string
		want  map[string]string // nil: an error
		err   string
	}{
		"files":                  {map[string]string{"a": "1", "b/c": "2", ".git/config": "x", "b/.GIT": "y"}, map[string]string{"a": "1", "b/c": "2"}, ""},
		"a link to a file":       {map[string]string{"a": "1", "b/l": "->../a", "m": "->b/l"}, map[string]string{"a": "1", "b/l": "1", "m": "1"}, ""},
		"a link to a folder":     {map[string]string{"a/x": "1", "l": "->a"}, map[string]string{"a/x": "1", "l/x": "1"}, ""},
		"a link out":             {map[string]string{"a": "->../../x"}, nil, "the link a: it leads out of the plug-in"},
		"an absolute link":       {map[string]string{"a": "->/etc/passwd"}, nil, "the link a: it leads out of the plug-in"},
		"a link to nothing":      {map[string]string{"a": "->b"}, nil, "leads to nothing"},
		"a link to itself":       {map[string]string{"a": "->a"}, nil, "leads to itself"},
		"a link to its folder":   {map[string]string{"d/a": "->../d", "d/x": "1"}, nil, "a directory that contains it"},
		"a link into git":        {map[string]string{".git/config": "secret", "a": "->.git/config"}, nil, "leads to nothing"},
		"links in a linked part": {map[string]string{"d/l": "->x", "d/x": "1", "e": "->d"}, nil, "another link"},
		"deep":                   {map[string]string{deep: "1"}, nil, "more than 16 directories"},
		"a control character":    {map[string]string{"a\x1b[31m": "1"}, nil, "an invisible character"},
		"a backslash":            {map[string]string{`a\b`: "1"}, nil, "a backslash"},
		"twins":                  {map[string]string{"Dir/a": "1", "dir/b": "2"}, nil, "are one file on some systems"},
		"Unicode twins":          {map[string]string{"\u00e9": "1", "e\u0301": "2"}, nil, "are one file on some systems"},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS != "linux" && (strings.Contains(name, "twins") || strings.HasPrefix(name, "a control") || name == "a backslash") {
				t.Skipf("the file systems of %s have no such names", runtime.GOOS)
			}
			tree, err := ReadTree(folder(t, tt.files), ".")
			if tt.want == nil {
				if err == nil || !strings.Contains(err.Error(), tt.err) || strings.ContainsAny(err.Error(), "\x1b\n") {
					t.Errorf("the error is %q, want %q", err, tt.err)
				}
				return
			}
			got := map[string]string{}
			for name, f := range tree {
				got[name] = string(f.Data)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got)\n%s", err, diff)
			}
		})
	}
}

func TestTreeLimits(t *testing.T) {
	files := map[string]string{}
	for i := range maxFiles + 1 {
		files[fmt.Sprintf("%d/%d", i%100, i)] = ""
	}
	if _, err := ReadTree(folder(t, files), "."); err == nil || !strings.Contains(err.Error(), "more than 5,000 files") {
		t.Error(err)
	}
	dir := folder(t, map[string]string{"a": ""})
	must(t, os.Truncate(filepath.Join(dir, "a"), maxBytes+1))
	if _, err := ReadTree(dir, "."); err == nil || !strings.Contains(err.Error(), "more than 64 MiB") {
		t.Error(err)
	}
	if _, err := ReadTree(dir, "../x"); err == nil {
		t.Error("a folder outside was read")
	}
}

// TestHash checks that each change of a folder changes its hash.
func TestHash(t *testing.T) {
	base := Tree{"a": {Data: []byte("1")}, "b": {Data: []byte("2")}}
	seen := map[string]string{base.Hash(): "base"}
	for name, tree := range map[string]Tree{
		"content": {"a": {Data: []byte("1")}, "b": {Data: []byte("3")}},
		"name":    {"a": {Data: []byte("1")}, "c": {Data: []byte("2")}},
		"swap":    {"a": {Data: []byte("2")}, "b": {Data: []byte("1")}},
		"more":    {"a": {Data: []byte("1")}, "b": {Data: []byte("2")}, "c": {}},
		"less":    {"a": {Data: []byte("1")}},
		"mode":    {"a": {Data: []byte("1"), Exec: runtime.GOOS != "windows"}, "b": {Data: []byte("2")}, "d": {}},
		"joined":  {"a1b": {Data: []byte("2")}},
	} {
		if other := seen[tree.Hash()]; other != "" {
			t.Errorf("%s has the hash of %s", name, other)
		}
		seen[tree.Hash()] = name
	}
}

func TestWrite(t *testing.T) {
	tree := Tree{"a": {Data: []byte("1")}, "b/c": {Data: []byte("#!"), Exec: true}}
	dir := filepath.Join(t.TempDir(), "x")
	must(t, tree.Write(dir))
	got, err := ReadTree(dir, ".")
	if err != nil || got.Hash() != tree.Hash() {
		t.Error(err, got)
	}
	if err := tree.Write(dir); err == nil {
		t.Error("an existing folder was written to")
	}
}
