package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/zeph-acp/zeph-acp/executors/sandbox"
	"github.com/zeph-acp/zeph-acp/integration/fakeide"
)

// In an editor's terminal an unasked command runs in the box of this machine. Where the terminal is
// elsewhere, it runs here, and the next one asks no terminal any more. An allowed command is the
// user's own and runs as it is.
func TestBoxInTerminals(t *testing.T) {
	if abi, why := sandbox.Available(); abi <= 0 {
		t.Skip(why)
	}
	plain := func(program string, args []string) *exec.Cmd { return exec.Command(program, args...) }
	boxed := func(program string) bool { return filepath.Base(program) != "bash" }
	for name, tt := range map[string]struct {
		client string
		spawn  func(program string, args []string) *exec.Cmd
		want   string // the programs of the terminals, after a probe of the arguments
		state  string // a part of /status
	}{
		"on this kernel":         {"acpx", plain, "box box bash", ""},
		"on this kernel, probed": {"new-editor", plain, "bash box box bash", ""},
		"without the program":    {"acpx", func(p string, args []string) *exec.Cmd { return elsewhere(p, args, boxed) }, "box bash", "No such file"},
		"in a container":         {"acpx", inContainer, "box bash", "another machine"},
		"through a shell":        {"new-editor", throughShell, "bash", "join the arguments"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "in a container" && exec.Command("unshare", "-m", "true").Run() != nil {
				t.Skip("this user cannot make a mount namespace")
			}
			var mu sync.Mutex
			var programs []string
			spawn := func(program string, args []string) *exec.Cmd {
				mu.Lock()
				defer mu.Unlock()
				kind := "bash"
				if boxed(program) {
					kind = "box"
				}
				programs = append(programs, kind)
				return tt.spawn(program, args)
			}
			e := (&ide{caps: sdk.ClientCapabilities{Terminal: true}, name: tt.client, IDE: fakeide.IDE{Spawn: spawn}}).begin(t, start{})
			if err := os.WriteFile(filepath.Join(e.dir, "a.txt"), []byte("the text\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			s := e.session()
			for _, command := range []string{"cat a.txt", "cat missing.txt", "echo run >out.txt && cat out.txt"} {
				e.prompt(s, "/bash "+command)
			}
			var texts []string
			for _, r := range e.Results(s) {
				texts = append(texts, fakeide.ShownText(r.Content))
			}
			all := strings.Join(texts, "\n")
			for _, part := range []string{"the text", "missing.txt", "[exit 1]", "run"} {
				if !strings.Contains(all, part) {
					t.Errorf("the cards lack %q:\n%s", part, all)
				}
			}
			mu.Lock()
			if got := strings.Join(programs, " "); got != tt.want {
				t.Errorf("terminals ran %s, want %s", got, tt.want)
			}
			mu.Unlock()
			before := len(e.Text(s))
			e.prompt(s, "/status")
			if status := e.Text(s)[before:]; !strings.Contains(status, tt.state) {
				t.Errorf("status lacks %q:\n%s", tt.state, status)
			}
			if left, _ := filepath.Glob(filepath.Join(e.home, "box", "box-*")); len(left) > 0 {
				t.Errorf("files of launchers are left: %q", left)
			}
		})
	}
}

// elsewhere is a terminal without some programs.
func elsewhere(program string, args []string, missing func(string) bool) *exec.Cmd {
	if missing(program) {
		return exec.Command("bash", "-c", "echo 'bash: "+program+": No such file or directory'; exit 127")
	}
	return exec.Command(program, args...)
}

// inContainer starts programs in another mount namespace.
func inContainer(program string, args []string) *exec.Cmd {
	return exec.Command("unshare", append([]string{"-m", program}, args...)...)
}

// throughShell joins the arguments for a shell.
func throughShell(program string, args []string) *exec.Cmd {
	return exec.Command("sh", "-c", strings.Join(append([]string{program}, args...), " "))
}

// An editor ends a terminal by killing its process group. The command in the box has a session of
// its own, and ends too, with all its children.
func TestBoxInTerminalIsKilled(t *testing.T) {
	if abi, why := sandbox.Available(); abi <= 0 {
		t.Skip(why)
	}
	e := (&ide{caps: sdk.ClientCapabilities{Terminal: true}, name: "acpx"}).begin(t, start{})
	s := e.session()
	const mark = "98.7654" // seconds
	running := func() bool {
		lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		return slices.ContainsFunc(lines, func(file string) bool {
			text, _ := os.ReadFile(file)
			return strings.HasPrefix(string(text), "sleep\x00"+mark)
		})
	}
	e.prompt(s, `/bash {"command":"sleep `+mark+`; sleep `+mark+`; echo end","background":true}`)
	if len(e.Questions()) > 0 {
		t.Fatal("the command asks, so this test shows nothing")
	}
	eventually(t, promptly, "the command", running)
	e.prompt(s, `/bash_stop {"id":"bg1"}`)
	eventually(t, promptly, "the end of the command", func() bool { return !running() })
}
