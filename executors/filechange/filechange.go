// Package filechange describes changes of files for everything that reports or shows them: the tools, a
// rewind, the protocol and patches of git.
//
// Start with [Change].
package filechange

import (
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// The operations of a [Change], as version 2 of the protocol names them.
const (
	Add    = "add"
	Modify = "modify"
	Delete = "delete"
	Move   = "move"
	Copy   = "copy"
)

// The types of files in a [Change], besides the empty string for a text file.
const (
	Binary    = "binary"
	Directory = "directory"
	Symlink   = "symlink"
)

// Change is a change of one file, directory or symlink. A large text has several changes, one for each of its
// changed parts.
type Change struct {
	Op      string // one of the operations above
	Path    string // absolute; the new path of a move or a copy
	OldPath string // absolute; of a move or a copy
	Type    string // one of the types above; also empty if it is unknown
	// Old is the text before the change, New the text after it. Nil means that there is none, or that it is not
	// shown. A client of version 1 of the protocol shows only a change with a New.
	Old, New *string
	// OldLine and NewLine are the 1-based lines at which Old and New begin. 0 means that they are whole files.
	OldLine, NewLine int
	Cut              bool // Old or New is cut, or a later part is missing: they cannot be applied
}

// OpOfWrite returns the operation that writes a file with this text before; nil means no file.
func OpOfWrite(old *string) string {
	if old == nil {
		return Add
	}
	return Modify
}

// Lines counts the lines that changes of texts add and remove. It reports false if there are none, or not all
// are known.
func Lines(changes []Change) (added, removed int, ok bool) {
	for _, c := range changes {
		if c.Cut || c.Type != "" || c.New == nil || c.Op != Add && c.Op != Modify {
			return 0, 0, false
		}
		var before string
		if c.Old != nil {
			before = *c.Old
		}
		_, hunks, _ := strings.Cut(string(diff.Diff("a", []byte(before), "b", []byte(*c.New))), "\n@@") // after the names
		for line := range strings.Lines(hunks) {
			switch line[0] {
			case '+':
				added++
			case '-':
				removed++
			}
		}
	}
	return added, removed, added+removed > 0
}
