// Package prompt writes the system prompt. It is the same for all turns of a
// session, so that the provider's cache holds; nothing in it changes with time.
//
// Why no text/template? It calls methods by name, and so the linker must keep
// every exported method of every type: the binary would grow by 15 MiB.
package prompt

import (
	_ "embed"
	"strings"
)

//go:embed system.md
var text string

// Facts is what the system prompt tells of a session.
type Facts struct {
	Dirs  []string // absolute; the first is the working directory
	OS    string   // as GOOS names it
	Shell string   // e.g. "bash"
}

// System gives the system prompt.
func System(f Facts) string {
	var also strings.Builder
	for _, dir := range f.Dirs[1:] {
		also.WriteString("- Also open: " + dir + "\n")
	}
	return strings.NewReplacer("{{cwd}}", f.Dirs[0], "{{also}}\n", also.String(), "{{os}}", f.OS, "{{shell}}", f.Shell).Replace(text)
}
