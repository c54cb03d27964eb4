package policy

import (
	"path/filepath"
	"strings"
)

// ignoredCharacters removes characters that some file systems ignore in names.
var ignoredCharacters = strings.NewReplacer("\u200c", "", "\u200d", "", "\u200e", "", "\u200f", "", "\u202a", "", "\u202b", "", "\u202c", "", "\u202d", "", "\u202e", "",
	"\u206a", "", "\u206b", "", "\u206c", "", "\u206d", "", "\u206e", "", "\u206f", "", "\ufeff", "")

// controlsGitOrAgent reports whether a file controls git or this agent later, by any
// name that some file system has for it.
func controlsGitOrAgent(abs string) bool {
	for part := range strings.SplitSeq(filepath.ToSlash(abs), "/") {
		name, _, _ := strings.Cut(ignoredCharacters.Replace(part), ":") // ".git::$INDEX_ALLOCATION"
		switch strings.ToLower(strings.TrimRight(name, ". ")) {
		case ".git", ".zeph", "git~1", "zeph~1":
			return true
		}
	}
	return false
}
