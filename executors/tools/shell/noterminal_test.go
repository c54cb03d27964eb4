package shell

import (
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// A program that would wait for keys is not started; one that is told what to do is.
func TestKeyless(t *testing.T) {
	for script, want := range map[string]string{
		"vim": "vim", "vi a.txt": "vi", "cd x && vim a": "vim", "sh -c 'view a'": "view", "env X=1 nvim a": "nvim", "script -q out": "script",
		"/usr/bin/vim a": "vim",
		"vim +qall":      "", "vim -es -c q a": "", "vim -c wq a": "", "nvim --headless": "", "vi --version": "", "script -qc ls /dev/null": "", "vim $ARGS": "",
		"npm run script": "", "echo vim": "", "service nginx status": "", "man vi": "", "vim '": "",
	} {
		e := New(nil, t.TempDir(), setting.Default[Config]())
		parsed := command.Parse(script, command.Shell{Dir: e.Root})
		f := e.refuseKeys(parsed)
		if got := f != nil; got != (want != "") || got && !strings.HasPrefix(f.Message, want+" waits for keys") {
			t.Errorf("%s: got %v, want a failure for %q", script, f, want)
		}
		if e.HasTerminal = true; e.refuseKeys(parsed) != nil {
			t.Errorf("%s is refused in a terminal with a person", script)
		}
	}
}

// The card of a refused command still shows it.
func TestKeylessCard(t *testing.T) {
	e := New(nil, t.TempDir(), setting.Default[Config]())
	card, err := e.Prepare(t.Context(), call(Tool, `{"command":"vim a.txt"}`))
	if err == nil || !strings.Contains(card.Title, "vim a.txt") {
		t.Errorf("%v, %q", err, card.Title)
	}
}

func TestComplaint(t *testing.T) {
	for text, want := range map[string]bool{
		"top: failed tty get\n": true,
		"stty: 'standard input': Inappropriate ioctl for device\n": true,
		"the input device is not a TTY\n":                          true,
		"Error: open terminal failed: not a terminal\n":            true,
		sshNotice + "\nHost key verification failed.\n":            false,
		"FAIL: not a title\n":                                      false,
		strings.Repeat("x", maxNoTerminalOutput) + " not a tty":    false,
	} {
		one, zero := 1, 0
		if got := (Output{Text: text, ExitCode: &one}).noTerminalNote() != ""; got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
		if (Output{Text: text, ExitCode: &zero}).noTerminalNote() != "" {
			t.Errorf("%q of a command that succeeded", text)
		}
	}
}

// People are shown the key of the limit that stopped a command, unless the call set it.
func TestLate(t *testing.T) {
	e := New(nil, t.TempDir(), setting.Default[Config]())
	got := e.timeoutFailure(&bashInput{Command: "go test ./..."}, e.Timeout).Result()
	const want = "`go test ./...` was stopped after 30 s (tools.shell.timeout), before it ended."
	if got.ForPeople() != want || strings.Contains(got.ForModel(), "tools.shell") {
		t.Errorf("got %q for people", got.ForPeople())
	}
	got = e.timeoutFailure(&bashInput{Command: "make", Timeout: 5}, 5*time.Second).Result()
	if got := got.ForPeople(); got != "`make` was stopped after 5 s, before it ended." {
		t.Errorf("got %q for people", got)
	}
}
