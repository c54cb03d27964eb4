package main

import (
	"os/exec"
	"strings"
	"testing"
)

// Without a prompt --resume shows the session in a terminal, and asks for one.
func TestResumeInTerminal(t *testing.T) {
	t.Chdir(t.TempDir())
	home := t.TempDir()
	t.Setenv("ZEPH_HOME", home)
	t.Setenv("ZEPH_MODEL", "direct")
	if out, err := exec.Command("zeph-acp", "run", "/bash echo earlier").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p := startInTerminal(t, home, "run", "--continue")
	p.sees("earlier")
	p.sees("\n> ")
	p.types("/bash echo la''ter\n")
	p.sees("later")
	p.sees("continue with: zeph-acp run --continue")
	p.ends(0)

	p = startInTerminal(t, home, "run", "--continue")
	p.sees("later")
	p.sees("\n> ")
	p.types("\x04") // Ctrl-D
	p.sees("want a prompt")
	p.ends(2)

	p = startInTerminal(t, home, "run", "--quiet", "--yes", "/bash echo quiet $((40+2)); exit 3")
	p.sees("quiet 42")
	p.sees("the call failed")
	p.ends(3)
	if strings.Contains(p.screen.String(), "╭") {
		t.Errorf("a card in %q", p.screen.String())
	}
}
