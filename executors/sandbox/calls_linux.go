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

// modeCalls is the subset of changingCalls that changes modes and times. A program that writes
// files needs them, as git does for its settings.
var modeCalls = slices.Concat(olderModeCalls, []uint32{
	unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_UTIMENSAT,
})
