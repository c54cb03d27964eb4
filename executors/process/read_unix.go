//go:build unix

package process

import (
	"os"
	"syscall"
	"time"
)

// longAgo is a deadline in the past.
var longAgo = time.Unix(1, 0)

// stopWaiting makes reads of the pipes end as soon as they would wait.
func stopWaiting(files []*os.File) {
	for _, f := range files {
		f.SetReadDeadline(longAgo)
	}
}

// readBuffered reads the buffered bytes of a pipe, without waiting.
func readBuffered(f *os.File, buf []byte, sink func(chunk []byte)) {
	conn, err := f.SyscallConn()
	if err != nil {
		return
	}
	for range maxLateChunks {
		n := 0
		err := conn.Control(func(fd uintptr) { n, _ = syscall.Read(int(fd), buf) })
		if err != nil || n <= 0 {
			return
		}
		sink(buf[:n])
	}
}
