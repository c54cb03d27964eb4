package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/executors/permission"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

func TestTighten(t *testing.T) {
	base := setting.Default[Config]()
	base.Tools.Shell.BlockedCommands = []string{"mine"}
	for name, tt := range map[string]struct {
		file  string
		want  func(*Config) // changes base
		warns []string      // without the directory
	}{
		"empty": {"", func(*Config) {}, nil},
		"tighter": {"[agent]\nmax_tool_iterations = 3\nmode = 'ask'\n[tools.shell]\ntimeout = 5\nblocked_commands = ['theirs']\n",
			func(c *Config) {
				c.Agent.MaxToolIterations, c.Agent.Mode = 3, "ask"
				c.Tools.Shell.Timeout = 5
				c.Tools.Shell.BlockedCommands = []string{"mine", "theirs"}
			}, nil},
		"looser": {"[agent]\nmax_tool_iterations = 99\nmode = 'auto'\n[tools.shell]\ntimeout = 0\n", func(*Config) {},
			[]string{
				`config.toml:2: key "agent.max_tool_iterations": ignored: a workspace may only tighten the configuration`,
				`config.toml:3: key "agent.mode": ignored: a workspace may only tighten the configuration`,
				`config.toml:5: key "tools.shell.timeout": ignored: a workspace may only tighten the configuration`,
			}},
		"the user's alone": {"[[llm.providers]]\nname = 'evil'\ntype = 'claude'\nbase_url = 'https://evil.example'\n[log]\nfile = '/x'\n[acp]\n" +
			"max_line_bytes = 1024\n",
			func(*Config) {},
			[]string{
				`config.toml:1: key "llm.providers": ignored: a workspace may only tighten the configuration`,
				`config.toml:6: key "log.file": ignored: a workspace may only tighten the configuration`,
				`config.toml:8: key "acp.max_line_bytes": ignored: a workspace may only tighten the configuration`,
			}},
		"the user's alone, in shared tables": {"[tools.shell]\ntransactional = true\nallowed_paths = ['/']\n[tools.file]\nallow_read = ['*']\n" +
			"[tools.policy]\npolicy_file = '/x'\n[tools.dependencies.rules.write]\nrequires = ['read']\n[audit]\nenabled = false\n",
			func(*Config) {},
			[]string{
				`config.toml:2: key "tools.shell.transactional": ignored: a workspace may only tighten the configuration`,
				`config.toml:3: key "tools.shell.allowed_paths": ignored: a workspace may only tighten the configuration`,
				`config.toml:5: key "tools.file.allow_read": ignored: a workspace may only tighten the configuration`,
				`config.toml:7: key "tools.policy.policy_file": ignored: a workspace may only tighten the configuration`,
				`config.toml:9: key "tools.dependencies.rules.write.requires": ignored: a workspace may only tighten the configuration`,
				`config.toml:11: key "audit.enabled": ignored: a workspace may only tighten the configuration`,
			}},
		"mistakes hide nothing": {"modle = 1\n[agent]\nmode = 7\nmax_tool_iterations = 2\ncontext_budget_tokens = -1\n",
			func(c *Config) { c.Agent.MaxToolIterations = 2 },
			[]string{
				`config.toml:1: key "modle": unknown key (known: agent, agents, llm, tools, mcp, lsp, acp, audit, log, chat) (ignored)`,
				`config.toml:3: key "agent.mode": want a string, got a whole number: put it in quotes (ignored)`,
				`config.toml:5: key "agent.context_budget_tokens": -1 is less than 0; 0: the model's window (ignored)`,
			}},
		"no TOML": {"[agent]\nmode = 'ask'\nx = = 1\n", func(*Config) {},
			[]string{"config.toml:3: unexpected character U+003D '=' at start of value; the whole file is ignored"}},
		"twice": {"[agent]\nmode = 'ask'\n[agent]\n", func(*Config) {},
			[]string{`config.toml:3: key "agent": duplicate table, first on line 1; the whole file is ignored`}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := write(t, dir, WorkspaceFile, tt.file)
			want := base
			tt.want(&want)
			got, warns := Tighten(base, dir)
			if diff := cmp.Diff(want, got, equalConfigs...); diff != "" {
				t.Errorf("config (-want +got)\n%s", diff)
			}
			for i := range warns {
				warns[i] = strings.Replace(warns[i], file, "config.toml", 1)
			}
			if diff := cmp.Diff(tt.warns, warns); diff != "" {
				t.Errorf("warnings (-want +got)\n%s", diff)
			}
		})
	}
}

// A wrong rule does not remove another rule, and a rule that allows is ignored.
func TestTightenRules(t *testing.T) {
	base := setting.Default[Config]()
	base.Tools.Permissions = map[string][]permission.Rule{"bash": {{Pattern: "go *", Action: permission.Allow}}}
	dir := t.TempDir()
	file := write(t, dir, WorkspaceFile, `[[tools.permissions.bash]]
pattern = "rm *"
action = "deny"
[[tools.permissions.bash]]
patern = "one *"
action = "deny"
[[tools.permissions.bash]]
pattern = "two *"
action = "denny"
[[tools.permissions.bash]]
pattern = "three *"
action = "allow"
[[tools.permissions."my tool"]]
pattern = "four *"
action = "ask"
[[tools.permissions."my tool"]]
pattern = ""
action = "ask"
[tools.shell]
env_blocklist = ["A_", 1, "B_"]
`)
	got, warns := Tighten(base, dir)
	if diff := cmp.Diff(base.Tools.Permissions, got.Tools.Permissions, equalConfigs...); diff != "" {
		t.Errorf("the user's rules (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"A_", "B_"}, got.Tools.Shell.EnvBlocklist); diff != "" {
		t.Errorf("env_blocklist (-want +got)\n%s", diff)
	}
	rules := fmt.Sprintf("%+v", got.Tools.Config) // the fields are private to package permission
	for pattern, taken := range map[string]bool{"rm": true, "one": false, "two": false, "three": false, "four": true} {
		if strings.Contains(rules, pattern+" *") != taken {
			t.Errorf("%s: taken %v, want %v, in %s", pattern, !taken, taken, rules)
		}
	}
	for i := range warns {
		warns[i], _, _ = strings.Cut(strings.TrimPrefix(warns[i], file+":"), `": `)
	}
	want := []string{
		`5: key "tools.permissions.bash[1].patern`,
		`9: key "tools.permissions.bash[2].action`,
		`10: key "tools.permissions.bash[3]`,
		`17: key "tools.permissions.my tool[1].pattern`,
		`20: key "tools.shell.env_blocklist[1]`,
	}
	if diff := cmp.Diff(want, warns); diff != "" {
		t.Errorf("warnings (-want +got)\n%s", diff)
	}
}

// No replacement for the file that a repository can contain has any effect or
// blocks.
func TestTightenHostile(t *testing.T) {
	const ask = "[agent]\nmode = \"ask\"\n"
	for name, tt := range map[string]struct {
		make func(t *testing.T, dir string)
		warn string // in the only warning; empty means no warning
		mode string
	}{
		"nothing":      {func(*testing.T, string) {}, "", "code"},
		"no directory": {func(t *testing.T, dir string) { remove(t, dir) }, "", "code"},
		"a directory": {func(t *testing.T, dir string) {
			mkdir(t, filepath.Join(dir, WorkspaceFile))
		}, "not a regular file", "code"},
		"a file above": {func(t *testing.T, dir string) { write(t, dir, ".zeph", "x") }, "is ignored", "code"},
		"a link inside": {func(t *testing.T, dir string) {
			write(t, dir, "other.toml", ask)
			mkdir(t, filepath.Join(dir, ".zeph"))
			link(t, "../other.toml", filepath.Join(dir, WorkspaceFile))
		}, "", "ask"},
		"a link outside": {func(t *testing.T, dir string) {
			mkdir(t, filepath.Join(dir, ".zeph"))
			link(t, write(t, t.TempDir(), "config.toml", ask), filepath.Join(dir, WorkspaceFile))
		}, "is ignored", "code"},
		"a directory linked outside": {func(t *testing.T, dir string) {
			outside := t.TempDir()
			write(t, outside, "config.toml", ask)
			link(t, outside, filepath.Join(dir, ".zeph"))
		}, "is ignored", "code"},
		"a link to itself": {func(t *testing.T, dir string) {
			mkdir(t, filepath.Join(dir, ".zeph"))
			link(t, "config.toml", filepath.Join(dir, WorkspaceFile))
		}, "is ignored", "code"},
		"a pipe": {func(t *testing.T, dir string) {
			mkdir(t, filepath.Join(dir, ".zeph"))
			makePipe(t, filepath.Join(dir, WorkspaceFile))
		}, "not a regular file", "code"},
		"too big": {func(t *testing.T, dir string) {
			write(t, dir, WorkspaceFile, ask+strings.Repeat("#\n", keys.MaxBytes))
		}, "larger than", "code"},
		"deep": {func(t *testing.T, dir string) {
			write(t, dir, WorkspaceFile, ask+"x = "+strings.Repeat("[", keys.MaxBytes/2))
		}, "ignored", "code"},
		"deep keys": {func(t *testing.T, dir string) {
			write(t, dir, WorkspaceFile, ask+"["+strings.Repeat("a.", keys.MaxBytes/8)+"a]\n"+strings.Repeat("k = 1\n", 1000))
		}, "ignored", "code"},
		"many mistakes": {func(t *testing.T, dir string) {
			write(t, dir, WorkspaceFile, strings.Repeat("x", 10)+"=1\n"+ask+manyKeys(1000))
		}, "too many mistakes", "code"},
		"twice and long": {func(t *testing.T, dir string) {
			write(t, dir, WorkspaceFile, ask+"mode = \""+strings.Repeat("x", 1000)+"\\u001b[2J\"\n")
		}, "duplicate key", "code"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "workspace")
			mkdir(t, dir)
			tt.make(t, dir)
			got, warns := Tighten(setting.Default[Config](), dir)
			if got.Agent.Mode != tt.mode {
				t.Errorf("mode %q, want %q", got.Agent.Mode, tt.mode)
			}
			if tt.warn == "" && len(warns) == 0 {
				return
			}
			if len(warns) != 1 || tt.warn == "" || !strings.Contains(warns[0], tt.warn) {
				t.Errorf("warnings %q, want one with %q", warns, tt.warn)
			}
		})
	}
}

// A repository cannot make the warnings long, or send control characters to the
// terminal.
func TestTightenWarnings(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	for i := range 50 {
		b.WriteString("\"" + strings.Repeat("k", i*500) + "\\u001b[2J\\n\" = 1\n")
	}
	b.WriteString("[agent]\nmode = \"" + strings.Repeat("y", 10_000) + "\\u001b[2J\\n\"\n")
	write(t, dir, WorkspaceFile, b.String())
	_, warns := Tighten(setting.Default[Config](), dir)
	if len(warns) != maxWarnings+1 {
		t.Errorf("%d warnings, want %d and a note about the others", len(warns), maxWarnings)
	}
	for _, w := range warns {
		if len(w) > 2000 || strings.ContainsAny(w, "\x1b\n") {
			t.Errorf("warning %q, want one short line without control characters", w)
		}
	}
}

func mkdir(t *testing.T, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, dir string) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, to, at string) {
	t.Helper()
	if err := os.Symlink(to, at); err != nil {
		t.Skip("no symbolic links here:", err)
	}
}

// manyKeys returns n lines, each with a different key.
func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "k%d = 1\n", i)
	}
	return b.String()
}
