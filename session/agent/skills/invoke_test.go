package skills

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/session/agent/frontmatter"
)

// TestInvoke checks the subturn of a skill, and its report.
func TestInvoke(t *testing.T) {
	var read []string
	set := New(Options{
		Known:  func() []executors.Tool { return claudeTools },
		Config: setting.Default[Config](), Dir: "/w", System: func() (system, project string) { return "system", "project" },
		Sources: []Source{{Name: "yours", FS: fstest.MapFS{
			"plain/SKILL.md":   {Data: []byte("Do it.")},
			"plain/more.md":    {},
			"narrow/SKILL.md":  {Data: []byte("---\nallowed-tools: Read, Grep, Bash(git log:*)\nsecrets: TOKEN\n---\nLook.")},
			"none/SKILL.md":    {Data: []byte("---\nallowed-tools: []\n---\nThink.")},
			"missing/SKILL.md": {Data: []byte("---\nx-requires-secrets: [TOKEN, OTHER]\n---\nNo.")},
			"long/SKILL.md":    {Data: make([]byte, 0)},
		}}},
		OnRead: func(skill string) { read = append(read, skill) },
		Secret: func(name string) string { return map[string]string{"TOKEN": "t0ken"}[name] },
	})
	var got executors.Delegation
	report, fails := executors.Report{Text: "Done.", Caller: "s/skill", Calls: 2}, error(nil)
	delegate := func(_ context.Context, d executors.Delegation) (executors.Report, error) {
		got = d
		return report, fails
	}
	run := func(input string) executors.Result {
		t.Helper()
		res, err := set.Execute(t.Context(), &executors.Call{Tool: "invoke_skill", Input: []byte(input), InTurn: executors.InTurn{Delegate: delegate}})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}

	if res := run(`{"name":"plain","task":" v1 "}`); res.Failed || res.Text != "Done." {
		t.Errorf("plain: %s", res.ForModel())
	}
	want := strings.TrimSpace(taskText) + "\n\nThe skill plain:\nDo it.\n[Files of the skill; load_skill with file returns one.]\nmore.md\n\nWhat it is to do:\nv1"
	if got.Task != want || got.System != "system" || got.Project != "project" || got.Name != "skill:plain" || got.Rounds != 30 ||
		got.Tools != nil || got.Env != nil {
		t.Errorf("plain: %+v", got)
	}
	if got.Bounds(&executors.Call{Tool: "write"}) != nil {
		t.Error("a skill without allowed-tools has bounds")
	}
	load := func(input string) *executors.Failure {
		return got.Bounds(&executors.Call{Tool: "load_skill", Input: []byte(input)})
	}
	if load(`{"name":"plain","file":"more.md"}`) != nil || load(`{"name":"narrow"}`) == nil || load(`[]`) == nil {
		t.Error("a skill loads another one, or not its own files")
	}

	report = executors.Report{Ended: "it reached its limit"}
	if res := run(`{"name":"narrow"}`); res.Failed || res.ForModel() !=
		"The skill ended without a report.\n[the skill stopped before it was done: it reached its limit]" {
		t.Errorf("narrow: %s", res.ForModel())
	}
	if !slices.Equal(got.Env, []string{"TOKEN=t0ken"}) || !got.Tools(executors.Tool{Name: "grep"}) || got.Tools(executors.Tool{Name: "write"}) ||
		strings.Contains(got.Task, "What it is") {
		t.Errorf("narrow: %+v", got)
	}
	if f := got.Bounds(&executors.Call{Tool: "write"}); f == nil || !strings.Contains(f.Message, "its allowed-tools are Read, Grep, Bash(git log:*)") {
		t.Errorf("narrow: %v", f)
	}
	run(`{"name":"none"}`)
	if f := got.Bounds(&executors.Call{Tool: "read"}); f == nil || !strings.Contains(f.Message,
		"its allowed-tools are no tool") || got.Tools == nil || got.Tools(executors.Tool{Name: "read"}) {
		t.Errorf("none: %v", f)
	}
	if !slices.Equal(read, []string{"plain", "narrow", "none"}) {
		t.Errorf("read %q", read)
	}

	fails = errors.New("overloaded")
	for input, want := range map[string]string{
		`{"name":"plain"}`:   "the skill plain could not continue: overloaded",
		`{"name":"missing"}`: "needs the secret OTHER, which is not set",
		`{"name":"other"}`:   `there is no skill "other"`,
	} {
		if res := run(input); !res.Failed || !strings.Contains(res.ForModel(), want) {
			t.Errorf("%s: %s", input, res.ForModel())
		}
	}
	res, err := set.Execute(t.Context(), &executors.Call{Tool: "invoke_skill", Input: []byte(`{"name":"plain"}`)})
	if err != nil || res.Category() != executors.PolicyBlocked {
		t.Errorf("in a subturn: %v, %s", err, res.ForModel())
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := set.Execute(ctx, &executors.Call{Tool: "invoke_skill", Input: []byte(`{"name":"plain"}`),
		InTurn: executors.InTurn{Delegate: delegate}}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestAllowed lists calls with allowed-tools that permit them, and others that do not.
func TestAllowed(t *testing.T) {
	bash := func(script string) executors.Call {
		return executors.Call{Tool: "bash", Card: executors.Card{Script: command.Parse(script, command.Shell{Dir: "/w"})}}
	}
	file := func(tool string, paths ...string) executors.Call {
		return executors.Call{Tool: tool, Card: executors.Card{Paths: paths}}
	}
	fetch := func(url string) executors.Call {
		return executors.Call{Tool: "fetch", Card: executors.Card{URL: url}}
	}
	for items, tt := range map[string]struct{ permits, denies []executors.Call }{
		"Bash(git:*)": {
			[]executors.Call{bash("git"), bash("git log"), bash("git log | git shortlog"), {Tool: "read_overflow"}},
			[]executors.Call{
				bash("gitk"), bash("ls"), bash("git log; ls"), bash("git log $(ls)"), bash("git log | sh"), bash("X=1 git log"), bash("PATH=/tmp; git log"),
				bash("env git log"), bash("bash -c 'git log'"), bash("git log &&"), bash(""), bash("cd / && git log"), file("read", "/w/a"), {Tool: "git"},
			},
		},
		"Bash(npm run test)": {[]executors.Call{bash("npm run test")}, []executors.Call{bash("npm run test:all"), bash("npm run test x")}},
		"Bash":               {[]executors.Call{bash("rm -rf /"), bash("if")}, []executors.Call{file("write", "/w/a")}},
		"bash(*)":            {[]executors.Call{bash("ls")}, []executors.Call{{Tool: "bash_output"}}},
		"Read(src/**)": {
			[]executors.Call{file("read", "/w/src/a/b.go")},
			[]executors.Call{file("read", "/w/a.go"), file("read", "/w/src/../../etc/passwd"), file("read", "/etc/passwd"), file("read"), file("grep", "/w/src"),
				file("write", "/w/src/a")},
		},
		"Edit(./docs/*.md)": {[]executors.Call{file("edit", "/w/docs/a.md")},
			[]executors.Call{file("edit", "/w/docs/x/a.md"), file("edit", "/w/docs/a.md", "/w/b"), file("delete_path", "/w/docs/a.md")}},
		"Edit(.zeph/*)": {[]executors.Call{file("edit", "/w/.zeph/a")}, []executors.Call{file("edit", "/w/zeph/a")}},
		"Edit([)":       {nil, []executors.Call{file("edit", "/w/[")}},
		"WebFetch(domain:go.dev)": {[]executors.Call{fetch("https://go.dev/x")},
			[]executors.Call{fetch("https://evil.dev/?go.dev"), fetch("https://x.go.dev/"), fetch("https://go.dev@evil.dev/")}},
		"WebFetch(https://go.dev)": {nil, []executors.Call{fetch("https://go.dev")}},
		"mcp__db":                  {[]executors.Call{{Tool: "db__query"}}, []executors.Call{{Tool: "db"}, {Tool: "other__query"}}},
		"mcp__db__query":           {[]executors.Call{{Tool: "db__query"}}, []executors.Call{{Tool: "db__drop"}}},
		"Task Skill":               {[]executors.Call{{Tool: "sub_agent"}, {Tool: "invoke_skill"}}, []executors.Call{{Tool: "exit_plan"}, bash("ls")}},
	} {
		a := ParseAllowed(frontmatter.Value(items).List(), "/w", claudeTools)
		for _, c := range tt.permits {
			c.Spec, _ = executors.Find(claudeTools, c.Tool)
			if c.Spec.Name = c.Tool; !a.Permits(&c) || !a.Offers(c.Spec) {
				t.Errorf("%s does not permit %s %s", items, c.Tool, cmp.Diff(executors.Card{}, c.Card))
			}
		}
		for _, c := range tt.denies {
			if a.Permits(&c) {
				t.Errorf("%s permits %s %s", items, c.Tool, cmp.Diff(executors.Card{}, c.Card))
			}
		}
	}
}

// claudeTools are tools with their names in the format of Claude Code.
var claudeTools = []executors.Tool{
	{Name: "bash", Names: executors.Names{Claude: "Bash"}}, {Name: "bash_output", Names: executors.Names{Claude: "BashOutput Bash"}},
	{Name: "bash_stop", Names: executors.Names{Claude: "KillShell Bash"}}, {Name: "read", Names: executors.Names{Claude: "Read"}},
	{Name: "write", Names: executors.Names{Claude: "Write"}}, {Name: "edit", Names: executors.Names{Claude: "Edit MultiEdit"}},
	{Name: "grep", Names: executors.Names{Claude: "Grep"}}, {Name: "search_code", Names: executors.Names{Claude: "Grep"}},
	{Name: "find_path", Names: executors.Names{Claude: "Glob"}}, {Name: "list_directory", Names: executors.Names{Claude: "LS"}},
	{Name: "web_scrape", Names: executors.Names{Claude: "WebFetch"}}, {Name: "fetch", Names: executors.Names{Claude: "WebFetch"}},
	{Name: "sub_agent", Names: executors.Names{Claude: "Task Agent"}}, {Name: "invoke_skill", Names: executors.Names{Claude: "Skill"}},
	{Name: "load_skill", Names: executors.Names{Claude: "Skill"}},
	{Name: "read_overflow", Traits: executors.ReadsStored},
}
