package steering

import "testing"

// A name is recognised in any spelling that a file system takes for the same name. The packages that use
// the table test what it contains.
func TestOf(t *testing.T) {
	for _, tt := range []struct {
		rel  string
		dir  bool
		want Kind
	}{
		{".git/config", false, Control},
		{"a/.GIT./x", false, Control},
		{".g\u200cit/x", false, Control},
		{"git~1/x", false, Control},
		{".gitignore", false, Nothing},
		{".github", true, Instructions},
		{".github/issue_template/a.md", false, Nothing},
		{".vscode ", true, Programs},
		{".v\u017fcode/x", false, Programs}, // a long s
		{"VSCODE~1/x", false, Programs},
		{"x/.vscode::$INDEX_ALLOCATION/a", false, Programs},
		{"a/../.envrc", false, Programs},
		{"a/.unknown/b", false, Nothing},
		{".unknown/b", false, Programs},
		{".unknown", false, Nothing},
		{".unknown", true, Programs},
		{"node_modules", true, Programs},
		{"node_modules", false, Nothing},
		{"node_modules/a.js", false, Nothing},
		{"sub/Agents.MD", false, Instructions},
		{"agents.markdown", false, Nothing},
		{".", true, Nothing},
		{"", true, Nothing},
		{"..", true, Nothing},
	} {
		if got := Of(tt.rel, tt.dir); got != tt.want {
			t.Errorf("Of(%q, %t) = %d, want %d", tt.rel, tt.dir, got, tt.want)
		}
	}
}
