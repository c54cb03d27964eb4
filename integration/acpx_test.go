package integration

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/integration/fakeide"
	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/machine"
)

// TestAcpx runs a turn with the public client acpx. ACPX_COMMAND has its command
// line, such as "npx -y acpx@0.19.1".
func TestAcpx(t *testing.T) {
	t.Parallel()
	acpx := acpxCommand(t)
	p := fakemodel.NewAnthropic(t,
		fakemodel.Answer(fakemodel.Say("Looking."), fakemodel.Call("c1", "read", map[string]any{"path": "a.txt"})),
		fakemodel.Answer(fakemodel.Call("c2", "edit", map[string]any{"path": "a.txt", "old_string": "old", "new_string": "new"})),
		fakemodel.Answer(fakemodel.Call("c3", "bash", map[string]any{"command": "./check.sh"})),
		fakemodel.Answer(fakemodel.Say("All of it is done.")),
	)
	a := &acpxClient{t: t, root: home(t), env: p.Env(), command: acpx}
	for path, text := range map[string]string{"a.txt": "old\n", "check.sh": "#!/bin/sh\ncat a.txt; echo checked $0\n"} {
		if err := os.WriteFile(filepath.Join(a.dir(), path), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	a.shows([]string{"Looking.", "All of it is done.", "checked", "end_turn"}, "--approve-all", "exec", "work on a.txt")
	if text := a.content("a.txt"); text != "new\n" {
		t.Errorf("the file holds %q", text)
	}
	if n := len(p.Requests()); n != 4 || !strings.Contains(p.Requests()[3], "checked ./check.sh") {
		t.Errorf("the model got %d requests", n)
	}
}

// TestAcpxSession uses rewind, steering, plan approval, commands of files and forks in a
// session of acpx, which has support for none of them.
func TestAcpxSession(t *testing.T) {
	t.Parallel()
	acpx := acpxCommand(t)
	plan := fakemodel.Answer(fakemodel.Call("c1", "exit_plan", map[string]any{"plan": "1. Move the parser."}))
	said := func(text string) fakemodel.Reply { return fakemodel.Answer(fakemodel.Say(text)) }
	p := fakemodel.NewAnthropic(t,
		fakemodel.Answer(fakemodel.Call("c1", "write", map[string]any{"path": "a.txt", "content": "new\n"})), said("Changed."),
		said("Steered."), plan, said("I keep planning."), plan, said("I begin."), said("Explained."), said("In the copy."),
	)
	a := &acpxClient{t: t, root: home(t), env: p.Env(), command: acpx}
	write(t, filepath.Join(a.dir(), "a.txt"), "old\n")
	write(t, filepath.Join(a.dir(), ".claude/commands/explain.md"), "Explain $1:\n\nas @$1\n")
	a.run("sessions", "new")
	defer a.run("sessions", "close")
	a.shows([]string{"Changed."}, "--approve-all", "prompt", "change a.txt")
	a.shows([]string{"Rewind the files to before turn 1? (failed)", "Nothing was changed, because this needs your approval.", "- restore `a.txt`"},
		"--deny-all", "prompt", "/rewind 1 files")
	a.shows([]string{"Rewind the files to before turn 1? (completed)", "Back to before turn 1: 1 file restored."}, "--approve-all", "prompt", "/rewind 1 files")
	if text := a.content("a.txt"); text != "old\n" {
		t.Errorf("after the rewind the file holds %q", text)
	}
	a.shows([]string{"Steered."}, "prompt", "/steer Leave the tests alone")
	a.shows([]string{"architect"}, "set-mode", "architect")
	a.shows([]string{"Carry out this plan?", "1. Move the parser.", "I keep planning."}, "--deny-all", "prompt", "plan it")
	a.shows([]string{"Carry out this plan? (completed)", "I begin."}, "--approve-all", "prompt", "plan it")
	a.shows([]string{"Use the command explain of this project's .claude/commands/explain.md? (completed)", "| as @$1", "Explained."}, "--approve-all", "prompt",
		"/explain a.txt")
	copied := a.run("prompt", "/fork")
	id := regexp.MustCompile("session `([-0-9a-f]+)`").FindStringSubmatch(copied)
	if id == nil {
		t.Fatalf("no copy: %s", copied)
	}
	a.run("sessions", "new", "--name", "copy", "--resume-session", id[1])
	defer a.run("sessions", "close", "copy")
	a.shows([]string{"In the copy."}, "prompt", "-s", "copy", "go on")
	if texts := lastTexts(p); !slices.Contains(texts, "Leave the tests alone") || !slices.Contains(texts, "Explained.") {
		t.Errorf("the copy's model has %q", texts)
	}
}

// acpxCommand returns the command line of acpx, or skips the test.
func acpxCommand(t *testing.T) []string {
	acpx := strings.Fields(os.Getenv("ACPX_COMMAND"))
	if len(acpx) == 0 {
		t.Skip(`needs Node and the network: ACPX_COMMAND="npx -y acpx@0.19.1" go test -run Acpx ./integration`)
	}
	return acpx
}

// acpxClient runs acpx with sessions of its own.
type acpxClient struct {
	t       *testing.T
	root    string
	env     []string
	command []string
}

func (a *acpxClient) dir() string { return filepath.Join(a.root, "work") }

func (a *acpxClient) content(name string) string {
	a.t.Helper()
	return read(a.t, filepath.Join(a.dir(), name))
}

// run returns what acpx prints.
func (a *acpxClient) run(args ...string) string {
	a.t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a.t.Context()), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, a.command[0], slices.Concat(a.command[1:], []string{"--ttl", "60", "--agent", binary}, args)...)
	cmd.Dir = a.dir()
	cmd.Env = append(os.Environ(), append(a.env, "ZEPH_HOME="+filepath.Join(a.root, "zeph"), "ZEPH_MODEL=", "ZEPH_CONFIG=",
		"HOME="+filepath.Join(a.root, "home"), "npm_config_cache="+filepath.Join(machine.Home(a.t), ".npm"))...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	fakeide.OwnGroup(cmd)
	cmd.Cancel = func() error { fakeide.KillGroup(cmd); return nil }
	if err := cmd.Run(); err != nil {
		a.t.Fatalf("acpx %q: %v\n%s\n%s", args, err, &stdout, &stderr)
	}
	a.t.Logf("acpx %q printed:\n%s\nand on stderr:\n%s", args, &stdout, &stderr)
	return stdout.String()
}

// shows runs acpx and checks for texts that it prints.
func (a *acpxClient) shows(texts []string, args ...string) {
	a.t.Helper()
	out := a.run(args...)
	for _, want := range texts {
		if !strings.Contains(out, want) {
			a.t.Errorf("acpx %q does not show %q", args, want)
		}
	}
}
