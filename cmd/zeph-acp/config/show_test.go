package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
)

// The output of Show loads as the same configuration.
func TestShow(t *testing.T) {
	for name, file := range map[string]string{
		"defaults": "",
		"some": `[log]
file = "a\\b \"c\" \u0007 \u007f é 🙂"
[[llm.providers]]
name = "one"
type = "claude"
price = { input = 3, output = 0.15, currency = "EUR" }
[[llm.providers]]
type = "direct"
default = true
[[tools.permissions."my tool"]]
pattern = "cargo *"
action = "allow"
[tools.shell]
blocked_commands = ["a", 'b"c']
[tools.trust.levels]
"tool:bash" = "untrusted"
content = "blocked"
`,
	} {
		t.Run(name, func(t *testing.T) {
			l, err := load(t, file)
			if err != nil {
				t.Fatal(err)
			}
			var b strings.Builder
			if err := l.Show(&b); err != nil {
				t.Fatal(err)
			}
			again, err := load(t, b.String())
			if err != nil {
				t.Fatalf("the output of Show does not load: %v\n%s", err, b.String())
			}
			if diff := cmp.Diff(l.Config, again.Config, equalConfigs...); diff != "" {
				t.Errorf("(-want +got)\n%s\n%s", diff, b.String())
			}
		})
	}
}

func TestShowOrigins(t *testing.T) {
	file := write(t, t.TempDir(), "config.toml",
		"[agent]\nmode = 'ask'\n\n[[llm.providers]]\ntype = 'claude'\nbase_url = 'https://user:secret@example.org/v1?key=secret'\n")
	l, err := Load(Options{
		File:    file,
		Flags:   map[string]string{"log.level": "debug"},
		Environ: []string{"HOME=/", "ZEPH_AGENT_MAX_TOOL_ITERATIONS=3"},
	})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := l.Show(&b); err != nil {
		t.Fatal(err)
	}
	got := "\n" + b.String()
	for _, want := range []string{
		"\nmode = \"ask\" # " + toml.Printable(file) + ":2\n",
		"\nmax_tool_iterations = 3 # ZEPH_AGENT_MAX_TOOL_ITERATIONS\n",
		"\ncontext_budget_tokens = 0 # default\n",
		"\nlevel = \"debug\" # command line\n",
		"\n[[llm.providers]]\n",
		"\ntool_use = \"auto\" # default\n",
		"\nimages = \"auto\" # default\n",
		"\ntype = \"claude\" # " + toml.Printable(file) + ":5\n",
		"\nbase_url = \"https://xxxxx@example.org/v1?xxxxx\" # ",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "secret") {
		t.Errorf("a secret is shown:\n%s", got)
	}
}
