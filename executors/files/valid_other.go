//go:build !linux && !darwin

package files

import (
	"io/fs"
	"time"
)

// statusChanged is not told by what is looked at here.
func statusChanged(fs.FileInfo) time.Time { return time.Time{} }
