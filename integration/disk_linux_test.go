package integration

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// diskFault fails one of the directories that the agent writes to.
type diskFault struct {
	dir  string          // below the root
	call fakemodel.Block // the model's call meanwhile
	want string          // the user reads this meanwhile
	free int64           // bytes left on a full disk
}

// TestDiskFull fills the disk of each directory during a session. The agent names
// the loss, goes on, and stores everything once there is room.
func TestDiskFull(t *testing.T) {
	for name, tt := range map[string]diskFault{
		"database": {dir: "data", call: readsFile, want: "This session is not being saved"},
		"audit":    {dir: "state", call: readsFile, want: "cannot be recorded in the audit log"},
		"overflow": {dir: "data", call: printsLong, want: ", until the agent ends", free: 128 << 10},
		"spool":    {dir: "tmp", call: printsHuge, want: "no space left"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDiskSession(t, tt.dir)
			e := d.begin()
			s := e.open()
			d.turn(e, s, 1, readsFile)
			room := fill(t, d.disk, tt.free)
			d.turn(e, s, 2, tt.call).shows(t, tt.want, true)
			room()
			d.turn(e, s, 3, tt.call).shows(t, tt.want, false)
			e.quit()
			d.holds(s, e.shownTo(), 3)
		})
	}
}

// TestRewindAfterAFullDisk changes a file while its content cannot be kept. A rewind
// names the file, although the turn ended before there was room.
func TestRewindAfterAFullDisk(t *testing.T) {
	d := newDiskSession(t, "data")
	e := d.begin()
	s := e.open()
	d.turn(e, s, 1, readsFile)
	room := fill(t, d.disk, 0)
	d.turn(e, s, 2, fakemodel.Call("c1", "write", map[string]any{"path": "a.txt", "content": "changed\n"}))
	room()
	d.turn(e, s, 3, readsFile)
	e.checkContains(e.turnOf(s, "/rewind"), "prompt 2 (1 file changed)", "prompt 3 (no files changed)")
	e.checkContains(e.turnOf(s, "/rewind 2"), "a.txt: its content could not be kept: no space left on device")
}

// TestWorktreeOnAFullDisk delegates a task whose copy of the project has no room. The
// call fails with the cause, and nothing is left of the copy.
func TestWorktreeOnAFullDisk(t *testing.T) {
	d := newDiskSession(t, "state")
	write(t, filepath.Join(d.root, "config", "zeph-acp", "config.toml"), "[[agents]]\nname = \"fixer\"\nworktree = true\n")
	e := d.begin()
	e.repository(nil)
	s := e.open()
	room := fill(t, d.disk, 64<<10)
	d.turn(e, s, 1, fakemodel.Call("c1", "sub_agent", map[string]any{"task": "work", "type": "fixer"})).shows(t, "no space left on device", true)
	if left, err := filepath.Glob(filepath.Join(d.disk, "*", "worktrees", "*")); len(left) > 0 || err != nil {
		t.Errorf("it left %q, %v", left, err)
	}
	room()
	d.model.Then(fakemodel.Answer(fakemodel.Say("A report.")))
	e.checkContains(e.turnOf(s, `/sub_agent {"task":"work","type":"fixer"}`), "A report.")
}

// TestDiskReadOnly loads a session while the disk of a directory is read-only.
func TestDiskReadOnly(t *testing.T) {
	for name, tt := range map[string]diskFault{
		"database": {dir: "data", call: readsFile, want: "This session is not being saved"},
		"audit":    {dir: "state", call: readsFile, want: "cannot be recorded in the audit log"},
		"overflow": {dir: "data", call: printsLong, want: ", until the agent ends"},
		"spool":    {dir: "tmp", call: printsHuge, want: "read-only file system"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDiskSession(t, tt.dir)
			e := d.begin()
			s := e.open()
			d.turn(e, s, 1, readsFile)
			e.quit()
			remount(t, d.disk, syscall.MS_RDONLY)
			d.holds(s, e.shownTo(), 1)
			e = d.begin()
			e.mustLoad(s)
			d.turn(e, s, 2, tt.call).shows(t, tt.want, true)
			remount(t, d.disk, 0)
			eventually(t, patience, "the next write", func() bool { // a failure is repeated for some seconds
				return !strings.Contains(joinLines(d.turn(e, s, 3, readsFile)), "is not being saved")
			})
			e.quit()
		})
	}
}

// diskSession is a session whose data are in directories of their own, one of them on
// a disk of its own.
type diskSession struct {
	t     *testing.T
	model *fakemodel.Anthropic
	root  string
	disk  string
	env   []string
}

func newDiskSession(t *testing.T, dir string) *diskSession {
	d := &diskSession{t: t, root: home(t), model: fakemodel.NewAnthropic(t)}
	d.disk = filepath.Join(d.root, dir)
	smallDisk(t, d.disk)
	d.env = append(d.model.Env(), "ZEPH_HOME=")
	for _, kind := range []string{"data", "state", "config"} {
		d.env = append(d.env, "XDG_"+strings.ToUpper(kind)+"_HOME="+filepath.Join(d.root, kind))
	}
	write(t, filepath.Join(d.root, "work", "a.txt"), "a\n")
	write(t, filepath.Join(d.root, "work", "long.txt"), strings.Repeat("a line of a long output\n", 20_000))
	return d
}

// begin starts a process.
func (d *diskSession) begin() *editor {
	e := (&editor{}).start(d.t, start{root: d.root, env: d.env})
	e.initialize()
	return e
}

// shownFrames are frames that the user sees.
type shownFrames []frame

// turn runs a turn with one call of the model, which must end well.
func (d *diskSession) turn(e *editor, session string, n int, call fakemodel.Block) shownFrames {
	d.t.Helper()
	before := len(e.agentFrames())
	d.model.Then(fakemodel.Answer(call), fakemodel.Answer(fakemodel.Say(fmt.Sprintf("Answer %d.", n))))
	e.runTurn(session, fmt.Sprintf("prompt %d", n))
	return e.agentFrames()[before:]
}

// shows checks whether the user reads a text.
func (frames shownFrames) shows(t *testing.T, text string, want bool) {
	t.Helper()
	if all := joinLines(frames); strings.Contains(all, text) != want {
		t.Errorf("the user reads %q: %t\n%.8000s", text, !want, all)
	}
}

// holds loads the session in another process and compares it with its live view.
func (d *diskSession) holds(session string, live *shownSession, turns int) {
	d.t.Helper()
	e := d.begin()
	defer e.quit()
	replay := e.mustLoad(session)
	var prompts []string
	for n := range turns {
		prompts = append(prompts, fmt.Sprintf("prompt %d", n+1))
	}
	checkReplay(d.t, prompts, live, replay)
}

// TestCommandsOnAFullDisk runs each command that writes a file of the configuration
// while no byte can be written. It fails with the cause and leaves every file as it
// was. With room, it changes one.
func TestCommandsOnAFullDisk(t *testing.T) {
	const oldKey = "[agent]\nmax_tool_retries = 3\n"
	const servers = "[[mcp.servers]]\nname = \"docs\"\ncommand = \"docs\"\n\n[[mcp.servers]]\nname = \"web\"\ncommand = \"web\"\n"
	saved := map[string]string{"keys.toml": "ANTHROPIC_API_KEY = \"old\"\nOPENAI_API_KEY = \"old\"\n"}
	for line, files := range map[string]map[string]string{
		"config init":              nil,
		"config migrate":           {"config.toml": oldKey},
		"mcp add git -- git-mcp":   {"config.toml": servers},
		"mcp remove docs":          {"config.toml": servers},
		"login --provider claude":  saved,
		"logout --provider claude": saved,
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			root := home(t)
			dir := filepath.Join(root, "zeph")
			for name, text := range files {
				write(t, filepath.Join(dir, name), text)
			}
			before := contents(t, dir)
			run := func(limit string) (string, error) {
				cmd := exec.Command("sh", append([]string{"-c", "ulimit -f " + limit + `; exec "$@"`, "sh", binary}, strings.Fields(line)...)...)
				cmd.Env = append(slices.Clone(fakemodel.Alone), "PATH="+os.Getenv("PATH"), "HOME="+root, "ZEPH_HOME="+dir)
				cmd.Dir, cmd.Stdin = root, strings.NewReader("new\n")
				out, err := cmd.CombinedOutput()
				return string(out), err
			}
			if out, err := run("0"); err == nil || !strings.Contains(out, "file too large") {
				t.Errorf("on a full disk: %v %s", err, out)
			}
			if diff := cmp.Diff(before, contents(t, dir)); diff != "" {
				t.Errorf("on a full disk (-before +after):\n%s", diff)
			}
			if out, err := run("unlimited"); err != nil || cmp.Equal(before, contents(t, dir)) {
				t.Errorf("with room: %v %s", err, out)
			}
		})
	}
}

// contents returns the texts of the files in a directory, without empty ones such as
// locks.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if text := read(t, filepath.Join(dir, e.Name())); text != "" {
			texts[e.Name()] = text
		}
	}
	return texts
}

// smallDisk mounts a file system of 8 MiB at a directory.
func smallDisk(t testing.TB, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	err := syscall.Mount("none", dir, "tmpfs", 0, "size=8m,mode=700")
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		t.Skipf("no file system can be mounted here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
}

// remount changes the flags of a small disk.
func remount(t testing.TB, dir string, flags uintptr) {
	t.Helper()
	if err := syscall.Mount("none", dir, "tmpfs", syscall.MS_REMOUNT|flags, "size=8m"); err != nil {
		t.Fatal(err)
	}
}

// fill leaves that many bytes of a file system free. Its result makes room again.
func fill(t testing.TB, dir string, free int64) (room func()) {
	t.Helper()
	path := filepath.Join(dir, "filler")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var fs unix.Statfs_t
	if err := unix.Statfs(dir, &fs); err != nil {
		t.Fatal(err)
	}
	if err := unix.Fallocate(int(f.Fd()), 0, 0, int64(fs.Bavail)*fs.Bsize-free); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Remove(path); err != nil {
			t.Error(err)
		}
	}
}
