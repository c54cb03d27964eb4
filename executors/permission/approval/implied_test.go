package approval

import (
	"slices"
	"strings"
	"testing"
)

func TestImplied(t *testing.T) {
	for command, want := range map[string]string{
		"python3 -m srv":                     "srv.py srv/__main__.py srv/__init__.py",
		"python3 -um a.b":                    "a/b.py a/b/__main__.py a/__init__.py a/b/__init__.py",
		"python3 -msrv":                      "srv.py",
		"uv run python -m srv":               "srv.py",
		"uv --directory sub run python -m a": "sub/a.py",
		"uv --directory=sub run python -m a": "sub/a.py",
		"python3 srv":                        "srv/__main__.py",
		"node srv":                           "srv.js srv/index.js srv/package.json",
		"npm start":                          "package.json",
		"npm --prefix web start":             "web/package.json",
		"/usr/bin/make serve":                "Makefile",
		"bun run srv":                        "package.json srv.ts",
	} {
		got := Implied(strings.Fields(command), nil)
		for _, name := range strings.Fields(want) {
			if !slices.Contains(got, name) {
				t.Errorf("Implied(%s) lacks %s: %q", command, name, got)
			}
		}
	}
	if got := Implied([]string{"python3", "-m", "srv"}, []string{"lib"}); !slices.Contains(got, "lib/srv.py") {
		t.Errorf("a directory of PYTHONPATH is not searched: %q", got)
	}
	if got := Implied([]string{"srv", "a.txt"}, nil); len(got) != 0 {
		t.Errorf("a program of its own: %q", got)
	}
}
