package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestCaseInsensitive works on a file system that ignores the case of names. A file
// has each spelling of its name, and so does a file that rules refuse or guard.
func TestCaseInsensitive(t *testing.T) {
	root := home(t)
	work := filepath.Join(root, "work")
	mountFolding(t, work)
	const secret = "hunter2-of-the-file"
	for name, text := range map[string]string{"notes.txt": "old\n", "hidden.txt": secret + "\n", ".git/config": "[core]\n"} {
		write(t, filepath.Join(work, name), text)
	}
	a := connect(t, start{root: root, config: "[agent]\nmode = \"auto\"\n[tools.file]\ndeny_read = [\"hidden.txt\"]\n"})
	session := a.open()
	for _, tt := range []struct{ prompt, want string }{ // want is in the last update of the call, which the user would reject
		{`/read NOTES.txt`, "old"},
		{`/edit {"path":"Notes.TXT","old_string":"old","new_string":"new"}`, "completed"},
		{`/move_path {"source":"notes.txt","destination":"NOTES.TXT"}`, ""},
		{`/read Notes.txt`, "new"},
		{`/read HIDDEN.txt`, "failed"},
		{`/edit {"path":"Hidden.txt","old_string":"hunter","new_string":"x"}`, "failed"},
		{`/copy_path {"source":"HIDDEN.TXT","destination":"copy.txt"}`, "failed"},
		{`/grep {"pattern":"hunter2","path":"HIDDEN.txt"}`, ""},
		{`/grep hunter2`, ""},
		{`/bash cat HIDDEN.txt`, "failed"},
		{`/write {"path":".GIT/config","content":"[core]\nfsmonitor = x\n"}`, "failed"},
		{`/delete_path .Git`, "failed"},
	} {
		from := len(a.agentFrames())
		a.turnAnswering(session, tt.prompt, "reject_once")
		last := ""
		for _, f := range a.agentFrames()[from:] {
			if u, ok := f.update(); ok && u.Status != "" {
				last = f.line
			}
		}
		if !strings.Contains(last, tt.want) || strings.Contains(last, secret) {
			t.Errorf("%s: want %q in\n%s", tt.prompt, tt.want, last)
		}
	}
	a.stop()
	if data, err := os.ReadFile(filepath.Join(work, ".git", "config")); err != nil || string(data) != "[core]\n" {
		t.Errorf(".git/config: %q, %v", data, err)
	}
}

// mountFolding mounts an empty file system at dir that ignores the case of names.
// Linux has several, and not every kernel all of them: the driver of NTFS is a
// program.
func mountFolding(t *testing.T, dir string) {
	t.Helper()
	image := filepath.Join(t.TempDir(), "image")
	script := `truncate -s 32M "$1" && mkntfs -q -Q -F "$1" >/dev/null && lowntfs-3g "$1" "$2" -o ignore_case,permissions`
	if out, err := exec.Command("sh", "-c", script, "sh", image, dir).CombinedOutput(); err != nil {
		t.Skipf("no file system here ignores the case of names (root and ntfs-3g are needed): %v %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "-l", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v %s", err, out)
		}
	})
}
