package files

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// TestHardLinks checks that all names of a file keep its new content.
func TestHardLinks(t *testing.T) {
	b := newBench(t, map[string]string{"f": "old\n"})
	must(t, os.Link(b.path("f"), b.path("other")))
	for want, call := range map[string]struct {
		tool  string
		input in
	}{
		"new\n":       {"edit", in{"path": "f", "old_string": "old", "new_string": "new"}},
		"a new text.": {"write", in{"path": "other", "content": "a new text."}},
	} {
		must(t, os.WriteFile(b.path("f"), []byte("old\n"), 0o600))
		if call.tool == "write" {
			b.run("read", in{"path": "other"})
		}
		if res := b.run(call.tool, call.input); res.Failed || b.content("f") != want || b.content("other") != want {
			t.Errorf("%s: %s: f is %q, other is %q", call.tool, res.ForModel(), b.content("f"), b.content("other"))
		}
	}
	if entries, _ := os.ReadDir(b.dir); len(entries) != 2 {
		t.Errorf("left in the directory: %v", entries)
	}
}

// inNamespace runs the test again as another user in a namespace: 0 has the privilege to mount, any
// other user no privileges.
func inNamespace(t *testing.T, uid int) (inside bool) {
	t.Helper()
	if os.Getenv("IN_NAMESPACE") == t.Name() {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), "IN_NAMESPACE="+t.Name())
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: uid, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if _, failed := err.(*exec.ExitError); err != nil && !failed {
		t.Skip("no namespaces here:", err)
	}
	if err != nil || !strings.Contains(string(out), "PASS") {
		t.Errorf("%v\n%s", err, out)
	}
	if strings.Contains(string(out), "--- SKIP") {
		t.Skipf("%s", out)
	}
	return false
}

func mount(t *testing.T, source, target, kind string, flags uintptr, data string) {
	t.Helper()
	if err := syscall.Mount(source, target, kind, flags, data); err != nil {
		t.Skip("no mounts here:", err)
	}
	t.Cleanup(func() { must(t, syscall.Unmount(target, syscall.MNT_DETACH)) })
}

// TestMountedFile checks that a file that is a mount point can be changed, and so can one in
// a read-only directory.
func TestMountedFile(t *testing.T) {
	if !inNamespace(t, 0) {
		return
	}
	b := newBench(t, map[string]string{"f": "old\n", "source": "old\n", "ro/f": "old\n"})
	mount(t, b.path("source"), b.path("f"), "", syscall.MS_BIND, "")
	mount(t, b.path("ro"), b.path("ro"), "", syscall.MS_BIND, "")
	mount(t, b.path("source"), b.path("ro/f"), "", syscall.MS_BIND, "")
	if err := syscall.Mount("", b.path("ro"), "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, ""); err != nil {
		t.Skip("no read-only mounts here:", err)
	}
	for _, path := range []string{"f", "ro/f"} {
		must(t, os.WriteFile(b.path("source"), []byte("old\n"), 0o600))
		res := b.run("edit", in{"path": path, "old_string": "old", "new_string": "new"})
		if res.Failed || b.content("source") != "new\n" {
			t.Errorf("%s: %s, and the mounted file is %q", path, res.ForModel(), b.content("source"))
		}
	}
	if entries, _ := os.ReadDir(b.dir); len(entries) != 3 {
		t.Errorf("left in the directory: %v", entries)
	}
}

// TestUnwritableDirectory checks that a file can be changed if its directory cannot be written, and
// that its mode stays.
func TestUnwritableDirectory(t *testing.T) {
	if !inNamespace(t, 1000) { // modes do not limit root
		return
	}
	b := newBench(t, map[string]string{"d/f": "old\n", "d/g": "old\n"})
	must(t, os.Chmod(b.path("d/f"), 0o640))
	must(t, os.Chmod(b.path("d"), 0o555))
	t.Cleanup(func() { _ = os.Chmod(b.path("d"), 0o755) })
	if f, err := os.Create(b.path("d/new")); err == nil {
		f.Close()
		t.Skip("this user may write into any directory")
	}
	if res := b.run("edit", in{"path": "d/f", "old_string": "old", "new_string": "new"}); res.Failed || b.content("d/f") != "new\n" {
		t.Errorf("edit: %s, and the file is %q", res.ForModel(), b.content("d/f"))
	}
	b.run("read", in{"path": "d/g"})
	if res := b.run("write", in{"path": "d/g", "content": "longer than before\n"}); res.Failed || b.content("d/g") != "longer than before\n" {
		t.Errorf("write: %s, and the file is %q", res.ForModel(), b.content("d/g"))
	}
	if info, err := os.Stat(b.path("d/f")); err != nil || info.Mode() != 0o640 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if res := b.run("write", in{"path": "d/new", "content": "x\n"}); !res.Failed || !strings.Contains(res.ForModel(), "permission denied") {
		t.Errorf("a new file: %s", res.ForModel())
	}
	if entries, _ := os.ReadDir(b.path("d")); len(entries) != 2 {
		t.Errorf("left in the directory: %v", entries)
	}
}

// TestFullDisk checks that a file keeps its content if the new one does not fit.
func TestFullDisk(t *testing.T) {
	if !inNamespace(t, 0) {
		return
	}
	b := newBench(t, map[string]string{"d/f": "", "other": "old\n"})
	mount(t, "tmpfs", b.path("d"), "tmpfs", 0, "size=64k")
	must(t, os.WriteFile(b.path("d/f"), []byte("old\n"), 0o600))
	for _, linked := range []bool{false, true} {
		if linked {
			must(t, os.Link(b.path("d/f"), b.path("d/g")))
		}
		b.run("read", in{"path": "d/f"})
		res := b.run("write", in{"path": "d/f", "content": strings.Repeat("new\n", 20_000)})
		if !res.Failed || !strings.Contains(res.ForModel(), "no space left") || b.content("d/f") != "old\n" {
			t.Errorf("linked %v: %s, and the file is %.20q", linked, res.ForModel(), b.content("d/f"))
		}
		if entries, _ := os.ReadDir(b.path("d")); len(entries) > 2 {
			t.Errorf("left in the directory: %v", entries)
		}
	}
}
