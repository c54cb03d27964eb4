package config

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors/gates/rules"
)

// The files of [tools.policy] are read at the start, and each mistake in them is named
// with its place.
func TestPolicyFiles(t *testing.T) {
	for name, tt := range map[string]struct {
		keys, rules string
		want        string // mistakes, or warnings; "D" is the directory
	}{
		"rules": {"enabled = true\npolicy_file = 'p.toml'", "[[rules]]\neffect = 'allow'\ntool = '*'\n", ""},
		"off": {
			"policy_file = 'none.toml'",
			"",
			"[tools.policy] is off, so its rules check no call: set enabled = true in it",
		},
		"no file": {
			"enabled = true\npolicy_file = 'none.toml'",
			"",
			`config.toml:3: key "tools.policy.policy_file": D/none.toml: no such file or directory`,
		},
		"a directory": {"enabled = true\npolicy_file = '.'", "", `config.toml:3: key "tools.policy.policy_file": D is not a regular file`},
		"no TOML":     {"enabled = true\npolicy_file = 'p.toml'", "x = = 1", "p.toml:1: unexpected character U+003D '=' at start of value"},
		"no paths": {
			"enabled = true\npolicy_file = 'p.toml'",
			"[[rules]]\neffect = 'allow'\ntool = '*'\npaths = []\n",
			`p.toml:4: key "rules[0].paths": is empty: without the key the rule is about calls with any files`,
		},
		"wrong rules": {
			"enabled = true\npolicy_file = 'p.toml'",
			"x = 1\n[[rules]]\neffect = 'allow'\n[[rules]]\neffect = 'deny'\ntool = '*'\nargs_match = '('\n",
			`p.toml:1: key "x": unknown key (known: rules)` + "\n" +
				`p.toml:2: key "rules[0].tool": is missing: "*" matches every tool` + "\n" +
				`p.toml:7: key "rules[1].args_match": error parsing regexp: missing closing ): ` + "`(`",
		},
		"Cedar": {"enabled = true\ncedar = 'p.cedar'", "", `config.toml:3: key "tools.policy.cedar": ` +
			"unknown key: Cedar policies are no longer supported; write them as [[tools.policy.rules]] (zeph-acp config migrate removes it)"},
		"too many rules": {
			"enabled = true\npolicy_file = 'p.toml'",
			strings.Repeat("[[rules]]\neffect = 'deny'\ntool = 'x'\n", rules.MaxRules+1),
			`p.toml:1: key "rules": has 257 rules, more than the limit of 256`,
		},
		"a large file": {
			"enabled = true\npolicy_file = 'p.toml'",
			strings.Repeat("#\n", rules.MaxFile),
			`config.toml:3: key "tools.policy.policy_file": D/p.toml is larger than 256 KiB`,
		},
		"nothing allowed": {"enabled = true", "", "[tools.policy] denies every call: it has no rules, and default_effect is deny"},
		"an inverted deny": {
			"enabled = true\ndefault_effect = 'allow'\n[[tools.policy.rules]]\neffect = 'deny'\ntool = '*'\ntrust_level = 'trusted'",
			"",
			`D/config.toml:4: the rule denies calls at the level "trusted", but not less trusted ones`,
		},
		"rules by the file": {
			"enabled = true\npolicy_file = 'p.toml'\n[[tools.policy.rules]]\neffect = 'allow'\ntool = '*'\n",
			"",
			"[tools.policy] denies every call: it has no rules, and default_effect is deny",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			write(t, dir, "p.toml", tt.rules)
			file := write(t, dir, "config.toml", "[tools.policy]\n"+tt.keys+"\n")
			l, err := Load(Options{File: file, Environ: []string{"HOME=" + dir}})
			var got string
			if err != nil {
				got = mistakesOf(t, err)
			} else {
				got = strings.Join(l.Warnings, "\n")
			}
			if got = strings.TrimSpace(strings.ReplaceAll(got, dir, "D")); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// The command line names a file of its own and enables the policy.
func TestPolicyFlag(t *testing.T) {
	dir := t.TempDir()
	rules := write(t, dir, "p.toml", "[[rules]]\neffect = 'allow'\ntool = 'read'\n")
	l, err := Load(Options{File: write(t, dir, "config.toml", ""), Flags: map[string]string{"tools.policy.policy_file": rules, "tools.policy.enabled": "true"}})
	if err != nil {
		t.Fatal(err)
	}
	if c := l.Config.Tools.Policy; !c.Enabled || len(c.FileRules) != 1 || c.FileRules[0].Tool != "read" {
		t.Errorf("the policy is %+v, want it enabled with the rule of the file", c)
	}
}

// Rules that only moved in their file have not changed.
func TestPolicyChanged(t *testing.T) {
	const rule = "[[tools.policy.rules]]\neffect = 'deny'\ntool = 'bash'\n"
	of := func(text string) Config {
		l, err := load(t, text)
		if err != nil {
			t.Fatalf("%s\ndoes not load:\n%s", text, mistakesOf(t, err))
		}
		return l.Config
	}
	for text, want := range map[string]string{"\n\n" + rule: "", rule + "paths = ['x']\n": "tools.policy.rules", rule + rule: "tools.policy.rules",
		"": "tools.policy.rules"} {
		if got := strings.Join(Changed(of(rule), of(text)), " "); got != want {
			t.Errorf("%q: the changed keys are %q, want %q", text, got, want)
		}
	}
}
