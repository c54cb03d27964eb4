package imports

import "testing"

// TestCursorRule checks that no rule becomes looser than the original.
func TestCursorRule(t *testing.T) {
	for rule, want := range map[string]string{
		"Shell(git)":            "Bash(git:*)",
		"Shell(npm:run test)":   "Bash(npm run test)",
		"Shell(npm:run test *)": "Bash(npm run test *)",
		"Shell(curl:*)":         "Bash(curl:*)",
		"Read(src/**/*.ts)":     "Read(src/**/*.ts)",
		"Write(docs/**)":        "Edit(docs/**)",
		"WebFetch(docs.rs)":     "WebFetch(domain:docs.rs)",
		"Mcp(github:*)":         "mcp__github",
		"Mcp(github:issues)":    "mcp__github__issues",
		"Mcp(github, issues)":   "mcp__github__issues",
		"Shell(**)":             "",
		"Shell(git*)":           "",
		"Mcp(*:*)":              "",
		"Mcp(a:get_*)":          "",
		"Shell()":               "",
		"Shell":                 "",
		"Shell(git":             "",
		"Fly(x)":                "",
	} {
		got, err := cursorRule(rule)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s becomes %q, %v, want %q", rule, got, err, want)
		}
	}
}
