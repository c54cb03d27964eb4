//go:build !linux && !darwin

package files

import (
	"io/fs"
	"time"
)

// statusChanged returns the zero time: the status change time is unknown on
// this system.
func statusChanged(fs.FileInfo) time.Time { return time.Time{} }
