//go:build unix

package config

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/permission"
	"github.com/zeph-acp/zeph-acp/executors/tools/mcp"
)

// loadManaged loads a user's file below a managed one, which this user may own.
func loadManaged(t *testing.T, managed, user string, flags map[string]string, environ ...string) (*Loaded, error) {
	t.Helper()
	dir := t.TempDir()
	return Load(Options{
		File: write(t, dir, "config.toml", user), Flags: flags, Environ: append([]string{"HOME=" + dir}, environ...),
		Managed: ManagedFile{Path: write(t, dir, "managed.toml", managed), Owner: strconv.Itoa(os.Getuid())},
	})
}

// mustLoadManaged is loadManaged for files without mistakes.
func mustLoadManaged(t *testing.T, managed, user string, flags map[string]string, environ ...string) *Loaded {
	t.Helper()
	l, err := loadManaged(t, managed, user, flags, environ...)
	if err != nil {
		t.Fatalf("the files do not load:\n%s", mistakesOf(t, err))
	}
	return l
}

// A managed key wins over the file, the environment and the command line. A workspace
// may still tighten it.
func TestManaged(t *testing.T) {
	const managed = `[agent]
mode = "code"
max_tool_iterations = 7
[log]
level = "warn"
[tools.shell]
blocked_commands = ["npm publish"]
[[tools.permissions.bash]]
pattern = "git push*"
action = "deny"
`
	const user = `[agent]
mode = "auto"
max_tool_iterations_hard = 150
[tools.shell]
blocked_commands = []
timeout = 5
[[tools.permissions.bash]]
pattern = "*"
action = "allow"
[[tools.permissions.fetch]]
pattern = "docs.rs"
action = "allow"
`
	l := mustLoadManaged(t, managed, user, map[string]string{"log.level": "debug"}, "ZEPH_AGENT_MAX_TOOL_ITERATIONS=99", "ZEPH_TOOLS_SHELL_TIMEOUT=6")
	c := l.Config
	if c.Agent.Mode != "code" || c.Agent.MaxToolIterations != 7 || c.Log.Level != "warn" || c.Tools.Shell.Timeout != 6 || c.Agent.MaxToolIterationsHard != 150 ||
		!slices.Equal(c.Tools.Shell.BlockedCommands, []string{"npm publish"}) {
		t.Errorf("agent %+v, shell %+v, log %+v: want the managed keys, and the others as the user set them", c.Agent, c.Tools.Shell, c.Log)
	}
	if bash := c.Tools.Permissions["bash"]; len(bash) != 1 || bash[0].Action != permission.Deny || len(c.Tools.Permissions["fetch"]) != 1 {
		t.Errorf("permissions %+v, want the managed rule for bash and the user's for fetch", c.Tools.Permissions)
	}
	for key, want := range map[string]bool{"agent.mode": true, "log": true, "tools.shell.timeout": false} {
		if got := l.IsManaged(key); got != want {
			t.Errorf("IsManaged(%q) = %t, want %t", key, got, want)
		}
	}
	var shown strings.Builder
	if err := l.Show(&shown); err != nil || !strings.Contains(shown.String(), `mode = "code" # `+l.ManagedFile()+":2\n") || !strings.Contains(shown.String(),
		`pattern = "git push*" # `+l.ManagedFile()+":9\n") {
		t.Errorf("Show: %v, want the origins of the mode and of the rule in\n%s", err, shown.String())
	}
	f := l.Check(t.TempDir(), "", nil)
	for _, key := range []string{"agent.mode", "agent.max_tool_iterations", "log.level", "tools.shell.blocked_commands"} {
		if !slices.ContainsFunc(f.Warnings, func(w string) bool {
			return strings.HasSuffix(w, `key "`+key+`": has no effect: `+l.ManagedFile()+" decides")
		}) {
			t.Errorf("no warning about %s: %q", key, f.Warnings)
		}
	}
	dir := t.TempDir()
	write(t, dir, WorkspaceFile, "[agent]\nmode = 'ask'\nmax_tool_iterations = 8\n")
	tight, warnings := Tighten(c, dir)
	if tight.Agent.Mode != "ask" || tight.Agent.MaxToolIterations != 7 || len(warnings) != 1 {
		t.Errorf("tightened to %+v with the warnings %q, want the mode ask, 7 iterations and one warning", tight.Agent, warnings)
	}
	again, err := l.Reload()
	if err != nil || again.Config.Agent.Mode != "code" {
		t.Errorf("Reload: %v, want the managed mode", err)
	}
}

// The tables of rules are replaced as a whole: no key of the user changes their
// meaning.
func TestManagedRules(t *testing.T) {
	const managed = "[[tools.policy.rules]]\neffect = 'allow'\ntool = 'read'\n[tools.policy]\nenabled = true\n"
	const user = "[tools.policy]\nenabled = false\ndefault_effect = 'allow'\npolicy_file = 'mine.toml'\n[[tools.policy.rules]]\neffect = 'allow'\ntool = '*'\n" +
		"[tools.authorization]\nenabled = true\n"
	l := mustLoadManaged(t, managed, user, map[string]string{"tools.policy.policy_file": "other.toml"}, "ZEPH_TOOLS_POLICY_DEFAULT_EFFECT=allow",
		"ZEPH_TOOLS_POLICY_ENABLED=false")
	c := l.Config.Tools.Policy
	if !c.Enabled || c.DefaultEffect != executors.Deny || c.PolicyFile != "" || len(c.Rules) != 1 || c.Rules[0].Tool != "read" ||
		!l.Config.Tools.Authorization.Enabled {
		t.Errorf("the policy is %+v, want the managed one alone, and authorization of the user", c)
	}
}

func TestManagedServers(t *testing.T) {
	const managed = `[[managed.mcp_servers]]
name = "files"
command = "/usr/bin/files"
args = ["--safe"]
env = ["TOKEN"]
[[managed.mcp_servers]]
name = "npx"
command = "npx"
any_args = true
[[managed.mcp_servers]]
name = "web"
url = "https://example.com/mcp/"
`
	stdio := func(name, command string, args ...string) mcp.Server {
		return mcp.Server{Name: name, Command: command, Args: args}
	}
	env := func(s mcp.Server, name string) mcp.Server { s.Env = map[string]string{name: "x"}; return s }
	for name, tt := range map[string]struct {
		server  mcp.Server
		allowed bool
	}{
		"listed":                   {stdio("files", "/usr/bin/files", "--safe"), true},
		"with its variable":        {env(stdio("files", "/usr/bin/files", "--safe"), "TOKEN"), true},
		"with another variable":    {env(stdio("files", "/usr/bin/files", "--safe"), "LD_PRELOAD"), false},
		"with other arguments":     {stdio("files", "/usr/bin/files", "--safe", "/"), false},
		"with another name":        {stdio("mine", "/usr/bin/files", "--safe"), false},
		"with another command":     {stdio("files", "files", "--safe"), false},
		"a command in another way": {stdio("files", "/usr/bin/../bin/files", "--safe"), false},
		"any arguments":            {stdio("npx", "npx", "-y", "x"), true},
		"by url":                   {mcp.Server{Name: "web", URL: "https://example.com/mcp"}, true},
		"by another url":           {mcp.Server{Name: "web", URL: "https://example.com/mcp/x"}, false},
		"a url for a command":      {mcp.Server{Name: "files", URL: "https://example.com/mcp"}, false},
		"a command for a url":      {stdio("web", "https://example.com/mcp/"), false},
	} {
		l := mustLoadManaged(t, managed, "", nil)
		for _, permits := range []func(mcp.Server) string{l.Permits, l.PermitsConfigured} {
			if why := permits(tt.server); (why == "") != tt.allowed {
				t.Errorf("%s: refused with %q, want allowed: %t", name, why, tt.allowed)
			}
		}
	}
	l := mustLoadManaged(t, "[managed]\nmcp_servers = []\n", "", nil)
	if l.PermitsConfigured(stdio("files", "x")) == "" {
		t.Error("an empty list permits a server")
	}
	l = mustLoadManaged(t, "[[mcp.servers]]\nname = 'a'\ncommand = 'x'\n", "[[mcp.servers]]\nname = 'b'\ncommand = 'y'\n", nil)
	if len(l.Config.MCP.Servers) != 1 || l.PermitsConfigured(l.Config.MCP.Servers[0]) != "" || l.Permits(stdio("a", "evil")) == "" || l.Permits(stdio("c",
		"z")) != "" {
		t.Errorf("servers %+v: want the managed one alone, permitted only as it is listed", l.Config.MCP.Servers)
	}
}

// A mistake in the managed file stops the start. The user's file cannot have its table.
func TestManagedMistakes(t *testing.T) {
	_, err := loadManaged(t, "[agent]\nmode = \"x\"\nmodle = 1\n[[managed.mcp_servers]]\nname = \"\"\ncommand = \"a\"\nurl = \"b\"\n[managed]\nx = 1\n", "", nil)
	const want = `managed.toml:2: key "agent.mode": "x" is not one of ask, architect, code, auto, auto-judge
managed.toml:3: key "agent.modle": unknown key (did you mean "mode"?)
managed.toml:5: key "managed.mcp_servers[0].name": is missing
managed.toml:6: key "managed.mcp_servers[0].command": an entry has a command or a url
managed.toml:9: key "managed.x": unknown key (known: mcp_servers)
`
	if got := mistakesOf(t, err); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if _, err := loadManaged(t, "", "[managed]\nmcp_servers = []\n", nil); err == nil || !strings.Contains(err.Error(), "unknown key") {
		t.Errorf("the user's file: %v", err)
	}
}

// A managed file that other users could write or replace is refused, and one that
// cannot be read too.
func TestManagedProtected(t *testing.T) {
	me := strconv.Itoa(os.Getuid())
	for name, tt := range map[string]struct {
		prepare func(t *testing.T, file string)
		owner   string
		want    string // in the error
	}{
		"good":    {func(*testing.T, string) {}, me, ""},
		"missing": {func(t *testing.T, file string) { remove(t, file) }, me, ""},
		"writable by others": {
			func(t *testing.T, file string) { chmod(t, file, 0o666) },
			me,
			"it is writable by other users than root (mode 0666)",
		},
		"writable by the group": {
			func(t *testing.T, file string) { chmod(t, file, 0o664) },
			me,
			"it is writable by other users than root (mode 0664)",
		},
		"a directory writable by others": {
			func(t *testing.T, file string) { chmod(t, filepath.Dir(file), 0o777) },
			me,
			"is writable by other users than root (mode 0777)",
		},
		"a link to another place": {func(t *testing.T, file string) {
			open := filepath.Join(t.TempDir(), "open")
			mkdir(t, open)
			remove(t, file)
			link(t, write(t, open, "m.toml", ""), file)
			chmod(t, open, 0o777)
		}, me, "is writable by other users"},
		"a directory": {func(t *testing.T, file string) { remove(t, file); mkdir(t, file) }, me, "it is not a regular file"},
		"a pipe":      {func(t *testing.T, file string) { remove(t, file); makePipe(t, file) }, me, "it is not a regular file"},
		"another owner": {func(t *testing.T, file string) {
			if os.Getuid() != 0 {
				return // the file belongs to this user, who is not root
			}
			if err := os.Chown(file, 1234, -1); err != nil {
				t.Skip("no files of other users here:", err)
			}
		}, "", "only root may own it"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "etc")
			mkdir(t, dir)
			file := write(t, dir, "managed.toml", "[agent]\nmode = 'ask'\n")
			tt.prepare(t, file)
			l, err := Load(Options{File: write(t, t.TempDir(), "config.toml", ""), Managed: ManagedFile{Path: file, Owner: tt.owner}})
			switch {
			case tt.want == "" && err != nil:
				t.Errorf("a good file is refused: %v", err)
			case tt.want != "" && (err == nil || !strings.Contains(err.Error(),
				"the managed configuration "+file+" cannot be used: ") || !strings.Contains(err.Error(), tt.want)):
				t.Errorf("%v, want %q", err, tt.want)
			case name == "good" && l.Config.Agent.Mode != "ask":
				t.Error("the file has no effect")
			}
		})
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}
