package fixtures

import (
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// Workspace is the real directory of "/w": an absolute path without symlinks.
type Workspace string

// workspacePath matches "/w" as a whole path, not as the end of a longer path or the
// beginning of another name.
var workspacePath = lazyregexp.New(`(^|file://|[^\w./~-])/w(/|[^\w.-]|\.?$|\.\s)`)

// Real replaces /w by the real directory.
func (w Workspace) Real(text string) string {
	// A character that ends one match may begin the next: "/w:/w".
	for range 2 {
		text = workspacePath.ReplaceAllStringFunc(text, func(m string) string {
			return strings.Replace(m, "/w", string(w), 1)
		})
	}
	return text
}

// Written replaces the real directory by /w.
func (w Workspace) Written(text string) string {
	if w == "" {
		return text
	}
	return strings.ReplaceAll(text, string(w), "/w")
}
