//go:build unix

package integration

import (
	"net"
	"path/filepath"
	"syscall"
	"testing"
)

// special creates FIFOs and sockets in dir.
func special(t testing.TB, dir string) {
	t.Helper()
	if err := syscall.Mkfifo(filepath.Join(dir, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
}
