package config

import (
	"io/fs"
	"os"
)

// Stamp tells one state of a file from another; that of no file is nil.
type Stamp struct{ fs.FileInfo }

func StampOf(file string) Stamp {
	info, err := os.Stat(file)
	if err != nil {
		return Stamp{}
	}
	return Stamp{info}
}

func (s Stamp) None() bool { return s.FileInfo == nil }

func (s Stamp) Same(o Stamp) bool {
	if s.None() || o.None() {
		return s.None() == o.None()
	}
	return os.SameFile(s.FileInfo, o.FileInfo) && s.ModTime().Equal(o.ModTime()) && s.Size() == o.Size()
}
