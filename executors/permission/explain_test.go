package permission

import (
	"context"
	"errors"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
)

// Every decision has its source, and says what changes it.
func TestExplain(t *testing.T) {
	rule := func(action Action, pattern string) []Rule {
		r := Rule{Pattern: pattern, Action: action}
		r.SetPosition("/c.toml:4")
		return []Rule{r}
	}
	user := func(r []Rule) func(*setup) {
		return func(s *setup) { s.cfg.Permissions = map[string][]Rule{"bash": r} }
	}
	mode := func(name string) func(*setup) { return func(s *setup) { s.mode = name } }
	deletion := file("edit", root+"/a")
	deletion.Card.Kind = executors.KindDelete
	for name, tt := range map[string]struct {
		change func(*setup)
		call   *executors.Call
		want   string
	}{
		"allow by default": {nil, bash("ls"), `- permission allows: it only reads (built in)
- What changes it: a rule of tools.permissions.bash that asks or denies`},
		"ask by default": {nil, bash("make"), `- permission asks: it is not known to be read-only (built in)
- The user did not answer: no client
- What changes it: the answer "always", or a rule of tools.permissions.bash that allows "make"`},
		"an edit": {nil, file("edit", root+"/a"), `- permission asks: changes need permission (built in)
- The user did not answer: no client
- What changes it: the answer "always", or a rule of tools.permissions.edit that allows it, or the command /mode auto`},
		"a deletion": {nil, deletion, `- permission asks: deletions need permission in every mode (built in)
- The user did not answer: no client
- What changes it: a rule of tools.permissions.edit that allows it`},
		"a file of git": {nil, file("edit", root+"/.git/config"), `- permission asks: changes in .git, .zeph and the like always need permission (built in)
- The user did not answer: no client
- What changes it: nothing: no rule and no "always" answers it, so you are asked each time`},
		"allow by a rule": {user(rule(Allow, "make*")), bash("make"), `- permission allows: rule "make*" of tools.permissions.bash (/c.toml:4)
- What changes it: that rule, or another one above it: the first rule of tools.permissions.bash that matches decides`},
		"ask by a rule": {user(rule(Ask, "ls")), bash("ls"), `- permission asks: rule "ls" of tools.permissions.bash (/c.toml:4)
- The user did not answer: no client
- What changes it: the answer "always", or a rule of tools.permissions.bash that allows "ls", above the other rules`},
		"deny by a rule": {user(rule(Deny, "git push*")), bash("git push"), `- permission denies: rule "git push*" of tools.permissions.bash (/c.toml:4)
- What changes it: that rule, or another one above it: the first rule of tools.permissions.bash that matches decides`},
		"deny by the project": {
			func(s *setup) { s.cfg.repository = map[string][]Rule{"bash": rule(Deny, "ls")} }, bash("ls"),
			`- permission denies: rule "ls" of the project's .zeph/config.toml (/c.toml:4)
- What changes it: that rule of the project's .zeph/config.toml`,
		},
		"deny by the mode": {mode("ask"), file("edit", root+"/a"), `- permission denies: the mode "ask" only reads (the session's mode)
- What changes it: the command /mode`},
		"allow by the mode": {mode("auto"), file("edit", root+"/a"), `- permission allows: the mode "auto" edits without asking (the session's mode)
- What changes it: the command /mode: in the mode code you are asked`},
		"deny by the guard": {nil, bash("sudo ls"), "- guard denies: `sudo ls` is blocked: an agent must not run it (tools.shell.allowed_commands)\n" +
			"- What changes it: the key tools.shell.allowed_commands"},
		"deny by a setting": {
			func(s *setup) { s.shell.BlockedCommands = []string{"make"} }, bash("make"),
			"- guard denies: `make` is blocked: the configuration blocks it (tools.shell.blocked_commands)\n- What changes it: the key tools.shell.blocked_commands",
		},
		"ask by a setting": {
			func(s *setup) { s.shell.ConfirmPatterns = []string{"rule"}; user(rule(Allow, "*"))(s) }, bash("make rule"),
			"- guard asks: it contains \"rule\" (confirm_patterns) (tools.shell.confirm_patterns)\n- The user did not answer: no client\n" +
				"- What changes it: the key tools.shell.confirm_patterns",
		},
		"no key of the command itself": {nil, bash("rm -rf / tools.shell.foo"),
			"- guard denies: `rm -rf / tools.shell.foo` is blocked: it removes all of / (built in)\n" +
				"- What changes it: nothing: no rule and no answer can allow it"},
	} {
		s := newSetup()
		if tt.change != nil {
			tt.change(s)
		}
		s.build().do(t, tt.call)
		if got := tt.call.Record.Explain(); got != tt.want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, tt.want)
		}
	}
}

// Each question is on record with its answer: of the user, of an earlier "always", or of a model.
func TestExplainAnswers(t *testing.T) {
	const asks = "- permission asks: it is not known to be read-only (built in)\n"
	const advice = "- What changes it: the answer \"always\", or a rule of tools.permissions.bash that allows \"make\""
	const forget = "- What changes it: zeph-acp permissions forget 'make'"
	for _, tt := range []struct {
		answer, first, again string
	}{
		{allowOnce, "- The user allowed it once\n" + advice, ""},
		{rejectOnce, "- The user rejected it\n" + advice, ""},
		{"", "- The user dismissed the question\n" + advice, ""},
		{allowAlways, "- The user chose \"always allow\" (this session)\n" + forget,
			"- remembered answer allows: the user chose \"always allow\" (this session)\n" + forget},
		{rejectAlways, "- The user chose \"always reject\" (this session)\n" + forget,
			"- remembered answer denies: the user chose \"always reject\" (this session)\n" + forget},
	} {
		s := newSetup().build()
		s.user.give = []string{tt.answer}
		call := bash("make")
		s.do(t, call)
		if got := call.Record.Explain(); got != asks+tt.first {
			t.Errorf("answered %q: got\n%s\nwant\n%s", tt.answer, got, asks+tt.first)
		}
		if tt.again == "" {
			continue
		}
		s.do(t, call)
		if got := call.Record.Explain(); got != asks+tt.again {
			t.Errorf("after %q: got\n%s\nwant\n%s", tt.answer, got, asks+tt.again)
		}
	}
	for decision, want := range map[Action]string{
		Allow: "- auto judge allows: the reason (the session's mode)\n- What changes it: the command /mode",
		Deny:  "- auto judge denies: the reason (the session's mode)\n- What changes it: the command /mode",
		Ask:   "- auto judge asks: the reason (the session's mode)\n- The user did not answer: gone\n" + advice,
	} {
		s := newSetup()
		s.mode = "auto-judge"
		s.build().perm.Arbiter = arbiter{decision: decision, asked: new(int)}
		s.perm.Approver = approve(func(context.Context) (string, error) { return "", errors.New("gone") })
		call := bash("make")
		s.do(t, call)
		if got := call.Record.Explain(); got != asks+want {
			t.Errorf("the model says %s: got\n%s\nwant\n%s", decision, got, asks+want)
		}
	}
}
