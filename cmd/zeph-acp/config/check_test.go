package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
)

// A key without effect is a warning with file, line and key; a key that cannot
// be used is a mistake.
func TestCheckOfKeys(t *testing.T) {
	for text, want := range map[string]string{
		"[tools.shell]\nauto_rollback = true": `:2: key "tools.shell.auto_rollback": has no effect without transactional = true`,
		"[tools.shell]\ntransactional = true": `:2: key "tools.shell.transactional": has no effect without auto_rollback = true`,
		"[tools.shell]\nsnapshot_required = true": `:2: key "tools.shell.snapshot_required": ` +
			`has no effect without transactional = true and auto_rollback = true`,
		"[tools.shell]\ntransactional = true\nauto_rollback = true\nsnapshot_required = true": "",
		"[tools.sandbox]\nextra_write = ['/x']":                                               `:2: key "tools.sandbox.extra_write": has no effect without enabled = true`,
		"[tools.sandbox]\nrequired = true\nextra_write = ['/x']":                              "",
		"[tools.file]\nallowed_paths = ['/no/such']":                                          `:2: key "tools.file.allowed_paths": "/no/such" has no effect: it does not exist`,
		"[tools.shell]\nallowed_paths = ['/no/such']":                                         `:2: key "tools.shell.allowed_paths": "/no/such" has no effect: it does not exist`,
		"[tools.shell]\nallowed_paths = ['/']":                                                "",
		"[[tools.permissions.shell]]\npattern = 'a'\naction = 'deny'":                         `key "tools.permissions.shell": it is now "tools.permissions.bash" (zeph-acp config migrate renames it)`,
		"[[tools.permissions.glob]]\npattern = 'a'\naction = 'deny'":                          `key "tools.permissions.glob": it is now "tools.permissions.find_path" (zeph-acp config migrate renames it)`,
		"[[tools.permissions.'*']]\npattern = 'a'\naction = 'deny'":                           "",
		"[[tools.permissions.'wri*']]\npattern = 'a'\naction = 'deny'":                        "",
		"[[tools.permissions.'wir*']]\npattern = 'a'\naction = 'deny'":                        `there is no such tool`,
		"[tools.judge]\nprovider = 'zz'":                                                      `:2: key "tools.judge.provider": no provider "zz"`,
		"[tools.adversarial_policy]\nenabled = true\npolicies = ['x']\n" +
			"policy_provider = 'zz'": `:4: key "tools.adversarial_policy.policy_provider": no provider "zz"`,
		"[tools]\nsummarize_provider = 'direct'":                                                           `:2: key "tools.summarize_provider": has no effect without summarize_output = true`,
		"[tools]\nsummarize_output = true\nsummarize_provider = 'zz'":                                      `:3: key "tools.summarize_provider": no provider "zz"`,
		"[tools.filters]\nfilters_path = 'no.toml'":                                                        `:2: key "tools.filters.filters_path": there is no `,
		"[tools.tafc]\ncomplexity_threshold = 0.5":                                                         `:2: key "tools.tafc.complexity_threshold": has no effect without enabled = true`,
		"[tools.tafc]\nenabled = true\ncomplexity_threshold = 3":                                           `config.toml: tools.tafc.complexity_threshold = 3 is not from 0 to 1`,
		"[tools.tafc]\nenabled = true":                                                                     "",
		"[tools.tafc]\nenabled = true\ncomplexity_threshold = 0.9":                                         `tools.tafc has no effect: no tool reaches complexity_threshold = 0.9 (update_plan has the most, 0.69)`,
		"[tools.dependencies.rules.read]\nrequires = ['grep']":                                             `tools.dependencies.rules has no effect without tools.dependencies.enabled = true`,
		"[tools.dependencies]\nenabled = true\n[tools.dependencies.rules.read]\nrequires = ['reed']":       `read requires reed, and there is no such tool`,
		"[tools.dependencies]\nenabled = true\n[tools.dependencies.rules.read]\nrequires = ['load_skill']": "",
		"[tools.dependencies]\nenabled = true\n[tools.dependencies.rules.cancel_task]\nrequires = ['list_tasks', 'tool_search', 'read_resource']": "",
		"[tools.adversarial_policy]\nenabled = true\npolicy_file = " +
			"'/no/file'": `:3: key "tools.adversarial_policy.policy_file": every call that the gate judges is denied: /no/file: no such file`,
		"[tools.policy]\npolicy_file = '/nothing'":                 `:2: key "tools.policy.policy_file": has no effect without enabled = true, and cannot be read: /nothing: no such file`,
		"[agent.tool_filter]\nenabled = true\nalways_on = ['bsh']": `always_on names bsh, and there is no such tool`,
		"[agent.tool_filter]\ntop_k = 3":                           `:2: key "agent.tool_filter.top_k": has no effect without enabled = true`,
		"[agent]\ncompress_provider = 'zz'":                        `:2: key "agent.compress_provider": `,
		"[tools.retry]\nparameter_reformat_provider = 'zz'":        `:2: key "tools.retry.parameter_reformat_provider": `,
	} {
		file := filepath.Join(t.TempDir(), "config.toml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := config.Load(config.Options{File: file, Environ: []string{"HOME=/"}})
		if err != nil {
			t.Fatal(err)
		}
		f := l.Check(filepath.Join(t.TempDir(), "none"), "", catalogue.Known())
		all := f.Warnings
		for _, m := range f.Mistakes {
			all = append(all, m.Error())
		}
		got := strings.Join(all, "\n")
		if (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s\ngot  %q\nwant %q", text, got, want)
		}
		if strings.Contains(text, "zz") != (len(f.Mistakes) > 0) {
			t.Errorf("%s\nmistakes %v, want one only for an unknown provider", text, f.Mistakes)
		}
	}
}

// The user's file of hooks is a part of the configuration.
func TestCheckOfHooks(t *testing.T) {
	for text, want := range map[string][2]string{ // the mistakes and the warnings
		``: {}, `{}`: {}, `{"hooks": {"PreToolUse": [{"matcher": "bash", "hooks": [{"type": "command", "command": "true"}]}]}}`: {},
		`{"hooks": `:            {"hooks.json: it cannot be read: unexpected end of JSON input", ""},
		`{"hooks": {"Stop": 5}`: {"hooks.json: it cannot be read: unexpected end of JSON input", ""},
		`{"hooks": {"Stop": [{"hooks": [{"type": "command"}]}]}}`:               {"hooks.json: hooks.Stop: it has no command", ""},
		`{"hooks": {"Stop": [{"hooks": [{"type": "prompt", "prompt": "x"}]}]}}`: {`hooks.json: hooks.Stop: hooks of type "prompt" are not supported`, ""},
		`{"hooks": {"PreCompact": []}}`:                                         {"", "hooks.json: hooks of these events are not run: PreCompact"},
	} {
		home := t.TempDir()
		if err := os.WriteFile(filepath.Join(home, "hooks.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := config.Load(config.Options{Environ: []string{"HOME=/", "ZEPH_HOME=" + home}})
		if err != nil {
			t.Fatal(err)
		}
		f := l.Check(filepath.Join(t.TempDir(), "none"), "", catalogue.Known())
		var mistakes []string
		for _, m := range f.Mistakes {
			mistakes = append(mistakes, m.Error())
		}
		for i, got := range []string{strings.Join(mistakes, "\n"), strings.Join(f.Warnings, "\n")} {
			if strings.TrimPrefix(got, home+string(filepath.Separator)) != want[i] {
				t.Errorf("%s: %q, want %q", text, got, want[i])
			}
		}
	}
}
