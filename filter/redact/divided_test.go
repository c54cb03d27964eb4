package redact

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestDivided checks that white space in a value does not hide it, and that the words of
// a sentence are not joined to one.
func TestDivided(t *testing.T) {
	var s Scanner
	s.Learn("Zq8 mK2-vL9xRt")
	token := "ghp_" + alnum4
	spaced := strings.Join(strings.Split(token, ""), " ")
	for text, want := range map[string]string{
		"the token is " + token[:20] + "\n" + token[20:] + " of Ann":                                          "github token",
		"the token is " + token[:2] + " " + token[2:] + ".":                                                   "github token",
		"deploy with (" + token[:9] + "\n    " + token[9:] + ") only":                                         "github token",
		"spell it: " + spaced + " and no more":                                                                "github token",
		"export KEY=AKIAYSHV\nJY65YZQUVVQL":                                                                   "aws key",
		"key sk-proj-" + alnum2 + " " + alnum2 + " for tests":                                                 "ai key",
		"our own is Zq8mK2-\nvL9x Rt":                                                                         "secret",
		"GitHub tokens begin with ghp_ and a classic token has 40 characters in all, which our linter checks": "",
		"Keys of the sandbox begin with sk-proj- and those of production do not begin with it at all":         "",
		"Do not commit files with npm_ tokens, use the variable NPM_TOKEN of the continuous integration":      "",
		"password = ask Ann for it":                                                                           "",
		"The staging database listens on port 5433, see conf/db.toml.":                                        "",
		"": "",
	} {
		if got := strings.Join(s.Divided(text), ", "); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
	for text := range strings.SplitSeq(innocent, "\n---\n") {
		if got := s.Divided(text); len(got) > 0 {
			t.Errorf("%q has no divided credential, got %q", text, got)
		}
	}
}

// TestDividedPages checks that nothing is found in the project's own pages.
func TestDividedPages(t *testing.T) {
	if testing.Short() {
		t.Skip("all pages on one goroutine: nothing for the race detector")
	}
	pages, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(pages) < 20 {
		t.Fatalf("%d pages (%v), want at least 20", len(pages), err)
	}
	var s Scanner
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for part := range slices.Chunk(text, 4096) {
			if got := s.Divided(string(part)); len(got) > 0 {
				t.Errorf("%s: found %q, want nothing", page, got)
			}
		}
	}
}
