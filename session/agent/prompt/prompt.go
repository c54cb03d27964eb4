// Package prompt writes the system prompt. It is the same for all turns of a
// session, so that the provider's cache holds; nothing in it changes with time.
package prompt

import (
	_ "embed"
	"strings"
	"text/template"
)

//go:embed system.md
var text string

var system = template.Must(template.New("system").Parse(text))

// Facts is what the system prompt tells of a session.
type Facts struct {
	Dirs  []string // absolute; the first is the working directory
	OS    string   // as GOOS names it
	Shell string   // e.g. "bash"
}

// System gives the system prompt.
func System(f Facts) string {
	var b strings.Builder
	if err := system.Execute(&b, f); err != nil { // the template and its data are ours
		panic(err)
	}
	return b.String()
}
