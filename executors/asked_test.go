package executors

import (
	"testing"

	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/filechange"
)

func TestAskedTitle(t *testing.T) {
	before, after := "a\nb\nc", "a\nB\nc\nd\n"
	changed := filechange.Change{Op: filechange.Modify, Path: "/w/m.go", Old: &before, New: &after}
	cut := changed
	cut.Cut = true
	for want, call := range map[string]*Call{
		"Run `make` in /w": {
			Spec: Tool{Act: "Run"}, Card: Card{Title: "`make`", Script: command.Parse("make", command.Shell{Dir: "/w"})},
		},
		"Edit m.go (+3 −2)": {Spec: Tool{Act: "Edit"}, Card: Card{Title: "m.go", Changes: []filechange.Change{changed}}},
		"Write m.go (+4 −0)": {
			Spec: Tool{Act: "Write"}, Card: Card{Title: "m.go", Changes: []filechange.Change{{Op: filechange.Add, Path: "/w/m.go", New: &after}}},
		},
		"Write big.go":      {Spec: Tool{Act: "Write"}, Card: Card{Title: "big.go", Changes: []filechange.Change{changed, cut}}},
		"Delete docs":       {Spec: Tool{Act: "Delete"}, Card: Card{Title: "docs", Changes: []filechange.Change{{Op: filechange.Delete, Path: "/w/docs"}}}},
		"Ask the server":    {Card: Card{Title: "ask the server"}},
		"Édit of a plug-in": {Card: Card{Title: "édit of a plug-in"}},
	} {
		if got := call.AskedTitle(); got != want {
			t.Errorf("the title is %q, want %q", got, want)
		}
	}
}

func TestAskedBy(t *testing.T) {
	for want, call := range map[string]*Call{
		"":                                {Session: "s", Caller: "s"},
		"Asked by the skill tidy.":        {Session: "s", Caller: "s/skill:tidy-1"},
		"Asked by the sub-agent explore.": {Session: "s", Caller: "s/explore-2"},
		"Asked by the sub-agent explore, in its copy of the project.": {Session: "s", Caller: "s/explore-2", InSubturn: InSubturn{InCopy: true}},
	} {
		if got := call.AskedBy(); got != want {
			t.Errorf("%+v: %q, want %q", call, got, want)
		}
	}
}

func TestFailed(t *testing.T) {
	for want, call := range map[string]*Call{
		"`go test` failed":             {Spec: Tool{Act: "Run"}, Card: Card{Title: "`go test`", Script: command.Parse("go test", command.Shell{})}},
		"writing m.go failed":          {Spec: Tool{Act: "Write"}, Card: Card{Title: "m.go"}},
		"searching for x failed":       {Spec: Tool{Act: "Search for"}, Card: Card{Title: "x"}},
		"\"Search the memory\" failed": {Card: Card{Title: "Search the memory"}},
	} {
		if got := call.Failed(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestWhyAsked(t *testing.T) {
	asks := Verdict{Gate: PermissionGate, Decision: Ask, Rule: "default: changes need permission", Source: BuiltIn, Change: `the answer "always"`}
	guard := Verdict{Gate: GuardGate, Decision: Ask, Reason: "it opens /dev/tcp", Source: BuiltIn, Change: "nothing: no rule answers it"}
	trust := Verdict{Gate: "trust", Decision: Ask, Reason: "tool:bash is untrusted", Source: "tools.trust.levels", Change: "the command /trust"}
	for name, tt := range map[string]struct {
		list         []Verdict
		why, unasked string
	}{
		"nothing":   {nil, "", ""},
		"a default": {[]Verdict{{Gate: "policy", Decision: Allow}, asks}, "Why: changes need permission.", `To be asked less: the answer "always".`},
		"a rule": {
			[]Verdict{{Gate: PermissionGate, Decision: Ask, Rule: `rule "ls" of tools.permissions.bash`, Source: "/c.toml:4"}},
			`Why: rule "ls" of tools.permissions.bash (/c.toml:4).`, "",
		},
		"each time": {[]Verdict{guard, {Gate: PermissionGate, Decision: Ask, Rule: guard.Reason}}, "Why: it opens /dev/tcp.", "No rule answers it."},
		"several": {
			[]Verdict{guard, trust, {Gate: PermissionGate, Decision: Ask, Rule: "it opens /dev/tcp; trust: tool:bash is untrusted"}},
			"Why:\n- it opens /dev/tcp\n- tool:bash is untrusted (tools.trust.levels)", "To be asked less: the command /trust.",
		},
		"no reason": {[]Verdict{{Gate: "information_flow", Decision: Ask}}, "Why: the information flow asks.", ""},
	} {
		r := &Record{Verdicts: tt.list}
		if why, unasked := r.WhyAsked(), r.Unasked(); why != tt.why || unasked != tt.unasked {
			t.Errorf("%s: %q, %q, want %q, %q", name, why, unasked, tt.why, tt.unasked)
		}
	}
}
