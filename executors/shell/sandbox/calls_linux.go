package sandbox

import (
	"slices"

	"golang.org/x/sys/unix"
)

// changingCalls are the system calls with effects that Landlock does not cover: on
// modes, owners, times and attributes of files, and before Linux 6.2 on their
// length. They include sockets, which lead to the network or to a local
// service. Pipes and socketpair(2) remain available.
var changingCalls = slices.Concat(olderChangingCalls, []uint32{
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_UTIMENSAT,
	unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT,
	unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT,
	unix.SYS_FILE_SETATTR, unix.SYS_TRUNCATE, unix.SYS_SOCKET,
})

// refuseCalls denies the calls to this thread and to the programs that it
// executes.
func refuseCalls(calls []uint32) error {
	return install(func(arch uint32) []unix.SockFilter { return callFilter(arch, calls) })
}

// callFilter is a program for seccomp(2) that answers the calls with EACCES.
// Like streamFilter it refuses io_uring and calls of other architectures.
func callFilter(arch uint32, calls []uint32) []unix.SockFilter {
	const (
		number, architecture = 0, 4 // offsets in struct seccomp_data
		x32                  = 0x40000000

		load = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		eq   = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		ge   = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		ret  = unix.BPF_RET | unix.BPF_K
	)
	n := uint8(len(calls)) // one instruction each; a jump skips at most 255
	filter := []unix.SockFilter{
		{Code: load, K: architecture},
		{Code: eq, K: arch, Jf: n + 4},
		{Code: load, K: number},
		{Code: ge, K: x32, Jt: n + 2},
		{Code: eq, K: unix.SYS_IO_URING_SETUP, Jt: n + 1},
	}
	for i, call := range calls {
		filter = append(filter, unix.SockFilter{Code: eq, K: call, Jt: n - uint8(i) + 1})
	}
	return append(filter,
		unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW},
		unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EACCES)},
	)
}
