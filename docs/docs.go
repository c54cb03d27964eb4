// Package docs holds the pages of the documentation, which "zeph-acp help" shows.
package docs

import "embed"

// Pages are the Markdown files, such as "undo.md" and "reference/programs.md".
//
//go:embed *.md reference/*.md
var Pages embed.FS
