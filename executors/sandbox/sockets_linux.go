package sandbox

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// architectures are those whose system calls the filter supports, by their
// names in seccomp. All of them are little-endian.
var architectures = map[string]uint32{
	"amd64":   unix.AUDIT_ARCH_X86_64,
	"arm64":   unix.AUDIT_ARCH_AARCH64,
	"riscv64": unix.AUDIT_ARCH_RISCV64,
}

// refuseStreams denies this thread, and the programs that it executes, all
// stream sockets except local ones. Landlock only checks bind(2) and
// connect(2). TCP can bypass both: sendto(2) with MSG_FASTOPEN connects,
// listen(2) works without bind(2), and there are multipath and other sockets. A
// kernel without seccomp has only Landlock.
func refuseStreams() error { return install(streamFilter) }

// install installs a seccomp filter for this thread.
func install(program func(arch uint32) []unix.SockFilter) error {
	arch, ok := architectures[runtime.GOARCH]
	if !ok {
		return nil
	}
	filter := program(arch)
	prog := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&prog)), 0, 0)
	runtime.KeepAlive(filter)
	if err != nil && !errors.Is(err, unix.EINVAL) {
		return fmt.Errorf("filter system calls: %w", err)
	}
	return nil
}

// streamFilter is a program for seccomp(2). It refuses all calls of other
// architectures, such as 32-bit programs, since their numbers differ.
func streamFilter(arch uint32) []unix.SockFilter {
	const (
		number, architecture = 0, 4 // offsets in struct seccomp_data
		domain, kind         = 16, 24
		x32                  = 0x40000000 // calls of amd64 with 32-bit pointers have this bit
		kindMask             = 0xf        // without SOCK_CLOEXEC and the like

		load = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS
		and  = unix.BPF_ALU | unix.BPF_AND | unix.BPF_K
		eq   = unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K
		ge   = unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K
		ret  = unix.BPF_RET | unix.BPF_K
	)
	return []unix.SockFilter{
		{Code: load, K: architecture},
		{Code: eq, K: arch, Jf: 9},
		{Code: load, K: number},
		{Code: ge, K: x32, Jt: 7},
		{Code: eq, K: unix.SYS_IO_URING_SETUP, Jt: 6}, // it makes sockets that the filter does not see
		{Code: eq, K: unix.SYS_SOCKET, Jf: 6},
		{Code: load, K: domain},
		{Code: eq, K: unix.AF_UNIX, Jt: 4},
		{Code: load, K: kind},
		{Code: and, K: kindMask},
		{Code: eq, K: unix.SOCK_STREAM, Jt: 2, Jf: 1},
		{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(unix.ENOSYS)},
		{Code: ret, K: unix.SECCOMP_RET_ALLOW},
		{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EACCES)},
	}
}
