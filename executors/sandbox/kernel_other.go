//go:build !linux

package sandbox

import "os"

// thisKernel identifies the machine.
func thisKernel() string {
	name, _ := os.Hostname()
	return name
}
