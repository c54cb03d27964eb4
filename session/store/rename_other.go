//go:build !linux

package store

import "os"

// renameNew gives a file a second name, and replaces no other file. The caller
// removes the first name.
func renameNew(from, to string) error { return os.Link(from, to) }
