//go:build !linux

package headless

import "os"

// discardTyped does nothing: only on Linux is input discarded that was typed before the
// question appeared.
func discardTyped(*os.File) {}
