package chat

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMentions completes the names of files, also of one that was created in the meantime.
func TestMentions(t *testing.T) {
	p := sit(t, nil)
	create := func(name string) {
		t.Helper()
		path := filepath.Join(p.m.chat.Dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	create("main.go")
	create("my notes/to do.txt")
	create("why?")
	for _, tt := range []struct {
		typed string
		keys  []string
		want  string
	}{
		{"see @mai", []string{"tab"}, "see @main.go "},
		{"@notes/", []string{"tab"}, `@"my notes/`},
		{"@notes/", []string{"tab", "t", "o", "space", "tab"}, `@"my notes/to do.txt" `},
		{`@"my n`, []string{"tab", "t", "o", "tab", "x"}, `@"my notes/to do.txt" x`},
		{"@why", []string{"tab"}, `@"why?" `},
		{"@new", []string{"tab"}, "@new"},
	} {
		p.press("ctrl+u")
		p.write(tt.typed)
		p.press(tt.keys...)
		if got := p.m.editor.Text(); got != tt.want {
			t.Errorf("%s and %s: %q, want %q", tt.typed, tt.keys, got, tt.want)
		}
	}
	create("new.go")
	p.press("ctrl+u")
	p.write("@new")
	if s := p.screen(); !strings.Contains(s, "❯ new.go") {
		t.Errorf("the new file is not offered:\n%s", s)
	}
}
