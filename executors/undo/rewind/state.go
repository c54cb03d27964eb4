package rewind

import (
	"fmt"
	"io/fs"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// State is a file, link or directory at one moment. The zero value means that
// there is no such entry.
type State struct {
	Mode   fs.FileMode `json:"mode,omitempty"` // 0 means that nothing is there
	Hash   string      `json:"hash,omitempty"` // of a file's content; empty if that was not read
	Size   int64       `json:"size,omitempty"`
	Target string      `json:"target,omitempty"` // of a link
	// NotKept says why the content of a file is not kept; empty if it is.
	NotKept string `json:"left,omitempty"`
}

// exists reports whether there is an entry. Every entry has a type or a
// permission, save for a file of mode 0, which present marks.
func (s State) exists() bool { return s.Mode != 0 }

// present marks the mode of an existing entry, since a file may have no
// permission at all. It is a bit that no mode of this package uses.
const present = fs.ModeExclusive

// modeOf returns the part of a mode that is restored.
func modeOf(info fs.FileInfo) fs.FileMode {
	const kept = fs.ModeType | fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky
	return info.Mode()&kept | present
}

// perm returns the mode to set.
func (s State) perm() fs.FileMode { return s.Mode &^ (fs.ModeType | present) }

func (s State) isFile() bool { return s.exists() && s.Mode.IsRegular() }
func (s State) isDir() bool  { return s.exists() && s.Mode.IsDir() }
func (s State) isLink() bool { return s.exists() && s.Mode&fs.ModeSymlink != 0 }

// same reports whether two states have the same content. The size of a directory
// and the mode of a link mean nothing.
func (s State) same(o State) bool {
	switch {
	case s.Mode.Type() != o.Mode.Type() || s.exists() != o.exists():
		return false
	case s.isLink():
		return s.Target == o.Target
	case s.isFile():
		return s.Mode == o.Mode && s.Size == o.Size && s.Hash == o.Hash && s.Hash != ""
	}
	return s.Mode == o.Mode
}

// unrestorable returns why the state cannot be restored, "" if it can.
func (s State) unrestorable() string {
	switch {
	case s.NotKept != "":
		return s.NotKept
	case s.exists() && !s.isFile() && !s.isDir() && !s.isLink():
		return fmt.Sprintf("it was %s", workspace.Describe(s.Mode.Type()))
	}
	return ""
}
