package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/integration/fakeide"
	"github.com/zeph-acp/zeph-acp/integration/fakelsp"
	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// fakeServer is a configuration with a language server for files "*.fake". The server
// writes the methods that it receives to a file.
func fakeServer(t testing.TB, habit, methods string) string {
	t.Helper()
	return fmt.Sprintf("[tools.lsp]\nwait_ms = 10000\n[[lsp]]\nname = \"fake\"\ncommand = '%s'\nargs = ['%s', '%s', '%s']\nextensions = [\".fake\"]\n",
		testBinary(t), fakelsp.Argument, habit, methods)
}

// edit is the prompt that writes a file.
func edit(name, text string) string {
	return fmt.Sprintf(`/write {"path":%q,"content":%q}`, name, text)
}

// serverPID returns the process of the last server that was started, or 0.
func serverPID(methods string) int {
	text, _ := os.ReadFile(methods)
	all := regexp.MustCompile(`start (\d+)`).FindAllStringSubmatch(string(text), -1)
	if len(all) == 0 {
		return 0
	}
	pid, _ := strconv.Atoi(all[len(all)-1][1])
	return pid
}

// TestErrorsAfterAnEdit checks an edit with a language server: the question about the
// server, the result, the audit log, the end of the server, and the approval later.
func TestErrorsAfterAnEdit(t *testing.T) {
	t.Parallel()
	root := home(t)
	methods := filepath.Join(root, "methods")
	a := connect(t, start{root: root, config: fakeServer(t, "push", methods)})
	s := a.open()
	a.file("a.fake", "error: old\n")
	a.file("b.fake", "")
	updates, questions := a.turnAnswering(s, edit("a.fake", "error: old\nerror: new ghp_WOsW7yvSQC1UQ3cSSThJpxwTZ74h8NNp5cus\nbreaks b.fake: gone\n"),
		"allow_always")
	a.checkContains(updates, `[new diagnostics of fake: 2 errors]\na.fake:2:1: error: new `, `\nb.fake:1:1: error: gone [E1]`)
	shown := regexp.MustCompile(`error: new[^"]*`).FindString(updates[strings.LastIndex(updates, "new diagnostics"):])
	if strings.Contains(updates, "error: old [E1]") || strings.Contains(shown, "ghp_WOsW7") {
		t.Errorf("an old error or a credential is shown: %s", shown)
	}
	if len(questions) != 2 || !strings.Contains(questions[1].line, "Run the language server fake in this project?") || !strings.Contains(questions[1].line,
		fakelsp.Argument) {
		t.Errorf("the questions: %s", joinLines(questions))
	}
	a.checkContains(a.turnOf(s, "/status"), "Language servers: fake runs")
	var line struct{ Tool, Phase, Origin, Decision string }
	lines := a.auditLines()
	if err := json.Unmarshal([]byte(lines[len(lines)-1]),
		&line); err != nil || line.Tool != "diagnostics" || line.Phase != "verifier" || line.Origin != "agent" || line.Decision != "allow" {
		t.Errorf("the audit line %s", lines[len(lines)-1])
	}
	pid := serverPID(methods)
	if !alive(pid) {
		t.Errorf("the server %d does not run", pid)
	}
	a.closeSession(s)
	if alive(pid) {
		t.Errorf("the server %d runs after its session", pid)
	}
	a.stop()

	b := connect(t, start{root: root})
	updates, questions = b.turnAnswering(b.open(), edit("c.fake", "error: c\n"), "allow_once")
	if b.checkContains(updates, "c.fake:1:1: error: c"); len(questions) != 0 {
		t.Errorf("asked again: %s", joinLines(questions))
	}
	pid = serverPID(methods)
	b.stop()
	if alive(pid) {
		t.Errorf("the server %d runs after the agent", pid)
	}
}

// TestServersOfAKilledAgent kills the agent: its language servers end, too.
func TestServersOfAKilledAgent(t *testing.T) {
	t.Parallel()
	root := home(t)
	methods := filepath.Join(root, "methods")
	a := connect(t, start{root: root, config: fakeServer(t, "push", methods)})
	a.turnAnswering(a.open(), edit("a.fake", "error: x\n"), "allow_once")
	pid := serverPID(methods)
	a.kill()
	eventually(t, promptly, "the end of the server", func() bool { return !alive(pid) })
}

// TestServersThatFail edits with a server of each bad habit. The edit is done.
func TestServersThatFail(t *testing.T) {
	t.Parallel()
	for _, habit := range []string{"hangs", "silent", "deaf", "dies", "exits", "nonsense", "long", "flood", "huge", "questions"} {
		t.Run(habit, func(t *testing.T) {
			t.Parallel()
			root := home(t)
			config := strings.Replace(fakeServer(t, habit, filepath.Join(root, "methods")), "wait_ms = 10000", "wait_ms = 200", 1)
			a := connect(t, start{root: root, config: config})
			s := a.open()
			for _, text := range []string{"one\n", "two\n", "three\n"} {
				updates, _ := a.turnAnswering(s, edit("a.fake", text), "allow_once")
				if a.checkContains(updates, `"status":"completed"`); a.content("a.fake") != text || strings.Contains(updates, "new diagnostics") {
					t.Errorf("after %q the file is %q\n%s", text, a.content("a.fake"), updates)
				}
			}
		})
	}
}

// TestErrorsOfABuffer checks the errors of a text that only the editor's buffer has.
func TestErrorsOfABuffer(t *testing.T) {
	t.Parallel()
	root := home(t)
	e := (&ide{caps: fakeide.CanAll()}).begin(t, start{root: root, config: fakeServer(t, "push", filepath.Join(root, "methods"))})
	s := e.session()
	path := e.file("a.fake", "on disk\n")
	e.SetBuffer(path, "error: old\nunsaved\n")
	e.prompt(s, `/edit {"path":"a.fake","old_string":"unsaved","new_string":"error: new"}`)
	results := e.Results(s)
	text := ""
	for _, r := range results {
		text += fakeide.ShownText(r.Content)
	}
	if !strings.Contains(text, "[new diagnostics of fake: 1 error]\na.fake:2:1: error: new [E1]") || e.Buffer(path) != "error: old\nerror: new\n" {
		t.Errorf("%q, the buffer is %q", text, e.Buffer(path))
	}
}

// TestGatesOfTheCheck checks that rules and policies check the check after an edit.
func TestGatesOfTheCheck(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ config, audit string }{
		"rule": {"[[tools.permissions.diagnostics]]\npattern = \"*.fake\"\naction = \"deny\"\n", `"tool":"diagnostics"`},
		"policy": {
			"[tools.policy]\nenabled = true\ndefault_effect = \"allow\"\n[[tools.policy.rules]]\ntool = \"diagnostics\"\neffect = \"deny\"\n",
			`"gates":[{"gate":"policy","decision":"deny"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := home(t)
			a := connect(t, start{root: root, config: fakeServer(t, "push", filepath.Join(root, "methods")) + tt.config})
			updates, _ := a.turnAnswering(a.open(), edit("a.fake", "error: x\n"), "allow_once")
			if strings.Contains(updates, "new diagnostics") || a.content("a.fake") != "error: x\n" {
				t.Error(updates)
			}
			lines := a.auditLines()
			a.checkContains(lines[len(lines)-1], tt.audit, `"phase":"verifier"`, `"decision":"deny"`)
		})
	}
}

// TestHeadlessServers checks that a server starts without a terminal only with --yes, and
// that the other case is reported once.
func TestHeadlessServers(t *testing.T) {
	t.Parallel()
	root := home(t)
	methods := filepath.Join(root, "methods")
	write(t, filepath.Join(root, "zeph", "config.toml"), fakeServer(t, "push", methods))
	run := func(args ...string) string {
		cmd := exec.Command(binary, append([]string{"run", "--cwd", filepath.Join(root, "work")}, args...)...)
		cmd.Env = append(fakemodel.Alone, "PATH="+os.Getenv("PATH"), "HOME="+filepath.Join(root, "home"), "ZEPH_HOME="+filepath.Join(root, "zeph"))
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	const said = "The language server fake was not started, since no user could be asked"
	if out := run("--mode", "auto", edit("a.fake", "error: x\n")+"\n"+edit("a.fake", "error: y\n")); strings.Count(out, said) != 1 || serverPID(methods) != 0 {
		t.Errorf("without --yes:\n%s", out)
	}
	if out := run("--yes", edit("b.fake", "error: x\n")); !strings.Contains(out, "b.fake:1:1: error: x [E1]") || strings.Contains(out, said) {
		t.Errorf("with --yes:\n%s", out)
	}
	if pid := serverPID(methods); pid == 0 || alive(pid) {
		t.Errorf("the server %d runs after the run", pid)
	}
}

// TestPublicServers edits a project with each public server that is installed.
func TestPublicServers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		server, setup      string
		files              map[string]string
		name, before, want string
		after              string
	}{
		{
			"gopls", "go install golang.org/x/tools/gopls@latest",
			map[string]string{"go.mod": "module x\n\ngo 1.22\n", "b.go": "package x\n\nvar B = A() + 1\n"},
			"a.go", "package x\n\nfunc A() int { return 1 }\n", `a.go:3:26: error: `, "package x\n\nfunc A() string { return 1 }\n",
		},
		{
			"pyright-langserver", "npm install -g pyright", nil,
			"a.py", "def a() -> int:\n    return 1\n", `a.py:2:12: error: `, "def a() -> str:\n    return 1\n",
		},
		{
			"typescript-language-server", "npm install -g typescript-language-server typescript@5",
			map[string]string{"tsconfig.json": `{"compilerOptions":{"strict":true}}`},
			"a.ts", "export function a(): number { return 1 }\n", `a.ts:1:31: error: `, "export function a(): string { return 1 }\n",
		},
	} {
		t.Run(tt.server, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(tt.server); err != nil {
				t.Skipf("%s is not installed: %s", tt.server, tt.setup)
			}
			a := connect(t, start{config: "[tools.lsp]\nwait_ms = 10000\n"})
			s := a.open()
			for name, text := range tt.files {
				a.file(name, text)
			}
			a.file(tt.name, tt.before)
			// A cold server may be late: then its report comes with a later edit.
			for end := time.Now().Add(2 * patience); time.Now().Before(end); {
				for _, text := range []string{tt.after, tt.before} {
					if updates, _ := a.turnAnswering(s, edit(tt.name, text), "allow_once"); strings.Contains(updates, tt.want) {
						return
					}
				}
			}
			t.Errorf("no %q after many edits; %s", tt.want, a.turnOf(s, "/status"))
		})
	}
}
