package app

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// HasDatabase reports whether there is a database of sessions yet; using the
// Store would make one. One that cannot be looked at counts: the Store tells why.
func (l *Loaded) HasDatabase() bool {
	if l.Paths.Data == "" {
		return false
	}
	_, err := os.Stat(filepath.Join(l.Paths.Data, storeFile))
	return !errors.Is(err, fs.ErrNotExist)
}
