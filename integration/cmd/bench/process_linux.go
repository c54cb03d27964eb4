package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// processorTime returns the time that a running process has used of all
// processors.
func processorTime(pid int) time.Duration {
	var t unix.Timespec
	const scheduled = 2 // CPUCLOCK_SCHED: both user and system time, in nanoseconds
	if err := unix.ClockGettime(int32(^pid<<3|scheduled), &t); err != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// resident returns the resident memory of a process in MiB.
func resident(pid int) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	_, line, _ := strings.Cut(string(text), "VmRSS:")
	var kib float64
	if _, err := fmt.Sscan(line, &kib); err != nil {
		return 0
	}
	return kib / 1024
}
