package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// TestNoPlaceToWrite has no directory for the agent's files, its temporary files, or
// both. It serves, names the loss, and keeps long outputs in memory.
func TestNoPlaceToWrite(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the directories below exist on Unix only")
	}
	const gone = "/proc/zeph" // also root cannot create it
	for name, tt := range map[string]struct {
		env  []string
		want []string // the user reads these
	}{
		"no home": {
			[]string{"ZEPH_HOME=", "HOME=" + gone},
			[]string{"Warning: This session is not being saved", "cannot be recorded in the audit log"},
		},
		"no HOME at all": {[]string{"ZEPH_HOME=", "HOME="}, []string{"Warning: no home directory", `"completed"`}},
		"no TMPDIR":      {[]string{"TMPDIR=" + gone}, []string{"no such file or directory", `"completed"`}},
		"neither":        {[]string{"ZEPH_HOME=" + gone, "HOME=" + gone, "TMPDIR=" + gone}, []string{"Warning: This session is not being saved"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakemodel.NewAnthropic(t, fakemodel.Answer(readsFile, printsHuge), fakemodel.Answer(fakemodel.Say("Done.")))
			told := oneTurn(t, p, start{env: append(p.Env(), tt.env...)})
			for _, want := range tt.want {
				if !strings.Contains(told, want) {
					t.Errorf("the user does not read %q:\n%.6000s", want, told)
				}
			}
		})
	}
}

// oneTurn runs a turn, which must end well, and returns the agent's frames.
func oneTurn(t *testing.T, p *fakemodel.Anthropic, s start) string {
	t.Helper()
	e := (&editor{}).start(t, s)
	e.file("a.txt", "a\n")
	e.file("long.txt", strings.Repeat("a line of a long output\n", 20_000))
	e.initialize()
	session := e.open()
	e.runTurn(session, "work")
	e.alive()
	return e.lines()
}

// TestNoBash works without bash, and without any shell.
func TestNoBash(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the programs below exist on Unix only")
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh here")
	}
	for name, tt := range map[string]struct {
		programs []string
		want     string
	}{
		"only sh":  {[]string{sh}, `"text":"one\n"`},
		"no shell": {nil, "No shell: neither bash nor sh is in PATH."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := home(t)
			bin := filepath.Join(root, "bin")
			for _, program := range tt.programs {
				link(t, program, filepath.Join(bin, filepath.Base(program)))
			}
			p := fakemodel.NewAnthropic(t, fakemodel.Answer(readsFile, fakemodel.Call("c2", "bash", map[string]any{"command": "echo one"})),
				fakemodel.Answer(fakemodel.Say("Done.")))
			if told := oneTurn(t, p, start{root: root, env: append(p.Env(), "PATH="+bin)}); !strings.Contains(told, tt.want) {
				t.Errorf("the user does not read %q:\n%.6000s", tt.want, told)
			}
		})
	}
}

func link(t testing.TB, target, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}
