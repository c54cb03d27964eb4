package files

import (
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// The model reads masked values. A mark that it writes back becomes the value, or the change is refused
// with the line; a hint shows the file as the model reads it.
func TestMarksAreNotWritten(t *testing.T) {
	const (
		env    = "# db\r\nDB_PASSWORD=hunter2\r\nDB_USER=rosa\r\n"
		masked = "[REDACTED]"
	)
	for name, tt := range map[string]struct {
		tool  string
		input any
		want  string // the content of the file
		says  string
	}{
		"write":           {"write", writeInput{"f", "# new\nDB_PASSWORD=[REDACTED]\nDB_USER=rosa\n"}, "# new\r\nDB_PASSWORD=hunter2\r\nDB_USER=rosa\r\n", "Wrote"},
		"write, changed":  {"write", writeInput{"f", "DB_PASS=[REDACTED]\n"}, env, "line 1 of the new text of f has [REDACTED]"},
		"write, new file": {"write", writeInput{"g", "a\nDB_PASS=[REDACTED:secret]\n"}, env, "line 2 of the new text of g has [REDACTED:secret]"},
		"edit the line": {"edit", editInput{Path: "f", OldString: "DB_PASSWORD=[REDACTED]\nDB_USER=rosa", NewString: "DB_USER=ida\nDB_PASSWORD=[REDACTED]"},
			"# db\r\nDB_USER=ida\r\nDB_PASSWORD=hunter2\r\n", "Edited"},
		"edit a new value": {"edit", editInput{Path: "f", OldString: "DB_PASSWORD=[REDACTED]", NewString: "DB_PASSWORD=other"},
			"# db\r\nDB_PASSWORD=other\r\nDB_USER=rosa\r\n", "Edited"},
		"edit, a mark": {"edit", editInput{Path: "f", OldString: "DB_USER=rosa", NewString: "DB_USER=[REDACTED]"}, env,
			"line 3 of the new text of f has [REDACTED]"},
		"hint":      {"edit", editInput{Path: "f", OldString: "DB_PASSWORD=hunter", NewString: "x"}, "# db\r\nx2\r\nDB_USER=rosa\r\n", "Edited"},
		"near miss": {"edit", editInput{Path: "f", OldString: "DB_PASSWORD=other", NewString: "x"}, env, "DB_PASSWORD=[REDACTED]"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, map[string]string{"f": env})
			roots, err := workspace.New(b.dir)
			must(t, err)
			mask := func(text string) string { return strings.ReplaceAll(text, "hunter2", masked) }
			b.Registry = New(Disk{Roots: roots, MaxBytes: setting.Default[Config]().MaxFileBytes}, roots, setting.Default[Config](), mask)
			res := b.run(tt.tool, tt.input)
			if got := b.content("f"); got != tt.want {
				t.Errorf("the file is %q, want %q", got, tt.want)
			}
			if got := res.ForModel(); !strings.Contains(got, tt.says) || res.Failed != strings.HasPrefix(tt.want, env) {
				t.Errorf("the result: %s", got)
			}
		})
	}
}
