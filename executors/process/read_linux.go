package process

import (
	"context"
	"errors"
	"os"
	"syscall"
)

// newReadFunc prepares to read files. The returned function reads files in the order
// in which they became readable. Separate goroutines would read in the
// scheduler's order, which could put an error message before the line that
// caused it.
func newReadFunc(files []*os.File) readFunc {
	if len(files) > 1 {
		if q, err := newQueue(files); err == nil {
			return q.read
		}
	}
	return func(ctx context.Context, sink func(int, []byte)) { readEach(ctx, files, sink) }
}

// queue is an epoll instance. It lists ready files in the order in which they
// became ready, if a reported file leaves the list. So each is registered as
// one-shot.
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

// arm puts the file with index i into the list as soon as it is readable.
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
	chunksLeft := maxLateChunks
	for open := len(q.files); open > 0 && chunksLeft > 0; {
		var events [2]syscall.EpollEvent
		var n int
		err := ready.Read(func(fd uintptr) bool {
			n, _ = syscall.EpollWait(int(fd), events[:], 0)
			return n > 0
		})
		if err != nil { // ctx ended: read only the bytes written so far
			chunksLeft--
			if n, _ = syscall.EpollWait(q.fd, events[:], 0); n <= 0 {
				return
			}
		}
		for _, ev := range events[:n] {
			if !q.readChunk(int(ev.Fd), buf, sink) {
				open--
			}
		}
	}
}

// readChunk reads once from file i and reports whether there may be more.
func (q *queue) readChunk(i int, buf []byte, sink func(i int, chunk []byte)) (more bool) {
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
