//go:build !linux

package headless

import "os"

// flush does nothing: only on Linux is input discarded that was typed before the
// question appeared.
func flush(*os.File) {}
