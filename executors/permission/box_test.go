package permission

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
)

// Without a box only commands that open literal files run without a question, and the reason of
// all others names the box.
func TestWithoutBox(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	project := filepath.Join(dir, "project")
	for _, name := range []string{"a.txt", "sub/b.txt"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(project, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(project, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"link": "a.txt", "linkdir": "sub"} {
		if err := os.Symlink(to, filepath.Join(project, name)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	r, err := workspace.New(project)
	if err != nil {
		t.Fatal(err)
	}
	for _, boxed := range []func() error{nil, func() error { return errors.New("it is too old") }} {
		why := errNoBox.Error()
		if boxed != nil {
			why = "it is too old"
		}
		for script, want := range map[string]string{
			"cat a.txt": "allow", "head -3 sub/b.txt | wc -l": "allow", "ls -la sub": "allow", "grep -n x a.txt": "allow", "pwd": "allow", "echo hi; date": "allow",
			"test -f a.txt && stat a.txt": "allow", "cat none": "allow", "cd sub && cat b.txt": "allow", "cat /dev/null": "allow", "git --help": "ask",
			"cat link": "ask", "cat linkdir/b.txt": "ask", "cd linkdir && ls": "ask", "wc -l < link": "ask", "cat *.txt": "ask",
			"for f in *; do cat \"$f\"; done": "ask", "git status": "ask", "go version": "ask", "rg x": "ask", "find .": "ask", "grep -r x .": "ask",
			"jq . a.txt": "ask", "awk 1 a.txt": "ask", "tail -f a.txt": "ask",
			"python3 --version": "ask", "cat $(echo a.txt)": "ask", "cat /etc/os-release": "block", "diff a.txt a.txt": "ask", "sleep 4; cat sub/b.txt": "ask",
			"npm ls": "ask",
		} {
			if runtime.GOOS == "windows" && strings.Contains(script, "/dev/") {
				continue
			}
			s := newSetup()
			s.boxed = boxed
			s.build()
			policy := s.perm.Policy
			g := &Guard{Policy: policy, Roots: r, Boxed: boxed}
			s.perm.Roots = r
			s.chain = executors.Chain(s.end, g.Middleware, s.perm.Middleware)
			call := bashIn(project, "/home/u", script)
			if got := s.outcome(t, call); got != want {
				t.Errorf("%q without a box: %s, want %s", script, got, want)
			}
			if want == "ask" && script != "git --help" && !strings.Contains(script, "cd linkdir") && !strings.Contains(script, "$") {
				d := permissionCheck{Permission: s.perm, ShellPolicy: policy.Load()}.decide(call, executors.Tool{Name: "bash"})
				if !strings.Contains(d.why, "box") || !strings.Contains(d.why, why) {
					t.Errorf("%q asks because %q", script, d.why)
				}
			}
		}
	}
}

// A command that opens files which it does not name asks beside commands that run outside of the
// box.
func TestBesideOtherCommands(t *testing.T) {
	for script, want := range map[string]string{
		"make; cat a.txt": "allow", "make | grep x | tail -3": "allow", "make; awk 1 a.txt": "allow", "make; ls *.go": "allow", "make; git log -1": "allow",
		"make; git diff": "ask", "make; grep -r x .": "ask", "cd sub && make && go list": "ask", "make; node --version": "ask", "make; cat $(ls)": "ask",
	} {
		s := newSetup()
		s.cfg.Permissions = map[string][]Rule{"bash": {{Pattern: "make", Action: Allow}, {Pattern: "git log*", Action: Allow}}}
		if got := s.build().outcome(t, bash(script)); got != want {
			t.Errorf("%s: %s, want %s", script, got, want)
		}
	}
}

// In a terminal that people see, a script must not spell a control sequence.
func TestControlSequences(t *testing.T) {
	for script, inTerminal := range map[string]string{`printf '\033]52;c;eA==\a'`: "ask", `echo -e '\x1b[2J'`: "ask", `printf '%s\n' a`: "allow",
		"cat a.txt": "allow"} {
		for _, terminal := range []bool{false, true} {
			want := "allow"
			if terminal {
				want = inTerminal
			}
			s := newSetup().build()
			s.perm.InTerminal = terminal
			if got := s.outcome(t, bash(script)); got != want {
				t.Errorf("%s, in a terminal %v: %s, want %s", script, terminal, got, want)
			}
		}
	}
}

// A command that only reads runs in the box after a question, too.
func TestBoxAfterQuestion(t *testing.T) {
	for script, want := range map[string]bool{"cat *.txt": true, "make": false} {
		s := newSetup()
		s.cfg.Permissions = map[string][]Rule{"bash": {{Pattern: "*", Action: Ask}}}
		s.user.give = []string{allowOnce}
		s.build()
		call := bash(script)
		s.do(t, call)
		if got := call.Plain != nil && call.Plain.ReadOnly; got != want {
			t.Errorf("%s: in the box %v, want %v", script, got, want)
		}
	}
}

// A gate that asks about a command that only reads does not take it out of the box: the user has not been
// told what a repository could make it run.
func TestBoxAfterQuestionOfGate(t *testing.T) {
	s := newSetup()
	s.user.give = []string{allowOnce}
	s.build()
	call := bash("git diff")
	call.Ask = []string{"flow: the project is not trusted"}
	s.do(t, call)
	if len(s.user.asked) != 1 || call.Plain == nil || !call.Plain.ReadOnly {
		t.Errorf("asked %q, ran in the form %+v; want one question, and the form for the box", s.user.asked, call.Plain)
	}
}

// A file outside the session's directories is asked about, and the command that the user allows then
// runs as written: the box would refuse the file.
func TestAskedOutsideFileIsRead(t *testing.T) {
	s := newSetup()
	s.shell.OutsidePaths = "ask"
	s.user.give = []string{allowOnce}
	s.build()
	call := bash("cat /srv/notes")
	s.do(t, call)
	if len(s.user.asked) != 1 || len(s.end.calls) != 1 || call.Plain != nil {
		t.Errorf("asked %q, ran %d calls, in the form %+v; want one question, and the command as written", s.user.asked, len(s.end.calls), call.Plain)
	}
}
