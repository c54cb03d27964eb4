package shell

import (
	"bytes"
	"context"
	"errors"
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

// watch prepares the reading of files. Of several that have something, the
// returned function reads first which had it first: two goroutines would take
// them in the order that pleases the scheduler, and put an error message before
// the line that led to it.
func watch(files []*os.File) readFunc {
	if len(files) > 1 {
		if q, err := newQueue(files); err == nil {
			return q.read
		}
	}
	return func(ctx context.Context, sink func(int, []byte)) { readEach(ctx, files, sink) }
}

// queue is an epoll. Its list of ready files is in the order in which they became
// ready, provided that a file leaves the list when it is told: hence one-shot.
type queue struct {
	epoll *os.File // the runtime waits for it as for any other file
	fd    int
	files []syscall.RawConn
}

func newQueue(files []*os.File) (*queue, error) {
	fd, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	if err := syscall.SetNonblock(fd, true); err != nil {
		return nil, errors.Join(err, syscall.Close(fd))
	}
	q := &queue{epoll: os.NewFile(uintptr(fd), "epoll"), fd: fd}
	for i, f := range files {
		conn, err := f.SyscallConn()
		if err != nil {
			return nil, errors.Join(err, q.epoll.Close())
		}
		closed := conn.Control(func(fd uintptr) { err = q.arm(syscall.EPOLL_CTL_ADD, fd, i) })
		if err := errors.Join(closed, err); err != nil {
			return nil, errors.Join(err, q.epoll.Close())
		}
		q.files = append(q.files, conn)
	}
	return q, nil
}

// arm puts the file with index i into the list as soon as it has something.
func (q *queue) arm(op int, fd uintptr, i int) error {
	return syscall.EpollCtl(q.fd, op, int(fd),
		&syscall.EpollEvent{Events: syscall.EPOLLIN | syscall.EPOLLONESHOT, Fd: int32(i)})
}

func (q *queue) read(ctx context.Context, sink func(i int, chunk []byte)) {
	defer q.epoll.Close()
	defer context.AfterFunc(ctx, func() { q.epoll.SetReadDeadline(longAgo) })()
	ready, err := q.epoll.SyscallConn()
	if err != nil {
		return
	}
	buf := make([]byte, chunkSize)
	left := maxRest
	for open := len(q.files); open > 0 && left > 0; {
		var events [2]syscall.EpollEvent
		var n int
		err := ready.Read(func(fd uintptr) bool {
			n, _ = syscall.EpollWait(int(fd), events[:], 0)
			return n > 0
		})
		if err != nil { // ctx ended: what is there now is the rest
			left--
			if n, _ = syscall.EpollWait(q.fd, events[:], 0); n <= 0 {
				return
			}
		}
		for _, ev := range events[:n] {
			if !q.chunk(int(ev.Fd), buf, sink) {
				open--
			}
		}
	}
}

// chunk reads once from file i and reports whether there may be more.
func (q *queue) chunk(i int, buf []byte, sink func(i int, chunk []byte)) (more bool) {
	err := q.files[i].Read(func(fd uintptr) bool {
		n, err := syscall.Read(int(fd), buf)
		if n > 0 {
			sink(i, buf[:n])
		}
		again := err == syscall.EAGAIN || err == syscall.EINTR
		more = (n > 0 || again) && q.arm(syscall.EPOLL_CTL_MOD, fd, i) == nil
		return true
	})
	return more && err == nil
}
