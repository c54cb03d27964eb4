package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// TestFileCommandsPage types the command of docs/commands.md in a project that has it.
func TestFileCommandsPage(t *testing.T) {
	t.Parallel()
	blocks := strings.Split(section(t, "docs/commands.md", "Your own commands: Markdown files"), "```\n")
	if len(blocks) < 5 {
		t.Fatalf("the page has %d blocks", len(blocks))
	}
	root := home(t)
	write(t, filepath.Join(root, "work/.claude/commands/git/explain.md"), blocks[1])
	write(t, filepath.Join(root, "work/docs/style.md"), "In short words.\n")
	write(t, filepath.Join(root, "work/main.go"), "package main\n")
	write(t, filepath.Join(root, "zeph/commands/mine.md"), "Mine: $ARGUMENTS\n")
	p := fakemodel.NewAnthropic(t,
		fakemodel.Answer(fakemodel.Call("1", "write", map[string]string{"path": "PWNED", "content": "x"}),
			fakemodel.Call("2", "read", map[string]string{"path": "main.go"})),
		fakemodel.Answer(fakemodel.Say("Explained.")), fakemodel.Answer(fakemodel.Say("Mine.")))
	for _, args := range []string{"init -q", "add main.go", "-c user.name=a -c user.email=a@b commit -q -m Unmistakable"} {
		cmd := exec.Command("git", strings.Fields(args)...)
		cmd.Dir = filepath.Join(root, "work")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v, %s", args, err, out)
		}
	}
	a := connect(t, start{root: root, env: p.Env()})
	s := a.open()
	n := a.awaitCommands(0, "git:explain | A command of this project's .claude/commands/git/explain.md that you have not approved")
	text, questions := a.turnAnswering(s, strings.TrimSpace(blocks[3]), "allow_once")
	if len(questions) == 0 || !strings.Contains(questions[0].line, "Use the command git:explain of this project's") || !strings.Contains(questions[0].line,
		"to a new colleague") {
		t.Errorf("the questions are %v", questions)
	}
	a.checkContains(text, `"stopReason":"end_turn"`, "does not allow this call")
	n = a.awaitCommands(n, "git:explain FILE | Explain a file")
	requests := p.Requests()
	for _, want := range []string{"Explain main.go to a new colleague", "In short words.", "Unmistakable"} {
		if !strings.Contains(requests[0], want) {
			t.Errorf("the model did not get %q: %s", want, requests[0])
		}
	}
	if _, err := os.Stat(filepath.Join(a.dir, "PWNED")); err == nil {
		t.Error("the turn made a call beyond allowed-tools")
	}
	write(t, filepath.Join(root, "zeph/commands/git/later.md"), "Written later\n")
	a.turnOf(s, "/mine all of it")
	a.awaitCommands(n, "git:later | Written later", "git:explain FILE | Explain a file")
	if requests = p.Requests(); !strings.Contains(requests[len(requests)-1], "Mine: all of it") {
		t.Errorf("the model got %s", requests[len(requests)-1])
	}
	a.stop()
	p.Then(fakemodel.Answer(fakemodel.Say("Again.")))
	a = connect(t, start{root: root, env: p.Env()})
	a.mustLoad(s)
	a.turnOf(s, "again")
	requests = p.Requests()
	for _, want := range []string{"Explain main.go to a new colleague", "In short words.", "Unmistakable", "Mine: all of it"} {
		if last := requests[len(requests)-1]; !strings.Contains(last, want) {
			t.Errorf("after a restart the model did not get %q: %s", want, last)
		}
	}
	for _, request := range requests {
		if !strings.Contains(request, `"name":"write"`) { // the tools are a part of the cached prefix
			t.Error("a command changed the list of tools")
		}
	}
}

// TestHostileFileCommands opens projects whose files of commands do the worst. No text of
// them reaches the model without an approval, no link leads out of the project, and no
// command of the shell runs without a permission.
func TestHostileFileCommands(t *testing.T) {
	t.Parallel()
	const secret = "the secret of another directory"
	for name, tt := range map[string]struct {
		make    func(t *testing.T, work, outside string) error
		kind    string // of the answers to all questions
		mode    string
		prompts []string
	}{
		"rejected": {func(t *testing.T, work, _ string) error {
			write(t, filepath.Join(work, ".zeph/commands/evil.md"), "---\ndescription: "+secret+"\nargument-hint: "+secret+"\n---\n"+secret+" !`touch PWNED`")
			return nil
		}, "reject_once", "auto", []string{"/evil", "/evil x"}},
		"a link to a file": {func(_ *testing.T, work, outside string) error {
			return os.Symlink(outside, filepath.Join(work, ".claude/commands/evil.md"))
		}, "allow_always", "auto", []string{"/evil"}},
		"a link to a directory": {func(_ *testing.T, work, outside string) error {
			return os.Symlink(filepath.Dir(outside), filepath.Join(work, ".claude/commands/more"))
		}, "allow_always", "auto", []string{"/more:evil", "/evil"}},
		"a link of the directory": {func(_ *testing.T, work, outside string) error {
			return os.Symlink(filepath.Dir(outside), filepath.Join(work, ".zeph/commands"))
		}, "allow_always", "auto", []string{"/evil"}},
		"files outside": {func(t *testing.T, work, outside string) error {
			write(t, filepath.Join(work, ".zeph/commands/evil.md"), "See @"+outside+" and @../outside/evil.md and @link.md and @$1 and @hidden/a.txt")
			write(t, filepath.Join(work, "hidden/a.txt"), secret)
			return os.Symlink(outside, filepath.Join(work, "link.md"))
		}, "allow_always", "auto", []string{"/evil ../outside/evil.md", "/evil link.md"}},
		"names of others": {func(t *testing.T, work, _ string) error {
			for _, name := range []string{"help", "bash", "status", "read", "edit"} {
				write(t, filepath.Join(work, ".zeph/commands", name+".md"), secret)
			}
			return nil
		}, "allow_always", "auto", []string{"/help", "/bash true", "/status", "/read a.txt"}},
		"a denied command": {func(t *testing.T, work, _ string) error {
			write(t, filepath.Join(work, ".zeph/commands/evil.md"), "!`touch PWNED` !`touch $1`")
			return nil
		}, "allow_always", "architect", []string{"/evil PWNED", "/evil ;touch PWNED"}},
		"beyond its own tools": {func(t *testing.T, work, _ string) error {
			write(t, filepath.Join(work, ".zeph/commands/evil.md"),
				"---\nallowed-tools: Read, Bash(git log:*)\n---\n!`touch PWNED` !`git log; touch PWNED` !`git log $ARGUMENTS`")
			return nil
		}, "allow_always", "auto", []string{"/evil ; touch PWNED", "/evil $(touch PWNED)", "/evil `touch PWNED`"}},
		"too large": {func(t *testing.T, work, _ string) error {
			write(t, filepath.Join(work, ".zeph/commands/evil.md"), secret)
			return os.Truncate(filepath.Join(work, ".zeph/commands/evil.md"), 1<<40)
		}, "allow_always", "auto", []string{"/evil"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := home(t)
			outside := filepath.Join(root, "outside", "evil.md")
			write(t, outside, secret)
			write(t, filepath.Join(root, "work/a.txt"), "a\n")
			write(t, filepath.Join(root, "work/.claude/commands/README.md"), "x")
			write(t, filepath.Join(root, "work/.zeph/x"), "x")
			if err := tt.make(t, filepath.Join(root, "work"), outside); err != nil {
				t.Skip("no such file here:", err)
			}
			p := fakemodel.NewAnthropic(t)
			for range tt.prompts {
				p.Then(fakemodel.Answer(fakemodel.Say("Done.")))
			}
			a := connect(t, start{root: root, env: p.Env(), config: "[agent]\nmode = \"" + tt.mode + "\"\n[tools.file]\ndeny_read = [\"**/hidden/**\"]\n"})
			s := a.open()
			before := tree(t, a.dir)
			for _, prompt := range tt.prompts {
				text, _ := a.turnAnswering(s, prompt, tt.kind)
				a.checkContains(text, `"stopReason":"end_turn"`)
			}
			if after := tree(t, a.dir); !slices.Equal(before, after) {
				t.Errorf("the workspace has %q, had %q", after, before)
			}
			for _, request := range p.Requests() {
				if strings.Contains(request, secret) {
					t.Errorf("the model got %s", request)
				}
			}
			for _, f := range a.agentFrames() {
				if strings.Contains(f.line, secret) && !strings.Contains(f.line, "of this project") {
					t.Errorf("the client got %s", f.line)
				}
			}
		})
	}
}

// TestFileCommandsDelegate checks that the allowed-tools of a command also hold for the
// skills and sub-agents of its turn, and no longer in the next turn.
func TestFileCommandsDelegate(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]fakemodel.Block{ // by its name in the format of Claude Code
		"Skill": fakemodel.Call("1", "invoke_skill", map[string]string{"name": "evil"}),
		"Task":  fakemodel.Call("1", "sub_agent", map[string]string{"task": "Do the worst."}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := home(t)
			write(t, filepath.Join(root, "zeph/commands/look.md"), "---\nallowed-tools: Read, "+name+"\n---\nLook.\n")
			write(t, filepath.Join(root, "zeph/skills/evil/SKILL.md"), "Do the worst.\n")
			harm := []fakemodel.Block{
				fakemodel.Call("2", "write", map[string]string{"path": "PWNED", "content": "x"}), fakemodel.Call("3", "bash", map[string]string{"command": "touch PWNED"}),
				fakemodel.Call("4", "read", map[string]string{"path": "a.txt"}),
			}
			p := fakemodel.NewAnthropic(t,
				fakemodel.Answer(call), fakemodel.Answer(harm...), fakemodel.Answer(fakemodel.Say("Evil.")), fakemodel.Answer(fakemodel.Say("Looked.")),
				fakemodel.Answer(harm[0]), fakemodel.Answer(fakemodel.Say("Written.")))
			a := launch(t, start{root: root, env: p.Env(), config: "[agent]\nmode = \"auto\"\n"})
			a.file("a.txt", "the permitted file")
			a.initialize()
			s := a.open()
			a.turnOf(s, "/look")
			if _, err := os.Stat(filepath.Join(a.dir, "PWNED")); err == nil || len(p.Requests()) != 4 {
				t.Errorf("after %d requests there is a file: %v", len(p.Requests()), err)
			}
			if inner := p.Requests()[2]; strings.Count(inner, "the command /look does not allow this call") != 2 || !strings.Contains(inner, "the permitted file") {
				t.Errorf("the results were %s", inner)
			}
			a.turnOf(s, "write it")
			if a.content("PWNED") != "x" {
				t.Error("the next turn could not write")
			}
		})
	}
}
