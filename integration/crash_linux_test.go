package integration

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// TestKilledLeavesNothing kills the agent while a command with children runs, some
// of them in groups of their own. All of them end.
func TestKilledLeavesNothing(t *testing.T) {
	const script = `set -m; sleep 60 & a=$!; timeout 60 sleep 61 & b=$!; bash -c 'sleep 62 & sleep 63' & echo $$ $a $b $! > pids.new; mv pids.new pids; sleep 64`
	for name, input := range map[string]map[string]any{
		"foreground": {"command": script},
		"background": {"command": script, "background": true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Call("c1", "bash", input)), fakemodel.Answer(fakemodel.Say("It runs.")))
			e := (&ide{}).begin(t, start{env: p.Env()})
			e.startPrompt(e.session(), "run")
			pids := e.stubbornPIDs()
			all := children(pids)
			e.kill()
			e.waitGone(all)
		})
	}
}

// TestAgentIsClosed inspects the agent from an allowed command. The agent's memory
// has keys, and its stdout is the stream to the client. Only root can read the
// memory, since its other commands need that capability.
func TestAgentIsClosed(t *testing.T) {
	const peek = `for f in fd/1 exe cwd task/$PPID/fd/1; do readlink /proc/$AGENT/$f && echo OPEN $f; done
echo frame > /proc/$AGENT/fd/1 && echo OPEN for writing
[ $(id -u) = 0 ] || head -c 1 /proc/$AGENT/environ && [ $(id -u) != 0 ] && echo OPEN environment
echo looked as $(id -u)
`
	users := []int{os.Getuid()}
	if os.Getuid() == 0 {
		users = append(users, 65534)
	}
	for _, uid := range users {
		t.Run(strconv.Itoa(uid), func(t *testing.T) {
			dir, err := os.MkdirTemp("", "zeph-closed-") // unlike the test's directory, open to others
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(dir) })
			program, err := os.ReadFile(binary)
			if err != nil {
				t.Fatal(err)
			}
			err = errors.Join(os.WriteFile(filepath.Join(dir, "agent"), program, 0o755),
				os.WriteFile(filepath.Join(dir, "peek.sh"), []byte("AGENT=$(ps -o ppid= -p $PPID | tr -d ' ')\n"+peek), 0o644),
				os.Chmod(dir, 0o755), os.Chown(dir, uid, uid))
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(filepath.Join(dir, "agent"), "run", "--yes", "/bash bash peek.sh; true")
			cmd.Dir, cmd.Env = dir, append(slices.Clone(fakemodel.Alone), "PATH="+os.Getenv("PATH"), "ZEPH_HOME="+filepath.Join(dir, "zeph"), "HOME="+dir)
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
			out, err := cmd.CombinedOutput()
			if text := string(out); err != nil || strings.Contains(text, "OPEN") || !strings.Contains(text, "looked as "+strconv.Itoa(uid)) {
				t.Errorf("%v\n%s", err, text)
			}
		})
	}
}
