package policy

import "testing"

// nestedRoots are roots of which one may be inside of another.
type nestedRoots []string

func (r nestedRoots) Dirs() []string                           { return r }
func (r nestedRoots) Resolve(path string) (string, error)      { return path, nil }
func (r nestedRoots) ResolveEntry(path string) (string, error) { return path, nil }

// A file is judged by its path in the innermost root.
func TestStartsProgramsInRoots(t *testing.T) {
	const project, copied = "/w", "/w/.claude/worktrees/x"
	for file, want := range map[string]bool{
		project + "/main.go":             false,
		project + "/.vscode/tasks.json":  true,
		project + "/.claude/hooks/a.sh":  true,
		project + "/.claude/worktrees/y": true, // not the copy
		copied + "/main.go":              false,
		copied + "/.vscode/tasks.json":   true,
		"/other/.envrc":                  true,
	} {
		for _, roots := range []nestedRoots{{project, copied}, {copied, project}} {
			p := permissionCheck{Permission: &Permission{Roots: roots}}
			if got := p.startsProgramsInRoots(file); got != want {
				t.Errorf("%s with the roots %q: %t, want %t", file, roots, got, want)
			}
		}
	}
}
