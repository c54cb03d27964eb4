package app

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/protocol-fixtures/commands"
)

// gatesOff switches every gate off that can be.
const gatesOff = `
[tools.trust]
enabled = false
[tools.information_flow]
enabled = false
[tools.anomaly]
enabled = false
[tools.hooks]
enabled = false
`

// gatesOn switches every gate on, with rules and a model that allow all calls.
const gatesOn = `
[tools.policy]
enabled = true
default_effect = "allow"
[[tools.policy.rules]]
effect = "allow"
tool = "*"
[tools.authorization]
enabled = true
[[tools.authorization.rules]]
effect = "allow"
tool = "*"
[tools.adversarial_policy]
enabled = true
policies = ["Allow everything."]
policy_provider = "judge"
exempt_tools = []
fail_open = true
[tools.judge]
provider = "judge"
[tools.trust.levels]
"tool:bash" = "trusted"
[tools.information_flow]
untrusted = ["*.eml"]
[tools.utility]
enabled = true
`

// allowingHook is a file of a hook that allows all calls.
const allowingHook = `{"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [{"type": "command",
	"command": "echo '{\"hookSpecificOutput\":{\"permissionDecision\":\"allow\"}}'"}]}]}}`

// strictness orders decisions. A call that is invalid cannot run at all.
var strictness = map[executors.Decision]int{executors.Allow: 1, executors.Ask: 2, executors.Deny: 3, Invalid: 4}

// TestGatesOnlyTighten checks the hostile and the daily commands with every gate off and
// with every gate on. No gate makes a decision weaker.
func TestGatesOnlyTighten(t *testing.T) {
	if testing.Short() {
		t.Skip("-short is for the race detector, and this test has one goroutine: run it without -short; TestAllowingGatesOnlyTighten has the concurrent gates")
	}
	const data = "../../../executors/permission/testdata"
	list, err := commands.Hostile(data)
	if err != nil {
		t.Fatal(err)
	}
	daily, err := commands.Daily(data)
	if err != nil {
		t.Fatal(err)
	}
	for mode, rules := range map[string]string{
		"code": "", "ask": "",
		"auto": "[[tools.permissions.bash]]\npattern = \"*\"\naction = \"allow\"\n",
	} {
		work := t.TempDir()
		off, on := checkerOf(t, work, mode, rules+gatesOff), checkerOf(t, work, mode, rules+gatesOn)
		on.Hooks = false // a program for each of the calls would take long
		counts := map[executors.Decision]int{}
		for i, s := range commands.Sample(append(list, daily...)) {
			if i%20 != 0 && !*long { // each check examines the box anew
				continue
			}
			input, err := json.Marshal(map[string]string{"command": s.Text})
			if err != nil {
				t.Fatal(err)
			}
			before, after := checkOf(t, off, "bash", input).Decision, checkOf(t, on, "bash", input).Decision
			counts[before]++
			if strictness[after] < strictness[before] {
				t.Errorf("mode %s: %q: %s with the gates off, %s with them on", mode, s.Text, before, after)
			}
		}
		t.Logf("mode %s: %v", mode, counts)
	}
}

// hostilePaths lead out of the workspace, to its settings or its secrets, or resemble
// paths that do.
var hostilePaths = []string{
	"a.txt",
	"free/a.txt",
	"nowhere/a.txt",
	".",
	"..",
	"/",
	"",
	" ",
	"~",
	"../out/secret",
	"a.txt/../../out/secret",
	"./free/../../out/secret",
	"/etc/passwd",
	"~/.ssh/id_ed25519",
	"~root/.bashrc",
	"link",
	"link/secret",
	"chain/secret",
	"file-link",
	"dangling",
	"loop",
	"free/up/out/secret",
	"/proc/self/environ",
	"/proc/self/cwd/../out/secret",
	"/dev/stdin",
	"/dev/null",
	".env",
	"./.env",
	"env-link",
	"free/.ENV",
	".git/config",
	".git/hooks/pre-commit",
	"free/../.git/HEAD",
	".zeph/config.toml",
	".claude/settings.json",
	".GIT/config",
	"．．/out/secret",
	"..∕out∕secret",
	"..\\out\\secret",
	"%2e%2e/out/secret",
	"file:///etc/passwd",
	".\u200bgit/config",
	"аdmin.eml",
	"a\nb",
	"a\x00b",
}

// hostileURLs have user information, an address that is not public, or resemble others.
var hostileURLs = []string{
	"https://example.com/",
	"http://example.com/",
	"https://user:pass@example.com/",
	"https://example.com@127.0.0.1/",
	"https://127.0.0.1@example.com/",
	"https://example.com\\@127.0.0.1/",
	"https://127.0.0.1#@example.com/",
	"https://127.0.0.1/",
	"https://127.1/",
	"https://2130706433/",
	"https://0x7f.1/",
	"https://0/",
	"https://localhost./",
	"https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/",
	"https://[::1]/",
	"https://[::ffff:127.0.0.1]/",
	"https://[64:ff9b::7f00:1]/",
	"https://10.0.0.1/",
	"https://192.168.1.1/",
	"https://169.254.169.254/latest/meta-data/",
	"https://metadata.google.internal/",
	"https://printer.local/",
	"https://router/",
	"https://exаmple.com/", "https://xn--exmple-4nf.com/", "https://example.com:22/", "file:///etc/passwd", "//example.com/", "", "https://",
}

// hostileCalls returns calls of the tools for files, of those for the web and of one of
// an MCP server.
func hostileCalls() (calls []executors.Call) {
	add := func(input map[string]any, tools ...string) {
		text, _ := json.Marshal(input)
		for _, tool := range tools {
			calls = append(calls, executors.Call{Tool: tool, Input: text})
		}
	}
	for _, path := range hostilePaths {
		add(map[string]any{"path": path}, "read", "list_directory", "create_directory", "delete_path", "evil__tool")
		add(map[string]any{"path": path, "pattern": "*"}, "grep", "find_path")
		add(map[string]any{"path": path, "content": "x"}, "write")
		add(map[string]any{"path": path, "old_string": "x", "new_string": "y"}, "edit")
		add(map[string]any{"source": path, "destination": "new.txt"}, "copy_path", "move_path")
		add(map[string]any{"source": "a.txt", "destination": path}, "copy_path", "move_path")
	}
	for _, url := range hostileURLs {
		add(map[string]any{"url": url}, "fetch", "evil__tool")
		add(map[string]any{"url": url, "select": "body"}, "web_scrape")
	}
	return calls
}

// hostileDir returns a directory to which hostilePaths belong.
func hostileDir(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	work := filepath.Join(root, "work")
	for _, dir := range []string{"out", "work/free", "work/.git/hooks", "work/.zeph"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"out/secret", "work/a.txt", "work/free/a.txt", "work/.env", "work/.git/HEAD", "work/.git/config"} {
		write(t, root, name, "x\n")
	}
	for link, target := range map[string]string{
		"link": "../out", "chain": "link", "file-link": "../out/secret", "dangling": "../out/new", "loop": "loop", "free/up": "../..", "env-link": ".env",
	} {
		if err := os.Symlink(target, filepath.Join(work, link)); err != nil {
			t.Skip("links cannot be created:", err)
		}
	}
	return work
}

// TestAllowingGatesOnlyTighten checks calls of other tools than bash with every gate off,
// and with every gate on while a hook, rules and a model allow all calls. The model of
// the mode auto-judge may answer a question, but not overrule a denial.
func TestAllowingGatesOnlyTighten(t *testing.T) {
	const rules = "[[tools.permissions.write]]\npattern = \"free/*\"\naction = \"allow\"\n[[tools.permissions.fetch]]\npattern = \"*\"\naction = \"allow\"\n" +
		"[tools.file]\ndeny_read = [\"**/.env\"]\n"
	work, calls := hostileDir(t), hostileCalls()
	for n, mode := range []struct{ off, on string }{{"ask", "ask"}, {"code", "code"}, {"auto", "auto"}, {"auto", "auto-judge"}} {
		off, on := checkerOf(t, work, mode.off, rules+gatesOff), checkerOf(t, work, mode.on, rules+gatesOn)
		counts, judged := map[executors.Decision]int{}, map[string]int{}
		for i, call := range calls {
			if i%4 != n { // a program runs for each call
				continue
			}
			before, after := checkOf(t, off, call.Tool, call.Input), checkOf(t, on, call.Tool, call.Input)
			counts[before.Decision]++
			for _, v := range after.Links {
				judged[v.Gate]++
			}
			answered := mode.on == "auto-judge" && before.Decision == executors.Ask
			if strictness[after.Decision] < strictness[before.Decision] && !answered {
				t.Errorf("mode %s: %s %s: %s with the gates off, %s with them on", mode.on, call.Tool, call.Input, before.Decision, after.Decision)
			}
		}
		for _, gate := range []string{"policy", "authorization", "hooks", "adversarial_policy"} {
			if judged[gate] == 0 {
				t.Errorf("mode %s: the gate %s judged no call", mode.on, gate)
			}
		}
		t.Logf("mode %s: %v, %v", mode.on, counts, judged)
	}
}

func checkerOf(t *testing.T, dir, mode, text string) *Checker {
	t.Helper()
	home := t.TempDir()
	judge := write(t, home, "judge.jsonl", strings.Repeat(`{"text": "ALLOW"}`+"\n\n", 5000))
	text += "[[llm.providers]]\ntype = \"direct\"\ndefault = true\n" + fmt.Sprintf("[[llm.providers]]\nname = \"judge\"\ntype = \"script\"\nmodel = %q\n", judge)
	file := write(t, home, "config.toml", text)
	write(t, home, "hooks.json", allowingHook)
	l, err := config.Load(config.Options{File: file, Environ: []string{"HOME=" + home, "ZEPH_HOME=" + home, "PATH=" + os.Getenv("PATH")}})
	if err != nil {
		t.Fatal(err)
	}
	c, err := New(l, slog.New(slog.DiscardHandler)).Checker(dir, mode)
	if err != nil {
		t.Fatal(err)
	}
	c.Hooks = true
	return c
}

func checkOf(t *testing.T, c *Checker, tool string, input json.RawMessage) Check {
	t.Helper()
	out, err := c.Check(t.Context(), tool, input)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
