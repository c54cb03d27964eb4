package store

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// awaitDeath leaves a zombie: its parent, an editor perhaps, may be in no hurry.
func awaitDeath(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
}

// unprivileged runs do as somebody whom permissions hold back.
func unprivileged(t *testing.T, dir string, do func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		do()
		return
	}
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { // that of the test: he must get through
		t.Fatal(err)
	}
	const nobody = 65534
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and no unlock: the thread ends with the goroutine
		_ = unix.Setfsuid(nobody)
		now, err := unix.SetfsuidRetUid(-1)
		if err == nil && now != nobody {
			err = unix.EPERM
		}
		if err == nil {
			do()
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Skipf("root is held back by no permission, and can't become somebody else here: %v", err)
	}
}
