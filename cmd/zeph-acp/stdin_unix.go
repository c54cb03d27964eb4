//go:build unix

package main

import (
	"io/fs"
	"os"
	"slices"

	"golang.org/x/sys/unix" // fcntl
)

// openStdin returns standard input as a file that the runtime polls, and a function that undoes
// that. A goroutine that reads a blocking pipe holds a P of the scheduler. The runtime's monitor
// wakes up about fifty times per frame before it takes the P back.
//
// A file whose mode could matter to others stays unchanged: a terminal, which the
// shell shares, and a socket that is standard output or standard error too.
func openStdin() (in *os.File, restore func()) {
	const fd = 0
	info, err := os.Stdin.Stat()
	also := func(f *os.File) bool {
		other, err := f.Stat()
		return err != nil || os.SameFile(info, other)
	}
	if err != nil || info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) == 0 || slices.ContainsFunc([]*os.File{os.Stdout, os.Stderr}, also) {
		return os.Stdin, func() {}
	}
	again, err := unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return os.Stdin, func() {}
	}
	_ = unix.SetNonblock(again, true) // otherwise NewFile does not poll it
	return os.NewFile(uintptr(again), os.Stdin.Name()), func() { _ = unix.SetNonblock(fd, false) }
}
