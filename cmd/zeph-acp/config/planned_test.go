package config

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// No key is both planned and implemented, and a misspelt key is never treated
// as planned.
func TestPlanned(t *testing.T) {
	for _, key := range plannedKeys {
		text := strings.ReplaceAll(key, "*", "bash") + " = {}\n"
		if array, key, ok := strings.Cut(key, ".*."); ok {
			text = "[[" + array + ".bash]]\npattern = \"x\"\naction = \"ask\"\n" + key + " = [\"x\"]\n"
		}
		l, err := load(t, text)
		if err != nil || len(l.Warnings) != 1 || !strings.HasSuffix(l.Warnings[0], plannedWarning) {
			t.Errorf("%s\n%v, want only the warning %q in %+v", text, err, plannedWarning, l)
		}
	}
	for _, key := range []string{"tool.egress.x", "tools.egres.x", "mcps.x", "agent.policy", "tools.permissions_match"} {
		if _, err := load(t, key+" = 1\n"); err == nil {
			t.Errorf("%s is taken for planned", key)
		}
	}
}

// The samples of those documents load: each table causes one warning with its
// line, and the keys around it apply.
func TestPlannedSections(t *testing.T) {
	const text = `[agent]
mode = "ask"
[tools.egress]
enabled = true
[[hooks]]
name = "a"
[[hooks]]
name = "b"
[[tools.mcp]]
command = ["gopls"]
[memory.semantic]
enabled = true
[tools.shell]
timeout = 7
risk_chain_threshold = 0.7
`
	want := []string{
		`:3: key "tools.egress": `,
		`:5: key "hooks": `,
		`:9: key "tools.mcp": `,
		`:11: key "memory": `,
		`:15: key "tools.shell.risk_chain_threshold": `,
	}
	warned := func(t *testing.T, warnings []string) {
		t.Helper()
		if len(warnings) != len(want) {
			t.Fatalf("warnings %q, want %d", warnings, len(want))
		}
		for i, w := range warnings {
			if !strings.HasSuffix(w, want[i]+plannedWarning) {
				t.Errorf("%s, want %s", w, want[i])
			}
		}
	}
	l, err := load(t, text)
	if err != nil {
		t.Fatal(err)
	}
	warned(t, l.Warnings)
	if l.Config.Agent.Mode != "ask" || l.Config.Tools.Shell.Timeout != 7 {
		t.Errorf("mode %s, timeout %d, want ask and 7", l.Config.Agent.Mode, l.Config.Tools.Shell.Timeout)
	}
	dir := t.TempDir()
	write(t, dir, filepath.FromSlash(WorkspaceFile), text)
	cfg, warnings := Tighten(setting.Default[Config](), dir)
	warned(t, warnings)
	if cfg.Agent.Mode != "ask" || cfg.Tools.Shell.Timeout != 7 {
		t.Errorf("in a workspace: mode %s, timeout %d, want ask and 7", cfg.Agent.Mode, cfg.Tools.Shell.Timeout)
	}
}
