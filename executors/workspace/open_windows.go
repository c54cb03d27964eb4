package workspace

import (
	"io/fs"
	"strings"
)

// nonblock is 0: the file system has no FIFOs.
const nonblock = 0

// sameName ignores case, as the file system does; clients disagree on the case
// of drive letters.
func sameName(a, b string) bool { return strings.EqualFold(a, b) }

// LinkID returns "": fs.FileInfo does not contain the number of links here.
func LinkID(fs.FileInfo) string { return "" }

// linked returns false: fs.FileInfo does not contain the number of links here.
func linked(fs.FileInfo) bool { return false }
