//go:build !linux

package headless

import "os"

// flush would forget what was typed but not read; that a person answers before
// the question is there is caught on Linux only.
func flush(*os.File) {}
