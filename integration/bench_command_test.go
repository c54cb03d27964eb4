package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestBenchCommand runs the command that measures everything, and checks that it
// fills each row of its table.
func TestBenchCommand(t *testing.T) {
	out, err := exec.Command("go", "run", "./cmd/bench", "-binary", binary, "-rounds", "1").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, row := range []string{"first session/new", "a read call", "bash call in the client's terminal", "resident after the work"} {
		if !strings.Contains(string(out), row) {
			t.Errorf("no row %q in\n%s", row, out)
		}
	}
}

// TestBenchPeers measures zeph-acp beside a program that answers nothing. The page gets the
// figures and the reason, and keeps its other text.
func TestBenchPeers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("needs a shell script in the place of another agent")
	}
	dir := t.TempDir()
	page, peer := filepath.Join(dir, "page.md"), filepath.Join(dir, "opencode")
	write(t, page, "before\n<!-- speed: written by go run ./integration/cmd/bench -peers -->\n<!-- end of speed -->\nafter\n")
	write(t, peer, "#!/bin/sh\necho no room >&2\nexit 3\n")
	if err := os.Chmod(peer, 0o700); err != nil {
		t.Fatal(err)
	}
	goTool, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "run", "./cmd/bench", "-binary", binary, "-rounds", "1", "-peers", "-parts", "speed", "-page", page, dir)
	cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(goTool)+":/usr/bin:/bin") // without agents that are installed
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text := read(t, page)
	for _, want := range []string{"before\n", "\n| zeph-acp | ", "\n- opencode was not measured: initialize: ", "no room", "\nafter\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}
