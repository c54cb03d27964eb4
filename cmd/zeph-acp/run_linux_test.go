package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors/sandbox"
)

// A command of "run" that needs no question runs in the box. One that fails there asks, which nobody
// answers here.
func TestRunInBox(t *testing.T) {
	if abi, why := sandbox.Available(); abi <= 0 {
		t.Skip(why)
	}
	base := t.TempDir()
	project := filepath.Join(base, "project")
	if out, err := exec.Command("git", "init", "-q", project).CombinedOutput(); err != nil {
		t.Skipf("%v\n%s", err, out)
	}
	for path, text := range map[string]string{filepath.Join(base, "outside"): "SECRET\n", filepath.Join(project, "a"): "b\na\nb\n"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../outside", filepath.Join(project, "link")); err != nil {
		t.Fatal(err)
	}
	commit := exec.Command("git", "-C", project, "-c", "user.name=n", "-c", "user.email=e@x", "commit", "-q", "--allow-empty", "-m", "first")
	if out, err := commit.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Chdir(project)
	t.Setenv("HOME", filepath.Join(base, "home"))
	t.Setenv("ZEPH_HOME", filepath.Join(base, "zeph"))
	t.Setenv("ZEPH_MODEL", "direct")
	for command, want := range map[string]struct {
		text string
		code int
	}{
		"sort a | uniq -c | sort -n": {"      1 a\n      2 b\n", 0},
		"git log --format=%s":        {"first\n", 0},
		"cat link":                   {"link: Permission denied", 1},
		"grep -c nothing a":          {"0\n", 1},
		"echo text; tail -n 1 a":     {"text\nb\n", 0},
	} {
		cmd := exec.Command("zeph-acp", "run", "--quiet", "/bash "+command)
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != want.code || !strings.Contains(string(out), want.text) || strings.Contains(string(out), "SECRET") {
			t.Errorf("%s: %v\n%s", command, err, out)
		}
	}
}

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
	p.sees("exit 3` failed")
	p.ends(3)
	if strings.Contains(p.screen.String(), "╭") {
		t.Errorf("a card in %q", p.screen.String())
	}
}

// In version 2 of the protocol a person answers forms and permission requests, adds a text to the turn, cancels it, and
// continues the session. What the agent's own terminal shows is in the card of its call.
func TestRunVersion2InTerminal(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	t.Chdir(dir)
	script := filepath.Join(home, "model.jsonl")
	if err := os.WriteFile(filepath.Join(home, "config.toml"), fmt.Appendf(nil, "[[llm.providers]]\ntype = \"script\"\nmodel = %q\n", script), 0o600); err != nil {
		t.Fatal(err)
	}
	model := func(text string) {
		if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	model(`{"tool":"ask_user","input":{"question":"Which port?","options":["80","8080"]}}

{"tool":"bash","input":{"command":"echo at work; until test -e go; do sleep 0.05; done; echo finished"}}

{"text":"I leave the tests alone."}

{"text":"I do."}
`)
	p := startInTerminal(t, home, "run", "--protocol", "v2", "work")
	p.sees("Which port?")
	p.sees("1-2, Enter for none: ")
	p.types("7\n") // no such answer
	p.types("2\n")
	p.sees("Another answer")
	p.types("\n")
	p.sees("The user answers: 8080")
	p.sees("Allow this?")
	p.types("y\n")
	p.sees("│ \x1b[0mat work")
	p.types("Leave the tests alone\n")
	if err := os.WriteFile("go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	p.sees("Added to the turn: Leave the tests alone")
	p.sees("continue with: zeph-acp run --continue")
	p.ends(0)
	if !strings.Contains(p.screen.String(), "finished") {
		t.Errorf("no output in %q", p.screen.String())
	}

	model(`{"tool":"bash","input":{"command":"echo begun; sleep 60"}}` + "\n")
	p = startInTerminal(t, home, "run", "--protocol", "v2", "--yes", "--continue", "more")
	p.sees("│ \x1b[0mbegun")
	p.types("\x03")
	p.sees("cancelled")
	p.ends(130)
}
