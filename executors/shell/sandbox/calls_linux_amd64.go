package sandbox

import "golang.org/x/sys/unix"

// oldChanges are system calls that newer architectures lack.
var oldChanges = []uint32{
	unix.SYS_CHMOD, unix.SYS_CHOWN, unix.SYS_LCHOWN, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT,
}
