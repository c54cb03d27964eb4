//go:build unix

package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// managedBinary builds the binary with a managed configuration at a path of the test.
// Nothing but the build sets that path.
func managedBinary(t *testing.T, file string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "zeph-acp")
	flags := fmt.Sprintf("-s -w -X main.managedFile=%s -X main.managedOwner=%d", file, os.Getuid())
	build := exec.Command("go", "build", "-o", out, "-trimpath", "-ldflags", flags, command)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, text)
	}
	return out
}

// TestManagedConfiguration checks that the administrator's file decides over the
// user's file, the environment, the command line and the client.
func TestManagedConfiguration(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "managed.toml")
	write(t, file, `[agent]
mode = "code"
[mcp]
startup_wait_secs = 1
[tools.policy]
enabled = true
default_effect = "allow"
[[tools.policy.rules]]
effect = "deny"
tool = "*"
paths = ["secrets"]
[[managed.mcp_servers]]
name = "good"
command = "/usr/bin/good"
`)
	program := managedBinary(t, file)
	root := home(t)
	rules := filepath.Join(root, "zeph", "mine.toml")
	write(t, rules, "[[rules]]\neffect = \"allow\"\ntool = \"*\"\n")
	a := launch(t, start{
		binary: program, root: root, args: []string{"--policy-file", rules},
		env:    []string{"ZEPH_TOOLS_POLICY_ENABLED=false", "ZEPH_AGENT_MODE=auto"},
		config: "[agent]\nmode = \"auto\"\n[tools.policy]\nenabled = false\n[[mcp.servers]]\nname = \"mine\"\ncommand = \"sh\"\n",
	})
	a.file("secrets/key", "k\n")
	a.initialize()
	s := a.openWith(stdioServer(t, "good", ""), stdioServer(t, "evil", ""))
	text := a.turnOf(s, "/read secrets/key")
	a.checkContains(text, "Denied by policy",
		"The MCP server evil is left out: "+file+" does not list it.",
		"The MCP server good is left out: "+file+" lists a server of that name with another command, url or environment.",
		"The MCP server mine is left out: "+file+" does not list it.")
	a.checkContains(a.turnOf(s, "/mcp"), "There are no MCP servers")
	a.request("1", "session/set_mode", fmt.Sprintf(`{"sessionId":%q,"modeId":"auto"}`, s))
	if f := a.answer("1"); f.Error == nil || f.Error.Code != -32602 {
		t.Errorf("a looser mode: %s", f.line)
	}
	a.accepted("2", "session/set_mode", fmt.Sprintf(`{"sessionId":%q,"modeId":"ask"}`, s))

	managed := func(args ...string) (string, error) {
		cmd := exec.Command(program, args...)
		cmd.Env, cmd.Dir = a.cmd.Env, a.dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	out, err := managed("config", "show")
	if err != nil || !strings.Contains(out, `mode = "code" # `+file+":2\n") || !strings.Contains(out, "[[managed.mcp_servers]]") {
		t.Errorf("config show: %v\n%s", err, out)
	}
	out, err = managed("config", "check")
	if err != nil || !strings.Contains(out, file+": ok\n") || !strings.Contains(out, `key "agent.mode": has no effect: `+file+" decides") {
		t.Errorf("config check: %v\n%s", err, out)
	}
	if out, err = managed("mcp", "test", "mine"); err == nil || !strings.Contains(out, "does not list it") {
		t.Errorf("mcp test: %v\n%s", err, out)
	}
	if out, err = managed("run", "--mode", "auto", "/bash true"); err == nil || !strings.Contains(out, "--mode") {
		t.Errorf("run --mode: %v\n%s", err, out)
	}
	if err := os.Chmod(file, 0o666); err != nil {
		t.Fatal(err)
	}
	if out, err = managed("run", "/bash true"); err == nil || !strings.Contains(out,
		"the managed configuration "+file+" cannot be used: it is writable by other users than root (mode 0666)") {
		t.Errorf("a file that everyone can write: %v\n%s", err, out)
	}
}
