package undo

import (
	"io/fs"
	"slices"
	"time"

	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// State is a file, link or directory at one moment. The zero value means that
// there is no such entry.
type State struct {
	Mode   fs.FileMode `json:"mode,omitempty"` // 0 means that nothing is there
	Hash   string      `json:"hash,omitempty"` // of a file's content; empty if that was not read
	Size   int64       `json:"size,omitempty"`
	Target string      `json:"target,omitempty"` // of a link
	Linked string      `json:"linked,omitempty"` // the LinkID of a file
	// NotKept says why the content of a file is not kept; empty if it is.
	NotKept string `json:"left,omitempty"`
}

// Exists reports whether there is an entry. Every entry has a type or a
// permission, save for a file of mode 0, which present marks.
func (s State) Exists() bool { return s.Mode != 0 }

// present marks the mode of an existing entry, since a file may have no
// permission at all. It is a bit that no mode of this package uses.
const present = fs.ModeExclusive

// NewFile is the mode of a new file.
const NewFile = 0o644 | present

// modeOf returns the part of a mode that is restored.
func modeOf(info fs.FileInfo) fs.FileMode {
	const kept = fs.ModeType | fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky
	return info.Mode()&kept | present
}

// Perm returns the mode to set.
func (s State) Perm() fs.FileMode { return s.Mode &^ (fs.ModeType | present) }

func (s State) IsFile() bool { return s.Exists() && s.Mode.IsRegular() }
func (s State) IsDir() bool  { return s.Exists() && s.Mode.IsDir() }
func (s State) isLink() bool { return s.Exists() && s.Mode&fs.ModeSymlink != 0 }

// sameKind reports whether both states are files, directories, links, and so on.
func (s State) sameKind(o State) bool {
	return s.Exists() == o.Exists() && s.Mode.Type() == o.Mode.Type()
}

// Differs reports whether two states have different contents. The size of a directory
// and the mode of a link mean nothing. Files are compared by their size and mode if the
// content of one of them was not read.
func (s State) Differs(o State) bool {
	switch {
	case !s.sameKind(o):
		return true
	case s.isLink():
		return s.Target != o.Target
	case s.IsFile():
		return s.Mode != o.Mode || s.Size != o.Size || s.Hash != o.Hash && s.Hash != "" && o.Hash != ""
	}
	return s.Mode != o.Mode
}

// Unrestorable returns why the state cannot be restored, "" if it can.
func (s State) Unrestorable() string {
	switch {
	case s.NotKept != "":
		return s.NotKept
	case s.Exists() && !s.IsFile() && !s.IsDir() && !s.isLink():
		return "it was " + workspace.Describe(s.Mode.Type())
	}
	return ""
}

// Index has the state of surveyed entries, by absolute path.
type Index map[string]Entry

// Entry is a surveyed entry with the stamps that show a change.
type Entry struct {
	State
	Changed int64 `json:"m,omitempty"` // modification time in nanoseconds
	Stamped int64 `json:"c,omitempty"` // time of the last change of the inode, 0 where it is unknown
	// Recent says that the file changed so shortly before the survey that its next
	// change may leave the same times.
	Recent bool `json:"f,omitempty"`
}

// stableAge is the minimum age of a file whose next change is sure to change its times.
// Some file systems count in steps of two seconds.
const stableAge = 2100 * time.Millisecond

// unchanged reports whether the stamps of a file show no change since. exact does not trust
// a modification time alone, which programs can set.
func (e Entry) unchanged(now Entry, exact bool) bool {
	return !e.Recent && e.Mode.IsRegular() && e.Size == now.Size && e.Changed == now.Changed && e.Stamped == now.Stamped &&
		(e.Stamped != 0 || !exact) && (e.Hash != "") != (e.NotKept != "") // with both, the content could not be kept
}

// Changes returns the paths whose state differs in a later survey, sorted.
func (before Index) Changes(after Index) []string {
	var paths []string
	for path, e := range before {
		if e.Differs(after[path].State) {
			paths = append(paths, path)
		}
	}
	for path := range after {
		if _, ok := before[path]; !ok {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}
