package chat

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestBranch(t *testing.T) {
	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"no repository":        {nil, ""},
		"a branch":             {map[string]string{".git/HEAD": "ref: refs/heads/fix/a\n"}, "fix/a"},
		"above the directory":  {map[string]string{"../.git/HEAD": "ref: refs/heads/main\n"}, "main"},
		"no branch":            {map[string]string{".git/HEAD": strings.Repeat("0123456789", 4) + "\n"}, "01234567"},
		"a linked worktree":    {map[string]string{".git": "gitdir: ../other/w\n", "../other/w/HEAD": "ref: refs/heads/topic\n"}, "topic"},
		"nothing at the end":   {map[string]string{".git": "gitdir: ../missing\n"}, ""},
		"a file of other use":  {map[string]string{".git": "hello\n"}, ""},
		"an empty HEAD":        {map[string]string{".git/HEAD": ""}, ""},
		"a HEAD that is large": {map[string]string{".git/HEAD": strings.Repeat("x", 2<<20)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "w")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			for file, text := range tt.files {
				path := filepath.Join(dir, filepath.FromSlash(file))
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got := branch(dir); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

func TestIsUTF8(t *testing.T) {
	for locale, want := range map[string]bool{"": true, "C": false, "POSIX": false, "C.UTF-8": true, "de_DE.utf8": true, "de_DE": true, "ja_JP.eucJP": false} {
		if got := isUTF8(func(name string) string { return map[string]string{"LANG": locale}[name] }); got != want {
			t.Errorf("%q: got %t, want %t", locale, got, want)
		}
	}
}
