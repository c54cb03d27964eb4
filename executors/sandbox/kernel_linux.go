package sandbox

import (
	"bytes"
	"os"
)

// thisKernel identifies the running kernel and what it shows of the file system. It differs on
// another machine, in a container, and in the sandbox of an editor.
func thisKernel() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	mounts, _ := os.Readlink("/proc/self/ns/mnt")
	return string(bytes.TrimSpace(boot)) + " " + mounts
}
