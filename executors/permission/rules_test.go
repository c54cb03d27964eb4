package permission

import (
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue/cataloguetest"
	"github.com/zeph-acp/zeph-acp/executors"
)

// TestRuleKeys checks which keys of [[tools.permissions.KEY]] are about a tool, and in
// which order.
func TestRuleKeys(t *testing.T) {
	rule := func(name string) []Rule { return []Rule{{Pattern: name, Action: Allow}} }
	of := map[string][]Rule{
		"github__*": rule("all of github"), "github__issue_*": rule("issues"), "github__issue_list": rule("one"), "*": rule("all"), "bash": rule("own"),
		"shell": rule("old"),
	}
	for tool, want := range map[string][]string{
		"github__issue_list": {"one", "all", "all of github", "issues"},
		"github__pr":         {"all", "all of github"},
		"gitlab__pr":         {"all"},
		"bash":               {"own", "old", "all"},
	} {
		var got []string
		for _, r := range rulesFor(underNames(of, cataloguetest.Known()), tool) {
			got = append(got, r.Pattern)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", tool, got, want)
		}
	}
}

// The audit log has the position of the rule that decided; the model does not see it.
func TestRulePosition(t *testing.T) {
	rule := Rule{Pattern: "make*", Action: Deny}
	rule.SetPosition("/home/me/config.toml:7")
	s := newSetup()
	s.cfg.Permissions = map[string][]Rule{"bash": {rule}}
	call := bash("make all")
	res := s.build().do(t, call)
	if want := `rule "make*" of tools.permissions.bash (/home/me/config.toml:7)`; call.Record.Rule() != want {
		t.Errorf("recorded %q, want %q", call.Record.Rule(), want)
	}
	if text := res.ForModel(); strings.Contains(text, "config.toml") || res.Category() != executors.PolicyBlocked {
		t.Errorf("the model sees %q", text)
	}
}

// The audit log has the rule that allows a part of a script. The defaults for the other
// parts say less.
func TestRuleOfAPart(t *testing.T) {
	const rule = `rule "rm *" of tools.permissions.bash`
	for script, want := range map[string]string{
		"ls; pwd": "default: it only reads", "rm x": rule, "cd a && rm x": rule, "rm x && ls": rule, "timeout 5 rm x": rule,
		"rm x; make": "default: it is not known to be read-only",
	} {
		s := newSetup()
		s.cfg.Permissions = map[string][]Rule{"bash": {{Pattern: "rm *", Action: Allow}}}
		call := bash(script)
		if s.build().do(t, call); call.Record.Rule() != want {
			t.Errorf("%q: the log has %q, want %q", script, call.Record.Rule(), want)
		}
	}
}

// A rule that allows "make" with any operands allows no file below a directory "make ".
func TestRuleAllowsNoSpacedProgram(t *testing.T) {
	for script, want := range map[string]string{
		"make x": "allow", "make 'a b'": "allow", "timeout 5 make x": "allow",
		"'make /x'": "ask", `make\ /x y`: "ask", "timeout 5 'make /x'": "ask", "make x; 'make '/y": "ask", "'make x'": "ask",
		"python3 a.py 'b c'": "allow", "python3 -c 'print(1, 2)'": "allow", "python3 'a.py b'": "ask",
	} {
		s := newSetup()
		s.cfg.Permissions = map[string][]Rule{"bash": {{Pattern: "make *", Action: Allow}, {Pattern: "python3 *", Action: Allow}}}
		if got := s.build().outcome(t, bash(script)); got != want {
			t.Errorf("%s: %s, want %s", script, got, want)
		}
	}
}

// A small beginning of an endless device is read without a question. About the rest, rules decide.
func TestEndlessDevices(t *testing.T) {
	for script, want := range map[string][2]string{ // without rules, and with rules that allow the programs
		"head -c 16 /dev/urandom":                            {"allow", "allow"},
		"head -c16 /dev/urandom | base64":                    {"allow", "allow"},
		"head --bytes=1k /dev/random | sha256sum":            {"allow", "allow"},
		"head -c 32 < /dev/urandom | xxd -p":                 {"allow", "allow"},
		"od -An -N4 -tu4 /dev/urandom":                       {"allow", "allow"},
		"xxd -l 16 -p /dev/urandom":                          {"allow", "allow"},
		"hexdump -n 16 /dev/zero":                            {"allow", "allow"},
		"if head -c 1 /dev/full; then echo; fi":              {"allow", "allow"},
		"test -c /dev/zero && ls /dev/zero":                  {"allow", "allow"},
		"cat /dev/null":                                      {"allow", "allow"},
		"cat /dev/urandom":                                   {"ask", "allow"},
		"cat /dev/urandom | head -c 16":                      {"ask", "allow"},
		"tr -dc a-z < /dev/urandom | head -c 16":             {"ask", "allow"},
		"head -n 1 /dev/urandom":                             {"ask", "allow"},
		"head -c -16 /dev/zero":                              {"ask", "allow"},
		"head -c 16 -n 1 /dev/zero":                          {"ask", "allow"},
		"head -c 9999999999 /dev/zero":                       {"ask", "allow"},
		"head -c 9T /dev/zero":                               {"ask", "allow"},
		"head -5 /dev/zero":                                  {"ask", "allow"},
		"od -N 1 -j 99999999999999 /dev/zero":                {"ask", "ask"},
		"sha256sum /dev/zero":                                {"ask", "ask"},
		"head -c 16 /dev/urandom; cat /dev/zero; echo x > y": {"ask", "ask"},
		"cat /dev/tty":                                       {"ask", "ask"},
		"head -c 512 /dev/sda":                               {"block", "block"},
		"head -c 16 /dev/../dev/urandom":                     {"ask", "ask"},
	} {
		for i, rules := range []map[string][]Rule{nil,
			{"bash": {{Pattern: "cat *", Action: Allow}, {Pattern: "head *", Action: Allow}, {Pattern: "tr *", Action: Allow}}}} {
			s := newSetup()
			s.cfg.Permissions = rules
			if got := s.build().outcome(t, bash(script)); got != want[i] {
				t.Errorf("%s: %s, want %s (rules: %t)", script, got, want[i], rules != nil)
			}
		}
	}
}
