package executors

import (
	"strings"
	"testing"
)

// The decision, the rule, the answer and the explanation come from the same list.
func TestDecisionRecord(t *testing.T) {
	policy := Verdict{Gate: "policy", Decision: Allow, Rule: "default: allow (no matching rules)", Source: "tools.policy"}
	permission := func(d Decision, rule, source, change string) Verdict {
		return Verdict{Gate: PermissionGate, Decision: d, Rule: rule, Source: source, Change: change}
	}
	asks := permission(Ask, "default: changes need permission", BuiltIn, `the answer "always"`)
	guard := Verdict{Gate: GuardGate, Decision: Ask, Reason: "it opens /dev/tcp", Source: BuiltIn, Change: "nothing"}
	trust := Verdict{Gate: "trust", Decision: Ask, Reason: "tool:bash is untrusted", Source: "tools.trust.levels", Change: "the command /trust"}
	user := func(d Decision, rule, answer, words string) Verdict {
		return Verdict{Gate: UserGate, Decision: d, Rule: rule, Answer: answer, Reason: words}
	}
	judge := func(d Decision) Verdict {
		return Verdict{Gate: JudgeGate, Decision: d, Reason: "it is a test", Source: "tools.judge.provider", Change: "the command /mode"}
	}
	hop := permission(Deny, "default: no", BuiltIn, "a rule")
	hop.About = "https://b.example/"
	for name, tt := range map[string]struct {
		list                   []Verdict
		decision               Decision
		rule, answer, deciding string
		text                   []string
	}{
		"nothing": {nil, "", "", "", "no gate has decided", nil},
		"a gate that allows does not decide": {
			[]Verdict{policy}, "", "", "", "no gate has decided", []string{"policy allows: allow (no matching rules) (tools.policy)"},
		},
		"a rule": {
			[]Verdict{policy, permission(Allow, "rule x", "/c.toml:7", "that rule")}, Allow, "rule x (/c.toml:7)", "", "permission allows: rule x (/c.toml:7)",
			[]string{"policy allows: allow (no matching rules) (tools.policy)", "permission allows: rule x (/c.toml:7)", "What changes it: that rule"},
		},
		"unanswered": {
			[]Verdict{asks}, Ask, "default: changes need permission", "", "permission asks: changes need permission (built in)",
			[]string{"permission asks: changes need permission (built in)", `What changes it: the answer "always"`},
		},
		"allowed once": {
			[]Verdict{asks, user(Allow, "the user allowed it", "allow_once", "")}, Allow, "the user allowed it", "allow_once", "The user allowed it once",
			[]string{"permission asks: changes need permission (built in)", "The user allowed it once", `What changes it: the answer "always"`},
		},
		"rejected with words": {
			[]Verdict{asks, user(Deny, "the user rejected it", "reject_once", "use mv")}, Deny, "the user rejected it", "reject_once", "The user rejected it: use mv",
			[]string{"permission asks: changes need permission (built in)", "The user rejected it: use mv", `What changes it: the answer "always"`},
		},
		"dismissed": {
			[]Verdict{asks, user(Ask, "", "dismissed", "")}, Ask, "default: changes need permission", "dismissed", "permission asks: changes need permission (built in)",
			[]string{"permission asks: changes need permission (built in)", "The user dismissed the question", `What changes it: the answer "always"`},
		},
		"no one answers": {
			[]Verdict{asks, user(Ask, "", "", "no client")}, Ask, "default: changes need permission", "", "permission asks: changes need permission (built in)",
			[]string{"permission asks: changes need permission (built in)", "The user did not answer: no client", `What changes it: the answer "always"`},
		},
		"the reasons of gates are not repeated": {
			[]Verdict{guard, trust, permission(Ask, "it opens /dev/tcp; trust: tool:bash is untrusted", BuiltIn, "")},
			Ask, "it opens /dev/tcp; trust: tool:bash is untrusted", "", "permission asks: it opens /dev/tcp; trust: tool:bash is untrusted (built in)",
			[]string{"guard asks: it opens /dev/tcp (built in)", "trust asks: tool:bash is untrusted (tools.trust.levels)", "What changes it: the command /trust"},
		},
		"a model allows": {
			[]Verdict{asks, judge(Allow)}, Allow, "auto-judge: it is a test", "", "auto judge allows: it is a test (tools.judge.provider)",
			[]string{
				"permission asks: changes need permission (built in)", "auto judge allows: it is a test (tools.judge.provider)",
				"What changes it: the command /mode",
			},
		},
		"a model is unsure": {
			[]Verdict{asks, judge(Ask)}, Ask, "default: changes need permission", "", "permission asks: changes need permission (built in)",
			[]string{
				"permission asks: changes need permission (built in)", "auto judge asks: it is a test (tools.judge.provider)",
				`What changes it: the answer "always"`,
			},
		},
		"a gate denies": {
			[]Verdict{{Gate: "quota", Decision: Deny, Rule: "tools.max = 2", Source: "tools.max, /c.toml:3", Change: "the key tools.max"}},
			Deny, "quota: tools.max = 2", "", "quota denies: tools.max = 2 (/c.toml:3)",
			[]string{"quota denies: tools.max = 2 (/c.toml:3)", "What changes it: the key tools.max"},
		},
		"a redirect is denied": {
			[]Verdict{permission(Allow, "default: reads", BuiltIn, ""), hop}, Deny, "default: reads; https://b.example/: default: no", "",
			"https://b.example/: permission denies: no (built in)",
			[]string{"permission allows: reads (built in)", "https://b.example/: permission denies: no (built in)", "What changes it: a rule"},
		},
		"a line stays a line": {
			[]Verdict{{Gate: "hooks", Decision: Deny, Reason: "a\n- b"}}, Deny, "hooks: a\n- b", "", WholeLine("hooks denies: a\n- b"),
			[]string{WholeLine("hooks denies: a\n- b")},
		},
	} {
		r := &Record{Verdicts: tt.list}
		want := ""
		if tt.text != nil {
			want = "- " + strings.Join(tt.text, "\n- ")
		}
		if r.Decision() != tt.decision || r.Rule() != tt.rule || r.Answer() != tt.answer || r.Deciding() != tt.deciding || r.Explain() != want {
			t.Errorf("%s: got %q by %q with the answer %q, %q\n%s\nwant %q by %q with the answer %q, %q\n%s", name,
				r.Decision(), r.Rule(), r.Answer(), r.Deciding(), r.Explain(), tt.decision, tt.rule, tt.answer, tt.deciding, want)
		}
	}
}

// Add notes the place of a setting.
func TestDecisionPlace(t *testing.T) {
	r := &Record{Place: func(key string) string { return map[string]string{"tools.a": "/c.toml:3"}[key] }}
	for source, want := range map[string]string{"tools.a": "tools.a, /c.toml:3", "tools.b": "tools.b", BuiltIn: BuiltIn, "/r.toml:1": "/r.toml:1"} {
		r.Verdicts = nil
		if r.Add(Verdict{Source: source}); r.Verdicts[0].Source != want {
			t.Errorf("added the source %q: got %q, want %q", source, r.Verdicts[0].Source, want)
		}
	}
}

// The subject of a call is one line that names the tool, the title and the sub-agent.
func TestSubject(t *testing.T) {
	for want, call := range map[string]Call{
		"read":                           {Tool: "read"},
		"bash: `make`":                   {Tool: "bash", Card: Card{Title: "`make`"}, Session: "s", Caller: "s"},
		"edit: a.txt, called by fixer":   {Tool: "edit", Card: Card{Title: "a.txt"}, Session: "s", Caller: "s/fixer-2"},
		"edit: " + WholeLine("a\n- b.c"): {Tool: "edit", Card: Card{Title: "a\n- b.c"}},
	} {
		if got := call.Subject(); got != want {
			t.Errorf("the subject is %q, want %q", got, want)
		}
	}
}
