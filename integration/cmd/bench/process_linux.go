package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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

// treeTime returns the time that a process and its descendants have used, including those that
// have ended.
func treeTime(root int) (sum time.Duration) {
	for _, pid := range processTree(root) {
		sum += processorTime(pid)
		if fields := stat(pid); len(fields) > 14 {
			for _, ended := range fields[13:15] { // cutime and cstime
				ticks, _ := strconv.Atoi(ended)
				sum += time.Duration(ticks) * time.Second / 100 // USER_HZ
			}
		}
	}
	return sum
}

// resident returns the resident memory of a process in MiB.
func resident(pid int) float64 { return memory(pid, "status", "VmRSS:") }

// proportional returns the resident memory of a process in MiB. A page that n processes share
// counts as 1/n.
func proportional(pid int) float64 { return memory(pid, "smaps_rollup", "Pss:") }

// memory returns a figure of a file below /proc in MiB, or 0.
func memory(pid int, file, name string) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	if err != nil {
		return 0
	}
	_, line, _ := strings.Cut(string(text), "\n"+name)
	var kib float64
	if _, err := fmt.Sscan(line, &kib); err != nil {
		return 0
	}
	return kib / 1024
}

// processTree returns a process and all its descendants.
func processTree(root int) []int {
	parents := map[int]int{}
	files, _ := filepath.Glob("/proc/[0-9]*/stat") // the pattern is good
	for _, file := range files {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if fields := stat(pid); len(fields) > 1 {
			parents[pid], _ = strconv.Atoi(fields[1])
		}
	}
	tree := []int{root}
	for i := 0; i < len(tree); i++ {
		for pid, parent := range parents {
			if parent == tree[i] && !slices.Contains(tree, pid) {
				tree = append(tree, pid)
			}
		}
	}
	return tree
}

// stat returns the fields of /proc/PID/stat after the name of the program, or nil if the process
// has ended.
func stat(pid int) []string {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return strings.Fields(string(text)[strings.LastIndexByte(string(text), ')')+1:]) // a name may contain anything
}
