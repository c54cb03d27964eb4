//go:build unix

package main

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// nonblocking reports whether reads of the file do not block, for any process.
func nonblocking(t *testing.T, fd int) bool {
	t.Helper()
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	if err != nil {
		t.Fatal(err)
	}
	return flags&unix.O_NONBLOCK != 0
}

// The agent polls a pipe or a socket while it serves, and leaves it as it was. A socket
// that is also standard output stays as it is.
func TestStdinIsPolled(t *testing.T) {
	pair := func() (fds [2]int, err error) { return unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0) }
	pipe := func() (fds [2]int, err error) { return fds, unix.Pipe(fds[:]) }
	for name, tt := range map[string]struct {
		open   func() ([2]int, error)
		shared bool // it is standard output too
		want   bool
	}{"pipe": {pipe, false, true}, "socket": {pair, false, true}, "one socket for both": {pair, true, false}} {
		t.Run(name, func(t *testing.T) {
			fds, err := tt.open()
			if err != nil {
				t.Fatal(err)
			}
			unix.CloseOnExec(fds[1])
			in, far := os.NewFile(uintptr(fds[0]), "in"), os.NewFile(uintptr(fds[1]), "far end")
			defer in.Close()
			cmd := exec.CommandContext(t.Context(), "zeph-acp", "serve")
			cmd.Env = append(os.Environ(), "ZEPH_HOME="+t.TempDir())
			cmd.Stdin, cmd.Stderr = in, os.Stderr
			out := bufio.NewReader(far)
			if tt.shared {
				cmd.Stdout = in
			} else {
				stdout, err := cmd.StdoutPipe()
				if err != nil {
					t.Fatal(err)
				}
				out = bufio.NewReader(stdout)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := far.WriteString(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}` + "\n"); err != nil {
				t.Fatal(err)
			}
			if line, err := out.ReadString('\n'); err != nil || !strings.Contains(line, `"result"`) {
				t.Errorf("initialize was answered with %q, %v", line, err)
			}
			if got := nonblocking(t, fds[0]); got != tt.want {
				t.Errorf("while it serves, reads are non-blocking: %t, want %t", got, tt.want)
			}
			if tt.shared {
				err = unix.Shutdown(fds[1], unix.SHUT_WR)
			} else {
				err = far.Close()
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Wait(); err != nil {
				t.Fatalf("after the end of stdin, serve ended with %v", err)
			}
			if nonblocking(t, fds[0]) {
				t.Error("reads of stdin stay non-blocking after the end")
			}
		})
	}
}
