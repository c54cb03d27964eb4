package rewind_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestMountedFile checks that a rewind restores files that cannot be replaced: a mount point, and
// one in a read-only directory.
func TestMountedFile(t *testing.T) {
	if os.Getenv("IN_NAMESPACE") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), "IN_NAMESPACE=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{
			Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
			UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
			GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		}
		out, err := cmd.CombinedOutput()
		if _, failed := err.(*exec.ExitError); err != nil && !failed {
			t.Skip("no namespaces here:", err)
		}
		if strings.Contains(string(out), "--- SKIP") {
			t.Skipf("%s", out)
		}
		if err != nil || !strings.Contains(string(out), "PASS") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	w := newWorld(t)
	path := func(name string) string { return filepath.Join(w.dir, name) }
	for _, name := range []string{"source", "f", "other", "ro/f"} {
		w.put(name, "old")
	}
	for _, m := range []struct {
		source, target string
		flags          uintptr
	}{
		{"source", "f", syscall.MS_BIND}, {"ro", "ro", syscall.MS_BIND}, {"other", "ro/f", syscall.MS_BIND},
		{"", "ro", syscall.MS_REMOUNT | syscall.MS_BIND | syscall.MS_RDONLY},
	} {
		if err := syscall.Mount(path(m.source), path(m.target), "", m.flags, ""); err != nil {
			t.Skip("no mounts here:", err)
		}
		if m.flags == syscall.MS_BIND {
			t.Cleanup(func() { _ = syscall.Unmount(path(m.target), syscall.MNT_DETACH) })
		}
	}
	turn := w.turn(func() { w.write("f", "new"); w.bash("x=1; echo new > ro/f") })
	for _, name := range []string{"source", "other"} {
		if got, _ := os.ReadFile(path(name)); !strings.HasPrefix(string(got), "new") {
			t.Fatalf("%s has %q", name, got)
		}
	}
	w.back(turn, "r")
	for _, name := range []string{"source", "f", "other", "ro/f"} {
		if got, _ := os.ReadFile(path(name)); string(got) != "old" {
			t.Errorf("%s has %q", name, got)
		}
	}
}
