package process

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix" // capabilities are not in package syscall
)

// ownSession also makes the kernel kill the program when this process dies for
// any reason. The kernel does not kill the children of the program.
func ownSession() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// helperSession puts a helper into its own session, which signals to the group of this
// process do not reach.
func helperSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// onMainThread reports whether this thread is the main one.
func onMainThread() bool { return unix.Gettid() == os.Getpid() }

// dropPtrace drops CAP_SYS_PTRACE from this thread and the programs that it starts.
// It reports whether the thread had the capability. With it, root can open the
// files and change the memory of undumpable processes. This process is one, and its
// stdout is the stream to the client. A program can still trace its own children.
// Root can still read memory through CAP_SYS_ADMIN, which too many programs need,
// or CAP_PERFMON.
//
// Undumpable is not the only wall: the kernel also refuses a program with fewer capabilities than
// this process (cap_ptrace_access_check). Where CAP_SYS_PTRACE is absent, as in most containers,
// CAP_MKNOD is dropped for that, which programs need least.
func dropPtrace() (had bool, err error) {
	hdr := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var caps [2]unix.CapUserData
	if err := unix.Capget(&hdr, &caps[0]); err != nil {
		return false, fmt.Errorf("read the capabilities: %w", err)
	}
	dropped := uintptr(unix.CAP_SYS_PTRACE)
	bounded, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, unix.CAP_SYS_PTRACE, 0, 0, 0)
	if caps[0].Permitted&(1<<dropped) == 0 && (err != nil || bounded == 0 || unix.Geteuid() != 0) {
		if dropped = unix.CAP_MKNOD; caps[0].Permitted&(1<<dropped) == 0 {
			return false, nil
		}
	}
	_ = unix.Prctl(unix.PR_CAPBSET_DROP, dropped, 0, 0, 0) // otherwise a program of root regains it
	bit := uint32(1) << dropped
	caps[0].Effective &^= bit
	caps[0].Permitted &^= bit
	caps[0].Inheritable &^= bit
	if err := unix.Capset(&hdr, &caps[0]); err != nil {
		return true, fmt.Errorf("drop the capabilities: %w", err)
	}
	return true, nil
}

// signalSession sends sig, unless it is 0, to every process of the session. It
// reports whether any process was alive.
func signalSession(sid int, sig syscall.Signal) bool {
	syscall.Kill(-sid, sig) // the largest group at once, so that no fork escapes
	members := sessionMembers(sid)
	if len(members) == 0 { // perhaps there is no /proc
		return syscall.Kill(-sid, 0) == nil
	}
	alive := false
	for _, pid := range members {
		if zombie(pid) {
			continue
		}
		syscall.Kill(pid, sig)
		alive = true
	}
	return alive
}

func inSession(pid, sid int) bool { return sessionOf(pid) == sid }

// sessionOf returns the session of a process; 0 if there is no such process.
func sessionOf(pid int) int {
	sid, _, errno := syscall.RawSyscall(syscall.SYS_GETSID, uintptr(pid), 0, 0)
	if errno != 0 {
		return 0
	}
	return int(sid)
}

// pipeName returns the name of a pipe, by which [writersTo] finds it in /proc. It is
// never used again.
func pipeName(pipe *os.File) string {
	info, err := pipe.Stat()
	if err != nil {
		return ""
	}
	return fmt.Sprintf("pipe:[%d]", info.Sys().(*syscall.Stat_t).Ino)
}

// writersTo returns the sessions of the processes whose stdout or stderr is a pipe.
func writersTo(pipe string) (sessions []int) {
	for _, fd := range []string{"1", "2"} {
		files, _ := filepath.Glob("/proc/[0-9]*/fd/" + fd)
		for _, file := range files {
			if to, err := os.Readlink(file); err != nil || to != pipe {
				continue
			}
			pid, _ := strconv.Atoi(strings.Split(file, "/")[2])
			sessions = append(sessions, sessionOf(pid))
		}
	}
	return sessions
}

// zombie reports whether the process is dead and only waits for its parent to
// reap it. In a container that may never happen.
func zombie(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return true // it no longer exists
	}
	_, state, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
	return bytes.HasPrefix(state, []byte("Z")) || bytes.HasPrefix(state, []byte("X"))
}
