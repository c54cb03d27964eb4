package ideproxy

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// lineEnd returns the line ending of an editor's buffer of the file.
func lineEnd(file string) string {
	if strings.Contains(file, "\r\n") {
		return "\r\n"
	}
	return "\n"
}

func unix(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// An edit through any editor keeps the file's byte order mark, line endings and last
// newline, whatever the editor's buffers lack.
func TestEditKeepsTheLayout(t *testing.T) {
	raw := func(text, _ string) string { return text }
	for name, editor := range map[string]struct {
		read   func(file string) string
		save   func(text, file string) string
		writes int // at most
	}{
		"exact":                            {func(file string) string { return file }, raw, 1},
		"lines of a buffer, written as is": {func(file string) string { return strings.TrimSuffix(unix(file), "\n") }, raw, 2},
		"lines of a buffer, saved as lines": {func(file string) string { return strings.TrimSuffix(unix(file), "\n") }, func(text, file string) string {
			return strings.ReplaceAll(text, "\n", lineEnd(file)) + lineEnd(file)
		}, 2},
		"unix text, written as is":    {unix, raw, 2},
		"without mark, written as is": {func(file string) string { return strings.TrimPrefix(file, "\ufeff") }, raw, 2},
		"unix text, saved with the endings": {unix, func(text, file string) string {
			return strings.ReplaceAll(text, "\n", lineEnd(file))
		}, 1},
		"the last newline counts as a line": {unix, func(text, file string) string {
			return strings.ReplaceAll(text, "\n", lineEnd(file)) + lineEnd(file)
		}, 2},
	} {
		for _, file := range []string{"a\nb\n", "a\r\nb\r\n", "\ufeffa\r\nb\r\n", "\ufeffa\nb\nc\n"} {
			path, writes := "", 0
			f, dir := setup(t, func(method string, params json.RawMessage) string {
				now, _ := os.ReadFile(path)
				if method == "fs/read_text_file" {
					text, _ := json.Marshal(editor.read(string(now)))
					return fmt.Sprintf(`{"content":%s}`, text)
				}
				var p struct{ Content string }
				_ = json.Unmarshal(params, &p)
				writes++
				if err := os.WriteFile(path, []byte(editor.save(p.Content, file)), 0o600); err != nil {
					t.Error(err)
				}
				return `{}`
			}, true, true)
			path = filepath.Join(dir, "a")
			if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
				t.Fatal(err)
			}
			text, err := f.ReadFile(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			if err := f.WriteFile(t.Context(), path, strings.Replace(text, "b", "B", 1)); err != nil {
				t.Fatal(err)
			}
			got, _ := os.ReadFile(path)
			if want := strings.Replace(file, "b", "B", 1); string(got) != want || writes > editor.writes {
				t.Errorf("%s: %q was edited to %q in %d writes, want %q", name, file, got, writes, want)
			}
		}
	}
}

// A write uses the layout of the last read. A layout that the file had before is
// forgotten.
func TestLayoutOfTheLastRead(t *testing.T) {
	path := ""
	f, dir := setup(t, func(method string, params json.RawMessage) string {
		if method == "fs/read_text_file" {
			now, _ := os.ReadFile(path)
			text, _ := json.Marshal(strings.TrimPrefix(string(now), "\ufeff"))
			return fmt.Sprintf(`{"content":%s}`, text)
		}
		var p struct{ Content string }
		_ = json.Unmarshal(params, &p)
		if err := os.WriteFile(path, []byte(p.Content), 0o600); err != nil {
			t.Error(err)
		}
		return `{}`
	}, true, true)
	path = filepath.Join(dir, "a")
	for _, file := range []string{"\ufeffa\n", "a\n"} {
		if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := f.ReadFile(t.Context(), path); err != nil {
			t.Fatal(err)
		}
		if err := f.WriteFile(t.Context(), path, "b\n"); err != nil {
			t.Fatal(err)
		}
		if got, _ := os.ReadFile(path); string(got) != strings.Replace(file, "a", "b", 1) {
			t.Errorf("%q was changed to %q", file, got)
		}
	}
}

// A buffer that the editor did not save, or that it formatted, is written once.
func TestRemedy(t *testing.T) {
	for name, tt := range map[string]struct{ text, want, file, again string }{
		"saved":                 {"a\n", "a\r\n", "a\r\n", ""},
		"not saved":             {"a\n", "a\r\n", "old\r\n", ""},
		"formatted":             {"a\n", "a\n", "a;\n", ""},
		"a newline added":       {"a", "a", "a\n", ""},
		"as it was sent":        {"a\n", "a\r\n", "a\n", "a\r\n"},
		"one line more":         {"a\n", "a\n", "a\n\n", "a"},
		"one line more, CRLF":   {"a\n", "a\r\n", "a\r\n\r\n", "a"},
		"one line more, mixed":  {"a\nb\n", "a\nb\r\n", "a\r\nb\r\n\r\n", "a\nb"},
		"two lines more, edits": {"a\n", "a\n", "a\n\n\n", ""},
	} {
		if again, ok := correction(tt.text, tt.want, tt.file); again != tt.again || ok != (again != "") {
			t.Errorf("%s: correction(%q, %q, %q) = %q, %v; want %q", name, tt.text, tt.want, tt.file, again, ok, tt.again)
		}
	}
}

// A file that is not UTF-8 reaches the tools as it is: an edit of the editor's text
// would replace the bytes that the editor cannot show.
func TestReadGarbled(t *testing.T) {
	const latin = "caf\xe9\r\n"
	for answer, want := range map[string]string{
		"caf\ufffd\r\n":       latin, // invalid bytes are replaced
		"caf\n":               latin, // or left out
		"caf\u00e9\n":         "caf\u00e9\n",
		"caf\u00e9 au lait\n": "caf\u00e9 au lait\n",
	} {
		content, _ := json.Marshal(answer)
		f, dir := setup(t, always(fmt.Sprintf(`{"content":%s}`, content)), true, true)
		path := filepath.Join(dir, "a")
		if err := os.WriteFile(path, []byte(latin), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := f.ReadFile(t.Context(), path); got != want || err != nil {
			t.Errorf("the editor answers %q: read %q, %v; want %q", answer, got, err, want)
		}
	}
}
