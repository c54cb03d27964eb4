package toolset

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/llm/textcalls"
)

// rules parses "a: b c; d: e".
func rules(text string) map[string]Rule {
	out := map[string]Rule{}
	for one := range strings.SplitSeq(text, ";") {
		if name, list, ok := strings.Cut(one, ":"); ok {
			out[strings.TrimSpace(name)] = Rule{Requires: strings.Fields(list)}
		}
	}
	return out
}

func waiting(text string) *Set {
	return set(func(c *Config) { c.Dependencies.Enabled, c.Dependencies.Rules = true, rules(text) })
}

func tools(list string) []llm.Tool {
	var out []llm.Tool
	for name := range strings.FieldsSeq(list) {
		out = append(out, llm.Tool{Name: name, Description: "does what its name says"})
	}
	return out
}

func TestCycles(t *testing.T) {
	for text, want := range map[string]struct {
		cycles string
		left   string // tools that still wait
	}{
		"a: b; b: c":                         {"[]", "map[a:[b] b:[c]]"},
		"a: a":                               {"[[a]]", "map[]"},
		"a: b; b: a":                         {"[[a b]]", "map[]"},
		"top: a; a: b; b: c; c: a":           {"[[a b c]]", "map[top:[a]]"}, // a tool above a cycle still waits
		"a: b; b: a x; x: y; c: d; d: c":     {"[[a b] [c d]]", "map[x:[y]]"},
		"a: b c; b: d; c: d; d: e":           {"[]", "map[a:[b c] b:[d] c:[d] d:[e]]"},
		"a: b; b: c; c: b; d: a":             {"[[b c]]", "map[a:[b] d:[a]]"},
		"p: q r; q: p; r: p; s: r; t: s r u": {"[[p q r]]", "map[s:[r] t:[s r u]]"},
	} {
		g, notes := newGraph(rules(text))
		raw := graph{requires: map[string][]string{}}
		for name, r := range rules(text) {
			raw.requires[name] = r.Requires
		}
		if got := fmt.Sprint(raw.cycles()); got != want.cycles || fmt.Sprint(g.requires) != want.left || len(notes) != strings.Count(want.cycles, "[")-1 {
			t.Errorf("%q: cycles %s, left %v, notes %q", text, got, g.requires, notes)
		}
	}
}

// No rules leave a cycle.
func TestCyclesAtRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		all := map[string]Rule{}
		for range r.IntN(8) {
			name := string(rune('a' + r.IntN(6)))
			all[name] = Rule{Requires: append(all[name].Requires, string(rune('a'+r.IntN(6))))}
		}
		g, _ := newGraph(all)
		if left := g.cycles(); len(left) > 0 {
			t.Fatalf("%v: %v", all, left)
		}
		// Running all available tools repeatedly completes every tool.
		done := map[string]bool{}
		for range 6 {
			for name := 'a'; name < 'g'; name++ {
				free := true
				for _, other := range g.requires[string(name)] {
					free = free && done[other]
				}
				done[string(name)] = done[string(name)] || free
			}
		}
		for name, free := range done {
			if !free {
				t.Fatalf("%v: %s waits for ever", all, name)
			}
		}
	}
}

// chain answers every call, and fails the tool "broken".
type chain struct{ ran []string }

func (*chain) Tools() []executors.Tool { return nil }
func (*chain) Prepare(context.Context, *executors.Call) (executors.Card, error) {
	return executors.Card{Title: "t"}, nil
}
func (c *chain) Execute(_ context.Context, call *executors.Call) (executors.Result, error) {
	c.ran = append(c.ran, call.Tool)
	switch call.Tool {
	case "broken":
		return executors.Failf(executors.PermanentFailure, "no"), nil
	case "cancelled":
		return executors.Result{}, errors.New("cancelled")
	}
	return executors.Result{Text: "done"}, nil
}

func TestHiddenToolIsRefused(t *testing.T) {
	s := waiting("deploy: build test; test: build; x: broken; y: cancelled")
	inner := &chain{}
	gated := s.Middleware(inner)
	run := func(tool string, origin executors.Origin) executors.Result {
		call := &executors.Call{Tool: tool, Origin: origin}
		_, unfit := gated.Prepare(t.Context(), call)
		res, _ := gated.Execute(t.Context(), call)
		if (unfit != nil) != (res.Category() == executors.ToolNotFound) {
			t.Errorf("%s: Prepare says %v, Execute %+v", tool, unfit, res)
		}
		return res
	}
	s.Begin(t.Context(), model{}, "ship it", nil, tools("deploy test build x y"))
	if got := toolNames(s.Offer(model{})); got != "build" {
		t.Errorf("%s", got)
	}
	if diff := cmp.Diff([]string{"DependencyExclusion: deploy (requires build, test), test (requires build), x (requires broken), y (requires cancelled)"},
		s.Status()[2:]); diff != "" {
		t.Error(diff)
	}
	res := run("deploy", executors.Model)
	const want = "[tool_error]\ncategory: tool_not_found\nerror: deploy is not available yet: these tools must complete first: build, test\nsuggestion: Call " +
		"build, test, and deploy once that succeeded.\nretryable: false"
	if res.ForModel() != want || len(inner.ran) != 0 {
		t.Errorf("%s\nran %s", res.ForModel(), inner.ran)
	}
	for _, tool := range []string{"broken", "cancelled", "build"} {
		run(tool, executors.Model)
	}
	if got := toolNames(s.Offer(model{})); got != "build test" {
		t.Errorf("%s", got)
	}
	if run("test", executors.Model).Failed || s.turn.reasons["test"] != DependencyMet {
		t.Errorf("test waits, or is there for %s", s.turn.reasons["test"])
	}
	if got := toolNames(s.Offer(model{})); got != "build test deploy" { // after the others
		t.Errorf("%s", got)
	}
	if run("x", executors.User).Failed {
		t.Error("the user's own call waits")
	}
	s.Begin(t.Context(), model{}, "ship it", nil, tools("deploy test build x y"))
	if got := toolNames(s.Offer(textcalls.Wrap(model{}))); got != "deploy test build" {
		t.Errorf("in the text: %s", got)
	}
	s.Reset()
	s.Begin(t.Context(), model{}, "ship it", nil, tools("deploy test build x y"))
	if got := toolNames(s.Offer(model{})); got != "build" {
		t.Errorf("after /clear: %s", got)
	}
}

func TestDeadlockIgnoresRules(t *testing.T) {
	for name, tt := range map[string]struct {
		rules, prompt string
		history       []llm.Message
		change        func(*Config)
		want          string
	}{
		"mentioned":      {"deploy: build", "Deploy!", nil, nil, "deploy build"},
		"loaded":         {"deploy: build", "go", calls("build"), nil, "deploy build"},
		"loaded, failed": {"deploy: build", "go", calls("build!", "x"), nil, "build"},
		"always on": {"deploy: build", "go on", nil, func(c *Config) { c.Filter = Filter{Enabled: On, AlwaysOn: []string{"deploy"}} },
			"deploy build"},
		"always on, no filter":        {"deploy: build", "go", nil, func(c *Config) { c.Filter = Filter{AlwaysOn: []string{"deploy"}} }, "build"},
		"all wait":                    {"deploy: x; build: x", "go", nil, nil, "deploy build"},
		"all that are not always on":  {"deploy: x", "go on", nil, func(c *Config) { c.Filter = Filter{Enabled: On, AlwaysOn: []string{"build"}} }, "deploy build"},
		"all that the filter chose":   {"deploy: x", "run the deployment", nil, func(c *Config) { c.Filter = Filter{Enabled: On, TopK: 1} }, "deploy"},
		"one of a cycle, one above":   {"deploy: build; build: build", "go", nil, nil, "build"},
		"what is unknown never comes": {"deploy: biuld", "go", nil, nil, "build"},
	} {
		t.Run(name, func(t *testing.T) {
			s := set(func(c *Config) {
				c.Dependencies.Enabled, c.Dependencies.Rules = true, rules(tt.rules)
				if tt.change != nil {
					tt.change(c)
				}
			})
			s.Begin(t.Context(), model{byWords{}}, tt.prompt, tt.history, tools("deploy build"))
			if got := toolNames(s.Offer(model{})); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			inner := &chain{}
			_, _ = s.Middleware(inner).Execute(t.Context(), &executors.Call{Tool: "deploy"})
			if ran := len(inner.ran) == 1; ran != strings.Contains(tt.want, "deploy") {
				t.Errorf("deploy ran: %v", ran)
			}
		})
	}
}

func TestBoost(t *testing.T) {
	s := set(func(c *Config) {
		c.Filter = Filter{Enabled: On, TopK: 1}
		c.Dependencies.Enabled = true
		c.Dependencies.Rules = map[string]Rule{"b": {Prefers: []string{"x", "y", "z"}}}
	})
	for completed, want := range []float64{0, 0.15, 0.2, 0.2} {
		if completed > 0 {
			s.completed[string(rune('w'+completed))] = true
		}
		if got := s.boost("b"); got != want {
			t.Errorf("%d completed: %v", completed, got)
		}
	}
	// If two fit equally, the one that prefers a completed tool is picked.
	pair := []llm.Tool{{Name: "a", Description: "weigh the report by one"}, {Name: "b", Description: "weigh the report by two"}}
	s.Begin(t.Context(), model{byWords{}}, "weigh the report", nil, pair)
	if got := toolNames(s.Offer(model{})); got != "b" {
		t.Errorf("%s", got)
	}
	s.Reset()
	s.Begin(t.Context(), model{byWords{}}, "weigh the report", nil, pair)
	if got := toolNames(s.Offer(model{})); got != "a" {
		t.Errorf("%s", got)
	}
}

func TestNoMiddlewareWithoutRules(t *testing.T) {
	inner := &chain{}
	if got := set(func(c *Config) { c.Filter.Enabled = Off }).Middleware(inner); got != executors.Executor(inner) {
		t.Errorf("%T stands in the chain", got)
	}
}
