//go:build !unix

package headless

import "os"

// inForeground is true: only Unix has programs in the background of a terminal.
func inForeground(*os.File) bool { return true }
