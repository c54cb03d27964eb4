package sandbox

import (
	"slices"

	"golang.org/x/sys/unix"
)

// boxCalls are refused in a box, besides changingCalls. They reach other processes, the kernel's
// keys, namespaces, or memory that no limit counts, and Landlock does not cover them.
// setsid(2) stays, since the child that becomes the command calls it.
var boxCalls = []uint32{
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PIDFD_GETFD, unix.SYS_KCMP, unix.SYS_PROCESS_MADVISE,
	unix.SYS_PROCESS_MRELEASE, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES,
	unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY,
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_FSOPEN, unix.SYS_FSPICK,
	unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_MOUNT_SETATTR,
	unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD, unix.SYS_FANOTIFY_INIT,
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL,
	unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
}

// signalCalls are refused in a box where Landlock does not scope signals.
var signalCalls = []uint32{
	unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO, unix.SYS_PIDFD_SEND_SIGNAL,
}

// absentCalls do not seem to exist in a box, so that programs use others: the filter does not see the
// arguments of clone3(2), nor what io_uring does.
var absentCalls = []uint32{unix.SYS_IO_URING_SETUP, unix.SYS_CLONE3, unix.SYS_MEMFD_CREATE, unix.SYS_MEMFD_SECRET}

// ownCalls change a process. In a box the argument with its number must be 0, which is the caller.
var ownCalls = []struct{ call, arg uint32 }{
	{unix.SYS_PRLIMIT64, 0}, {unix.SYS_SCHED_SETAFFINITY, 0}, {unix.SYS_SCHED_SETSCHEDULER, 0}, {unix.SYS_SCHED_SETPARAM, 0},
	{unix.SYS_SCHED_SETATTR, 0}, {unix.SYS_SETPRIORITY, 1}, {unix.SYS_IOPRIO_SET, 1},
}

// typingControls are the ioctl(2) requests with which a program types into a terminal.
var typingControls = []uint32{unix.TIOCSTI, unix.TIOCLINUX, unix.TIOCSCTTY, unix.TIOCCONS}

const newNamespaces = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWIPC |
	unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP

// boxFilter is the program for seccomp(2) of a box. writes reports whether programs may write files
// that are not temporary.
func boxFilter(arch uint32, abi int, writes bool) []unix.SockFilter {
	const (
		number, architecture = 0, 4 // offsets in struct seccomp_data
		firstArg             = 16   // each has 8 bytes, the low ones first
		x32                  = 0x40000000
	)
	refused := slices.Concat(changingCalls, boxCalls)
	if writes {
		refused = slices.DeleteFunc(refused, func(call uint32) bool { return slices.Contains(modeCalls, call) })
	}
	if abi < abiScope {
		refused = append(refused, signalCalls...)
	}
	var a assembler
	a.load(architecture)
	a.jump(unix.BPF_JEQ, arch, next, absent)
	a.load(number)
	a.jump(unix.BPF_JGE, x32, absent, next)
	for _, call := range absentCalls {
		a.jump(unix.BPF_JEQ, call, absent, next)
	}
	for _, call := range refused {
		a.jump(unix.BPF_JEQ, call, denied, next)
	}
	for _, own := range ownCalls {
		a.jump(unix.BPF_JEQ, own.call, next, 2)
		a.load(firstArg + 8*own.arg)
		a.jump(unix.BPF_JEQ, 0, allowed, denied)
	}
	a.jump(unix.BPF_JEQ, unix.SYS_CLONE, next, 2)
	a.load(firstArg)
	a.jump(unix.BPF_JSET, newNamespaces, denied, allowed)
	a.jump(unix.BPF_JEQ, unix.SYS_IOCTL, next, allowed)
	a.load(firstArg + 8)
	for _, control := range typingControls {
		a.jump(unix.BPF_JEQ, control, denied, next)
	}
	return a.finish()
}

// Targets of jumps besides a number of instructions to skip.
const (
	next    = 0
	allowed = -1
	denied  = -2
	absent  = -3
)

// assembler makes a program whose jumps may lead to its results.
type assembler struct {
	code  []unix.SockFilter
	jumps [][2]int // of each instruction
}

func (a *assembler) load(offset uint32) {
	a.code = append(a.code, unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset})
	a.jumps = append(a.jumps, [2]int{})
}

// jump compares the loaded word.
func (a *assembler) jump(compare uint16, with uint32, yes, no int) {
	a.code = append(a.code, unix.SockFilter{Code: unix.BPF_JMP | compare | unix.BPF_K, K: with})
	a.jumps = append(a.jumps, [2]int{yes, no})
}

// finish appends the results. A jump skips at most 255 instructions, which is enough.
func (a *assembler) finish() []unix.SockFilter {
	for i := range a.code {
		target := func(to int) uint8 {
			if to < 0 {
				to = len(a.code) - 1 - i - to - 1
			}
			return uint8(to)
		}
		a.code[i].Jt, a.code[i].Jf = target(a.jumps[i][0]), target(a.jumps[i][1])
	}
	ret := func(value uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: value} }
	return append(a.code, ret(unix.SECCOMP_RET_ALLOW),
		ret(unix.SECCOMP_RET_ERRNO|uint32(unix.EACCES)), ret(unix.SECCOMP_RET_ERRNO|uint32(unix.ENOSYS)))
}
