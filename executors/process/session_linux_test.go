package process

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"
)

// A program of root cannot open the files of this process, although this test is dumpable, unlike
// the agent. In the second run the process has no CAP_SYS_PTRACE, as in a container.
func TestStdoutOfRoot(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("not root: only the dumpable flag protects the agent")
	}
	const inContainer = "TEST_WITHOUT_PTRACE"
	for range 20 { // also on the thread that would be the main one
		tryStdout(t)
	}
	if t.Failed() || os.Getenv(inContainer) != "" {
		return
	}
	ran := make(chan error)
	go func() {
		runtime.LockOSThread() // the thread ends with this goroutine
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_SYS_PTRACE, 0, 0, 0); err != nil {
			ran <- nil // this process may not drop it
			return
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestStdoutOfRoot$")
		cmd.Env = append(os.Environ(), inContainer+"=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("without CAP_SYS_PTRACE: %s", out)
		}
		ran <- err
	}()
	<-ran
}

func tryStdout(t *testing.T) {
	p, err := Start(Program{
		Path: "sh", Args: []string{"-c", "echo forged >/proc/$AGENT/fd/1 || readlink /proc/$AGENT/fd/1 || (echo forged >/proc/$AGENT/fd/1)"},
		Env: append(os.Environ(), "AGENT="+strconv.Itoa(os.Getpid())), Dir: "/", Tail: 1 << 10,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release()
	exit, err := p.Wait(t.Context())
	if text, _, _ := p.Output(); err != nil || exit.Code == nil || *exit.Code == 0 {
		t.Errorf("exit %+v, %v, output %q; want a failure", exit, err, text)
	}
}
