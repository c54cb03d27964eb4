package process

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix" // capabilities are not in package syscall
)

// ownSession also makes the kernel kill the program when this process dies,
// however it does. Only the program itself: its children are in its hands.
func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// apart gives a helper a session of its own, out of the reach of signals for the
// group of this process.
func apart() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// shield takes from this thread, and from what it starts, the right of root to
// open the files and to change the memory of processes that do not let others in.
// This process is one, and its stdout is the stream to the client. It reports
// whether there was such a right. What a program started itself it can still
// trace. Reading memory is left to root, since that right is part of
// CAP_SYS_ADMIN, without which too much fails.
func shield() (had bool, err error) {
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var caps [2]unix.CapUserData
	if err := unix.Capget(&hdr, &caps[0]); err != nil {
		return false, fmt.Errorf("look at capabilities: %w", err)
	}
	const bit = 1 << unix.CAP_SYS_PTRACE
	bounded, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, unix.CAP_SYS_PTRACE, 0, 0, 0)
	if caps[0].Permitted&bit == 0 && (err != nil || bounded == 0 || unix.Geteuid() != 0) {
		return false, nil
	}
	_ = unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_SYS_PTRACE, 0, 0, 0) // else a program of root has it again
	caps[0].Effective &^= bit
	caps[0].Permitted &^= bit
	caps[0].Inheritable &^= bit
	if err := unix.Capset(&hdr, &caps[0]); err != nil {
		return true, fmt.Errorf("give up capabilities: %w", err)
	}
	return true, nil
}

// signalSession sends sig to every process of the session, 0 to none, and
// reports whether any was alive.
func signalSession(sid int, sig syscall.Signal) bool {
	syscall.Kill(-sid, sig) // the largest group at once: no fork gets away
	proc, err := os.Open("/proc")
	if err != nil {
		return syscall.Kill(-sid, 0) == nil
	}
	defer proc.Close()
	names, _ := proc.Readdirnames(-1)
	alive := false
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil || !inSession(pid, sid) || zombie(pid) {
			continue
		}
		syscall.Kill(pid, sig)
		alive = true
	}
	return alive
}

func inSession(pid, sid int) bool {
	got, _, errno := syscall.RawSyscall(syscall.SYS_GETSID, uintptr(pid), 0, 0)
	return errno == 0 && int(got) == sid
}

// zombie reports whether the process is dead already and only waits for its
// parent, which in a container may never come.
func zombie(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true // gone
	}
	_, state, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	return bytes.HasPrefix(state, []byte("Z")) || bytes.HasPrefix(state, []byte("X"))
}
