package walk

import (
	"io/fs"
	"path"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/unicode/norm"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

func FuzzPathMatcher(f *testing.F) {
	for _, pattern := range []string{"**/*.go", "a/**/*_test.go", "**/{a,b}*.{md,go}", "*", "**", "a/b", "**/a**", "**/[a/b]c", "{a/b,c}/d", `**/\*x`,
		"**/*{,a}", "a/**", "**/*a*", "**/?.go", "a}b", "**/{a}}", "**/\u00e9*", "e\u0301.*"} {
		for _, name := range []string{"a/x_test.go", "b.md", "a/b", "*x", "é.go", "e\u0301.go", ".go"} {
			f.Add(pattern, name)
		}
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if !doublestar.ValidatePattern(pattern) || len(pattern) > 4096 || strings.Count(pattern,
			"{") > 8 || path.Clean(pattern) != pattern || strings.HasPrefix(pattern, "/") ||
			!fs.ValidPath(name) || name == "." || !utf8.ValidString(name) {
			return
		}
		in, base := path.Split(name)
		got := PathMatcher(pattern)(Entry{Entry: workspace.Entry{Name: base}, In: in})
		if !norm.NFC.IsNormalString(pattern) || !norm.NFD.IsNormalString(pattern) {
			pattern, name = norm.NFC.String(pattern), norm.NFC.String(name)
		}
		if want := doublestar.MatchUnvalidated(pattern, name); got != want {
			t.Errorf("%q matches %q: %t, want %t", pattern, name, got, want)
		}
	})
}
