package config

import (
	"io/fs"
	"os"
)

// Stamp identifies one state of a file; the zero Stamp stands for no file.
type Stamp struct{ fs.FileInfo }

// StampOf returns the present state of a file.
func StampOf(file string) Stamp {
	info, err := os.Stat(file)
	if err != nil {
		return Stamp{}
	}
	return Stamp{info}
}

// Missing reports whether there was no file.
func (s Stamp) Missing() bool { return s.FileInfo == nil }

// Same reports whether both are the same state of the same file.
func (s Stamp) Same(o Stamp) bool {
	if s.Missing() || o.Missing() {
		return s.Missing() == o.Missing()
	}
	return os.SameFile(s.FileInfo, o.FileInfo) && s.ModTime().Equal(o.ModTime()) && s.Size() == o.Size()
}
