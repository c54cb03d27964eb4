package store

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// awaitDeath leaves a zombie, like a parent that does not wait at once.
func awaitDeath(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
}

// look does not release the locks of this process's connections.
func TestLookKeepsLocks(t *testing.T) {
	path := newPath(t)
	db, _ := openAt(t, path)
	must(t, db, "s", true, "x")
	locks := func() (ours []string) {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		all, err := os.ReadFile("/proc/locks")
		if err != nil {
			t.Skip(err)
		}
		for line := range strings.Lines(string(all)) {
			if strings.Contains(line, fmt.Sprintf(":%d ", info.Sys().(*syscall.Stat_t).Ino)) {
				_, lock, _ := strings.Cut(line, ":")
				ours = append(ours, lock)
			}
		}
		return ours
	}
	before := locks()
	if len(before) == 0 {
		t.Skip("/proc/locks does not show them")
	}
	for _, mode := range []string{"mode=ro", "mode=ro&immutable=1"} {
		_ = inspectMode(path, mode, true) // the second mode does not see the WAL
		if after := locks(); !slices.Equal(before, after) {
			t.Errorf("%s: locks were %q, are %q", mode, before, after)
		}
	}
}

// unprivileged runs do as a user without permissions.
func unprivileged(t *testing.T, dir string, do func()) {
	t.Helper()
	if os.Geteuid() != 0 {
		do()
		return
	}
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { // the test's own directory, which the user must pass
		t.Fatal(err)
	}
	const nobody = 65534
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked, so the thread ends with the goroutine
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
