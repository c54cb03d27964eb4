package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/zeph-acp/zeph-acp/integration/fakeide"
	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// apart is a configuration with a type of sub-agents that work in copies of the project.
const apart = subAgents + `[[agents]]
name = "fixer"
worktree = true
`

// repository makes the agent's workspace a git repository with these files.
func (a *agent) repository(files map[string]string) {
	a.t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		a.t.Skip("git is not installed")
	}
	for name, text := range files {
		a.file(name, text)
	}
	a.git("init", "-q")
	a.git("add", "-A")
	a.git("commit", "-q", "-m", "first")
}

// git runs git in the workspace.
func (a *agent) git(args ...string) string {
	a.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = a.dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME="+a.root, "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@x", "GIT_COMMITTER_NAME=a",
		"GIT_COMMITTER_EMAIL=a@x")
	out, err := cmd.CombinedOutput()
	if err != nil {
		a.t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// text returns the text of a file in the workspace, "" if there is none.
func (a *agent) text(name string) string {
	data, _ := os.ReadFile(filepath.Join(a.dir, name))
	return string(data)
}

// copiesLeft returns the names of the files in the directory of copies, and the patches
// among them.
func (a *agent) copiesLeft() (copies, patches []string) {
	entries, _ := os.ReadDir(filepath.Join(a.home, "worktrees"))
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".patch") {
			patches = append(patches, filepath.Join(a.home, "worktrees", e.Name()))
		} else {
			copies = append(copies, e.Name())
		}
	}
	return copies, patches
}

// bash returns a call of bash.
func bash(n int, command string) fakemodel.Block {
	return fakemodel.Call(fmt.Sprintf("c%d", n), "bash", map[string]string{"command": command})
}

// sharing returns a home for an agent, and a directory that all sub-agents may write.
func sharing(t *testing.T) (root, shared string) {
	root = home(t)
	shared = filepath.Join(root, "shared")
	if err := os.MkdirAll(shared, 0o700); err != nil {
		t.Fatal(err)
	}
	return root, shared
}

// TestWorktrees runs two sub-agents that change files. Each waits for the other in the
// midst of its work, so they work at the same time. The changes of both are in the
// project afterwards, and no copy is left.
func TestWorktrees(t *testing.T) {
	t.Parallel()
	root, shared := sharing(t)
	p := delegating(t, []task{{"task 1", "fixer"}, {"task 2", "fixer"}}, func(task string, n int) (fakemodel.Block, bool) {
		me, other := task[5:], map[string]string{"1": "2", "2": "1"}[task[5:]]
		switch n {
		case 0:
			return bash(n, "touch "+shared+"/at-"+me+"; until [ -e "+shared+"/at-"+other+" ]; do sleep 0.01; done"), true
		case 1:
			return fakemodel.Call("e", "edit", map[string]string{"path": "shared.txt", "old_string": "line " + me + "\n", "new_string": "changed by " + me + "\n"}), true
		case 2:
			return bash(n, "echo "+me+" > new-"+me+".txt; rm old-"+me+".txt; pwd; git status --short"), true
		}
		return fakemodel.Block{}, false
	})
	a := connect(t, start{root: root, env: p.Env(), config: apart + "[tools.shell]\nallowed_paths = [" + quote(shared) + "]\n"})
	a.repository(map[string]string{"shared.txt": "line 1\n3\n4\n5\n6\n7\nline 2\n", "old-1.txt": "1\n", "old-2.txt": "2\n"})
	_, questions := a.turnAnswering(a.open(), "work", "allow_once")
	if len(questions) != 4 { // each deletion, in the copy and in the project
		t.Errorf("%d questions", len(questions))
	}
	if got := a.text("shared.txt"); got != "changed by 1\n3\n4\n5\n6\n7\nchanged by 2\n" {
		t.Errorf("shared.txt: %q", got)
	}
	if status := a.git("status", "--short"); status != " D old-1.txt\n D old-2.txt\n M shared.txt\n?? new-1.txt\n?? new-2.txt\n" {
		t.Errorf("the project's status: %q\n%s", status, auditLog(t, a.home))
	}
	if copies, patches := a.copiesLeft(); len(copies)+len(patches) > 0 {
		t.Errorf("left: %q, %q", copies, patches)
	}
	if last := p.Requests()[len(p.Requests())-1]; !strings.Contains(last, "[merged with changes that the project got meanwhile: shared.txt]") {
		t.Errorf("the main model sees %s", last)
	}
}

// TestWorktreeOfAnEditor brings changes into an editor. They are merged with the unsaved
// text, and a change that the user rejects is kept as a patch.
func TestWorktreeOfAnEditor(t *testing.T) {
	t.Parallel()
	const numbers = "1\n2\n3\n4\n5\n"
	p := delegating(t, []task{{"task 1", "fixer"}}, func(_ string, n int) (fakemodel.Block, bool) {
		return bash(n, "echo one > n; tail -n +2 a.txt >> n; mv n a.txt; echo B > b.txt"), n == 0
	})
	e := &ide{caps: fakeide.CanAll()}
	e.Permit = func(q sdk.RequestPermissionRequest) sdk.PermissionOptionKind {
		if title := q.ToolCall.Title; title != nil && strings.Contains(*title, "b.txt") {
			return sdk.PermissionOptionKindRejectOnce
		}
		return sdk.PermissionOptionKindAllowOnce
	}
	e.begin(t, start{env: p.Env(), config: strings.Replace(apart, `"auto"`, `"code"`, 1)})
	e.repository(map[string]string{"a.txt": numbers, "b.txt": "b\n"})
	path := filepath.Join(e.dir, "a.txt")
	e.SetBuffer(path, numbers+"unsaved\n")
	e.prompt(e.session(), "work")
	if got := e.Buffer(path); got != "one\n2\n3\n4\n5\nunsaved\n" {
		t.Errorf("the buffer has %q", got)
	}
	if status := e.git("status", "--short"); status != "" { // the editor has not saved it
		t.Errorf("the project's status: %q", status)
	}
	_, patches := e.copiesLeft()
	if len(patches) != 1 {
		t.Fatalf("patches: %q", patches)
	}
	e.git("apply", patches[0])
	if e.text("b.txt") != "B\n" || e.text("a.txt") != numbers {
		t.Errorf("after the patch: %q, %q", e.text("b.txt"), e.text("a.txt"))
	}
}

// TestWorktreeRewind takes the changes of a sub-agent back.
func TestWorktreeRewind(t *testing.T) {
	t.Parallel()
	p := delegating(t, []task{{"task 1", "fixer"}}, func(_ string, n int) (fakemodel.Block, bool) {
		return bash(n, "echo A > a.txt; rm b.txt; mkdir d; echo c > d/c.txt"), n == 0
	})
	a := connect(t, start{env: p.Env(), config: apart})
	a.repository(map[string]string{"a.txt": "a\n", "b.txt": "b\n"})
	s := a.open()
	a.turnAnswering(s, "work", "allow_once")
	if status := a.git("status", "--short"); status != " M a.txt\n D b.txt\n?? d/\n" {
		t.Errorf("after the turn: %q", status)
	}
	a.turnAnswering(s, "/rewind 1 files", "allow_once")
	if status := a.git("status", "--short"); status != "" {
		t.Errorf("after the rewind: %q", status)
	}
}

// TestWorktreeExample runs the example of the documentation.
func TestWorktreeExample(t *testing.T) {
	t.Parallel()
	blocks := strings.Split(section(t, "docs/agents.md", "Worktrees"), "```")
	config, result := strings.TrimPrefix(blocks[1], "toml\n"), strings.Split(strings.TrimPrefix(blocks[3], "text\n"), "\n")
	p := delegating(t, []task{{"task 1", "fixer"}}, func(_ string, n int) (fakemodel.Block, bool) {
		return fakemodel.Call("c", "write", map[string]string{"path": []string{"calc.go", "calc_test.go", ""}[n], "content": "package calc\n"}), n < 2
	})
	a := connect(t, start{env: p.Env(), config: "[agent]\nmode = \"auto\"\n" + config})
	a.repository(map[string]string{"go.mod": "module calc\n"})
	text, _ := a.turnAnswering(a.open(), "work", "reject_once") // a language server may ask to run
	a.checkContains(text, "report of task 1\\n"+result[1])
	if got := a.text("calc.go") + a.text("calc_test.go"); got != "package calc\npackage calc\n" {
		t.Errorf("the project has %q", got)
	}
}

// TestWorktreesKilled kills the agent amid the work of two sub-agents. The next process
// removes the copies, keeps their changes, and changes nothing in the project.
func TestWorktreesKilled(t *testing.T) {
	t.Parallel()
	root, shared := sharing(t)
	p := delegating(t, []task{{"task 1", "fixer"}, {"task 2", "fixer"}}, func(task string, n int) (fakemodel.Block, bool) {
		switch n {
		case 0:
			return writeAt("new-" + task[5:] + ".txt"), true
		case 1:
			return bash(n, "touch "+shared+"/at-"+task[5:]+"; sleep 60"), true
		}
		return fakemodel.Block{}, false
	})
	a := connect(t, start{root: root, env: p.Env(), config: apart + "[tools.shell]\nallowed_paths = [" + quote(shared) + "]\n"})
	a.repository(map[string]string{"a.txt": "a\n"})
	s := a.open()
	a.request("2", "session/prompt", promptParams(s, "work"))
	for _, n := range []string{"1", "2"} {
		eventually(t, patience, "the state that is awaited", func() bool { _, err := os.Stat(filepath.Join(shared, "at-"+n)); return err == nil })
	}
	a.kill()
	a.waitExit(patience)
	if copies, _ := a.copiesLeft(); len(copies) == 0 {
		t.Error("the killed process had no copy")
	}
	b := connect(t, start{root: a.root, env: p.Env()})
	eventually(t, patience, "the state that is awaited", func() bool { copies, patches := a.copiesLeft(); return len(copies) == 0 && len(patches) == 2 })
	b.request("1", "session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, s, b.dir))
	if f := b.answer("1"); f.Error != nil {
		t.Fatal(f.line)
	}
	text := b.turnOf(s, "and now?")
	_, patches := a.copiesLeft()
	if status := a.git("status", "--short"); status != "" {
		t.Errorf("the project's status: %q", status)
	}
	for _, patch := range patches {
		b.checkContains(text, patch)
		a.git("apply", patch)
	}
	if status := a.git("status", "--short"); status != "?? new-1.txt\n?? new-2.txt\n" {
		t.Errorf("the project's status with the patches: %q", status)
	}
}

// TestWorktreeCancelled cancels a turn amid the work of a sub-agent. Its copy is removed,
// and its changes are kept as a patch whose path the user sees.
func TestWorktreeCancelled(t *testing.T) {
	t.Parallel()
	for name, child := range map[string]bool{"the turn": false, "the child": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, shared := sharing(t)
			p := delegating(t, []task{{"task 1", "fixer"}}, func(_ string, n int) (fakemodel.Block, bool) {
				if n == 0 {
					return writeAt("new.txt"), true
				}
				return bash(n, "touch "+shared+"/at; sleep 60"), true
			})
			a := launch(t, start{root: root, env: p.Env(), config: apart + "[tools.shell]\nallowed_paths = [" + quote(shared) + "]\n"})
			a.initialize(`{"subagents":{}}`)
			a.repository(map[string]string{"a.txt": "a\n"})
			s := a.open()
			a.request("2", "session/prompt", promptParams(s, "work"))
			eventually(t, patience, "a running command", func() bool { _, err := os.Stat(filepath.Join(shared, "at")); return err == nil })
			id, want := s, "cancelled"
			if child {
				id, want = a.childWith("task 1"), "end_turn"
			}
			a.send(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":` + quote(id) + "}}\n")
			if f := a.answer("2"); stopReason(f) != want {
				t.Error(f.line)
			}
			copies, patches := a.copiesLeft()
			if len(copies) > 0 || len(patches) != 1 || a.git("status", "--short") != "" {
				t.Fatalf("left: %q, %q; the project: %q", copies, patches, a.git("status", "--short"))
			}
			a.checkContains(a.lines(), patches[0])
			a.git("apply", patches[0])
			if a.text("new.txt") != "x" {
				t.Errorf("new.txt: %q", a.text("new.txt"))
			}
		})
	}
}

// TestWorktreeHostile runs hostile sub-agents that may run any command. None of them
// changes the project or its repository.
func TestWorktreeHostile(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		call   func(dir string) fakemodel.Block
		denied bool // the call itself must be denied
	}{
		"a command elsewhere": {func(dir string) fakemodel.Block { return bash(0, "cd "+dir+" && rm a.txt") }, true},
		"git elsewhere":       {func(dir string) fakemodel.Block { return bash(0, "git -C "+dir+" checkout -q -b other") }, true},
		"git by a variable":   {func(dir string) fakemodel.Block { return bash(0, "GIT_DIR="+dir+"/.git git branch other") }, true},
		"git by an option": {func(dir string) fakemodel.Block {
			return bash(0, "git --git-dir="+dir+"/.git config core.hooksPath /tmp")
		}, true},
		"a write elsewhere":    {func(dir string) fakemodel.Block { return writeAt(filepath.Join(dir, "a.txt")) }, true},
		"hooks of the project": {func(dir string) fakemodel.Block { return writeAt(filepath.Join(dir, ".git", "hooks", "pre-commit")) }, true},
		"its own settings": {func(string) fakemodel.Block {
			return bash(0, "git config core.hooksPath /tmp && git config core.fsmonitor 'touch ran'")
		}, false},
		"its own repository": {func(string) fakemodel.Block { return bash(0, "rm -rf .git/objects/info && git branch other") }, false},
		"a link out":         {func(dir string) fakemodel.Block { return bash(0, "ln -s "+dir+" out") }, true},
		"a link out, followed": {func(dir string) fakemodel.Block {
			return bash(0, "d=$(dirname "+strings.ReplaceAll(dir, "/", "''/")+"/x); ln -s $d out; echo x > out/a.txt")
		}, false},
		"a place in parts": {func(dir string) fakemodel.Block {
			return bash(0, "d=$(printf %s '"+dir[1:3]+"' '"+dir[3:]+"'); rm /$d/a.txt; git -C /$d branch other")
		}, true},
		"the lent objects": {func(string) fakemodel.Block {
			return bash(0, "cd $(cat .git/objects/info/alternates) && rm -rf ../hooks ../refs")
		}, false},
		"the other repository": {func(string) fakemodel.Block {
			return bash(0, "echo x > ../../$(basename $(dirname $PWD)).git/info/attributes")
		}, false},
		"zeph-acp's own settings": {func(dir string) fakemodel.Block {
			return writeAt(filepath.Join(filepath.Dir(dir), "zeph", "config.toml"))
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var dir string
			p := delegating(t, []task{{"task 1", "fixer"}}, func(_ string, n int) (fakemodel.Block, bool) { return tt.call(dir), n == 0 })
			a := launch(t, start{env: p.Env(), config: apart})
			dir = a.dir
			a.initialize()
			a.repository(map[string]string{"a.txt": "a\n"})
			before := a.git("config", "--list", "--local") + a.git("for-each-ref")
			hooks, _ := os.ReadDir(filepath.Join(a.dir, ".git", "hooks"))
			a.turnAnswering(a.open(), "work", "allow_once")
			if got := a.git("config", "--list", "--local") + a.git("for-each-ref"); got != before {
				t.Errorf("the repository has %q, before %q", got, before)
			}
			if after, _ := os.ReadDir(filepath.Join(a.dir, ".git", "hooks")); len(after) != len(hooks) {
				t.Errorf("hooks: %v", after)
			}
			if status := a.git("status", "--short"); status != "" || a.text("a.txt") != "a\n" {
				t.Errorf("the project's status: %q", status)
			}
			var e struct{ Result string }
			for _, line := range a.auditLines() {
				if strings.Contains(line, "/fixer-") && json.Unmarshal([]byte(line), &e) == nil {
					break
				}
			}
			if e.Result == "" || tt.denied != (e.Result == "denied") {
				t.Errorf("the result on record is %q\n%s", e.Result, auditLog(t, a.home))
			}
			if copies, _ := a.copiesLeft(); len(copies) > 0 {
				t.Errorf("left: %q", copies)
			}
		})
	}
}

// writeAt returns a call of write.
func writeAt(path string) fakemodel.Block {
	return fakemodel.Call("c0", "write", map[string]string{"path": path, "content": "x"})
}

// TestWorktreeRules checks that rules of the project hold in a copy, by whatever name
// they name its files.
func TestWorktreeRules(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		config string // DIR is the project
		call   fakemodel.Block
	}{
		"a rule for a path": {"[[tools.permissions.write]]\npattern = \"DIR/sub/*\"\naction = \"deny\"\n", writeAt("sub/a.txt")},
		"a relative rule":   {"[[tools.permissions.write]]\npattern = \"sub/*\"\naction = \"deny\"\n", writeAt("sub/a.txt")},
		"a rule for a command": {"[[tools.permissions.bash]]\npattern = \"rm *DIR/sub*\"\naction = \"deny\"\n[[tools.permissions.bash]]\npattern = \"*\"\n" +
			"action = \"allow\"\n", bash(0, "rm $PWD/sub/a.txt")},
		"a rule behind a link":    {"[[tools.permissions.write]]\npattern = \"DIR/sub/*\"\naction = \"deny\"\n", writeAt("link/a.txt")},
		"deny_read":               {"[tools.file]\ndeny_read = [\"DIR/sub/**\"]\n", fakemodel.Call("c", "read", map[string]string{"path": "sub/a.txt"})},
		"deny_read, by a command": {"[tools.file]\ndeny_read = [\"DIR/sub/**\"]\n", bash(0, "cat sub/a.txt")},
		"a policy": {"[tools.policy]\nenabled = true\ndefault_effect = \"allow\"\n[[tools.policy.rules]]\neffect = \"deny\"\ntool = \"*\"\npaths " +
			"= [\"DIR/sub/**\"]\n", writeAt("sub/a.txt")},
		"a policy, behind a link": {"[tools.policy]\nenabled = true\ndefault_effect = \"allow\"\n[[tools.policy.rules]]\neffect = \"deny\"\ntool = \"*\"\npaths " +
			"= [\"DIR/sub/**\"]\n", bash(0, "cat link/a.txt")},
		"a policy, with a command": {"[tools.policy]\nenabled = true\ndefault_effect = \"allow\"\n[[tools.policy.rules]]\neffect = \"deny\"\ntool = \"*\"\npaths " +
			"= [\"DIR/sub/**\"]\n", bash(0, "rm sub/a.txt")},
		"authorization": {"[tools.authorization]\nenabled = true\n[[tools.authorization.rules]]\neffect = \"deny\"\ntool = \"write\"\npaths = " +
			"[\"DIR/sub/*\"]\n", writeAt("sub/a.txt")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := home(t)
			config := strings.ReplaceAll(tt.config, "DIR", filepath.Join(root, "work"))
			p := delegating(t, []task{{"task 1", "fixer"}}, func(_ string, n int) (fakemodel.Block, bool) { return tt.call, n == 0 })
			a := connect(t, start{root: root, env: p.Env(), config: "[agent]\nmode = \"auto\"\n" + config + "[[agents]]\nname = \"fixer\"\nworktree = true\n"})
			a.file("sub/a.txt", "a\n")
			if err := os.Symlink("sub", filepath.Join(a.dir, "link")); err != nil {
				t.Skip(err)
			}
			a.repository(nil)
			a.turnAnswering(a.open(), "work", "allow_once")
			if status := a.git("status", "--short"); status != "" {
				t.Errorf("the project's status: %q", status)
			}
			if !slices.ContainsFunc(a.auditLines(), func(line string) bool {
				return strings.Contains(line, "/fixer-") && strings.Contains(line, `"result":"denied"`)
			}) {
				t.Errorf("no call was denied:\n%s", auditLog(t, a.home))
			}
		})
	}
}
