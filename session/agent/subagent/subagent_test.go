package subagent

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/permission/approval"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// sessionTools are the tools of a session in the tests.
func sessionTools() []executors.Tool {
	return []executors.Tool{
		{Name: "read", Effect: executors.Reads, Subject: executors.Path("path")}, {Name: "grep", Effect: executors.Reads, Subject: executors.Path("path")},
		{Name: "read_overflow", Effect: executors.Reads, Traits: executors.ReadsStored},
		{Name: "write", Effect: executors.Mutates}, {Name: "bash", Effect: executors.Mutates}, {Name: "db__query", Effect: executors.Network},
		{Name: "update_plan", Effect: executors.Internal},
	}
}

func TestParse(t *testing.T) {
	for name, tt := range map[string]struct {
		head string
		want string // the tools that it has
		warn bool
		err  bool
	}{
		"all tools":          {"name: a", "read grep read_overflow write bash db__query update_plan", false, false},
		"names of others":    {"name: a\ntools: Read, Grep", "read grep read_overflow", false, false},
		"a list":             {"name: a\ntools:\n  - Bash\n  - mcp__db", "read_overflow bash db__query", false, false},
		"our names":          {"name: a\ntools: [write, db__query]", "read_overflow write db__query", false, false},
		"one tool of MCP":    {"name: a\ntools: mcp__db__query", "read_overflow db__query", false, false},
		"no tool at all":     {"name: a\ntools:", "read_overflow", false, false},
		"only unknown tools": {"name: a\ntools: Fly", "read_overflow", true, false},
		"some calls only":    {"name: a\ntools: Bash(ls:*), Read", "read read_overflow", true, false},
		"isolated":           {"name: a\ntools: Read\nisolation: worktree", "read read_overflow", false, false},
		"otherwise isolated": {"name: a\nisolation: container", "", false, true},
		"all but":            {"name: a\ndisallowedTools: Write, Bash", "read grep read_overflow db__query update_plan", false, false},
		"all but unknown":    {"name: a\ndisallowedTools: Bash(rm:*)", "", false, true},
		"no name":            {"description: x", "", false, true},
		"a path as name":     {"name: ../a", "", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			typ, warnings, err := parse(".zeph/agents/a.md", "---\n"+tt.head+"\n---\nDo it.\n", known)
			if err != nil != tt.err || len(warnings) > 0 != tt.warn {
				t.Fatalf("%v, %q", err, warnings)
			}
			if err != nil {
				return
			}
			var has []string
			for _, tool := range sessionTools() {
				if typ.offers(tool) {
					has = append(has, tool.Name)
				}
			}
			if got := strings.Join(has, " "); got != tt.want || typ.Prompt != "Do it." {
				t.Errorf("it has %q, want %q", got, tt.want)
			}
		})
	}
	for _, text := range []string{"no front matter", "---\nname: a\n", "---\nname: a\n---\n" + strings.Repeat("x", maxFile)} {
		if _, _, err := parse("a.md", text, known); err == nil {
			t.Errorf("%.20q was accepted", text)
		}
	}
}

// The sample file in the documentation defines a type.
func TestDocumentedFile(t *testing.T) {
	page, err := os.ReadFile("../../../docs/agents.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(page), "```markdown\n")
	text, _, _ = strings.Cut(text, "```")
	typ, warnings, err := parse("tester.md", text, known)
	if err != nil || len(warnings) > 0 || typ.Name != "tester" || typ.Model != "haiku" || !strings.HasPrefix(typ.Prompt,
		"Run the tests") || !typ.writes(sessionTools()) {
		t.Errorf("%+v, %q, %v", typ, warnings, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("---\nname: a\ntools: Read\nmodel: inherit\n---\ntext")
	f.Fuzz(func(t *testing.T, text string) {
		typ, _, err := parse("a.md", text, known)
		if err != nil {
			return
		}
		if !typeName.MatchString(typ.Name) {
			t.Errorf("the name is %q", typ.Name)
		}
		for _, tool := range sessionTools() {
			typ.offers(tool)
		}
		typ.modelLine()
	})
}

func TestWrites(t *testing.T) {
	for name, tt := range map[string]struct {
		tools  []string
		except []string
		want   bool
	}{
		"all":             {nil, nil, true},
		"reading":         {[]string{"read", "grep"}, nil, false},
		"a command":       {[]string{"read", "b*"}, nil, true},
		"a server":        {[]string{"db__*"}, nil, false},
		"all but writing": {nil, []string{"write", "bash"}, false},
	} {
		if got := (Type{Tools: tt.tools, except: tt.except}).writes(sessionTools()); got != tt.want {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}

// project is a repository with files.
type project struct {
	files    map[string]string
	asked    []string
	answer   approval.Answer
	warnings []string
}

func (p *project) options() Options {
	return Options{
		Known:  func() []executors.Tool { return known },
		Config: setting.Default[Config](), Dir: "/w", Tools: sessionTools, System: func() (system, project string) { return "S", "P" },
		Project: func(dir string) (names []string) {
			for name := range p.files {
				if path.Dir(name) == dir {
					names = append(names, name)
				}
			}
			slices.Sort(names)
			return names
		},
		Read: func(name string) ([]byte, error) {
			if text, ok := p.files[name]; ok {
				return []byte(text), nil
			}
			return nil, fs.ErrNotExist
		},
		Desk: &approval.Desk{Ask: func(_ context.Context, q approval.Question) approval.Answer {
			p.asked = append(p.asked, q.Title+"\n"+q.Text)
			return p.answer
		}},
		Model: func(name string) string {
			if name == "haiku" {
				return "claude:claude-haiku-4-5"
			}
			return ""
		},
		Warn: func(w string) { p.warnings = append(p.warnings, w) },
	}
}

const tester = "---\nname: tester\ndescription: runs tests\ntools: Bash\nmodel: haiku\n---\nTest.\n"

// The types of a repository count after the user's approval, and stay the same until the
// conversation is cleared.
func TestReady(t *testing.T) {
	p := &project{files: map[string]string{
		".claude/agents/tester.md": tester, ".zeph/agents/other.md": "---\nname: other\nmodel: gpt-9\n---\n",
		".zeph/agents/README.md": "x", ".zeph/agents/broken.md": "x", ".zeph/agents/mine.md": "---\nname: mine\n---\n",
		".zeph/agents/look.md": "---\nname: explore\n---\n",
		".zeph/agents/odd.md":  "---\nname: odd\ndescription: \"![](http://a.example)\\x1b[31m\"\ndisallowedTools: [Bash\n---\n",
		".zeph/agents/none.md": "---\nname: none\ntools: []\n---\n",
	}}
	o := p.options()
	o.Types = Types{{Name: "mine", Prompt: "of the user"}}
	s := New(o)
	s.Ready(t.Context())
	if _, err := s.find("tester"); err == nil {
		t.Error("a type that the user rejected counts")
	}
	if len(p.asked) != 1 || !strings.Contains(p.asked[0], `"tools": []`) || !strings.Contains(p.asked[0], "Test.") || !strings.Contains(p.asked[0],
		"claude-haiku") {
		t.Errorf("asked %q", p.asked)
	}
	p.answer = approval.Once
	p.asked = nil
	o = p.options()
	o.Types = Types{{Name: "mine", Prompt: "of the user"}}
	s = New(o)
	s.Ready(t.Context())
	typ, err := s.find("tester")
	want := Type{Name: "tester", Description: "runs tests", Prompt: "Test.", Tools: []string{"bash", "bash_output", "bash_stop"},
		Model: "claude:claude-haiku-4-5", file: ".claude/agents/tester.md"}
	if diff := cmp.Diff(want, typ, cmp.AllowUnexported(Type{}), cmpopts.EquateEmpty()); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	list := s.List()
	for _, part := range []string{"- `explore`: `only reads; finds and explains code`; tools that read files\n", "- `mine`: no description; all tools\n",
		"- `tester`: `runs tests`; `bash, bash_output, bash_stop`; model claude:claude-haiku-4-5; `.claude/agents/tester.md`\n",
		"- `odd`: `![](http://a.example)<U+001B>[31m`; all tools except `bash, bash_output, bash_stop`"} {
		if !strings.Contains(list, part) {
			t.Errorf("no %q in\n%s", part, list)
		}
	}
	if mine, _ := s.find("mine"); mine.Prompt != "of the user" {
		t.Error("a file replaced an entry of the user")
	}
	if explore, _ := s.find("explore"); !explore.readsFiles {
		t.Error("a file replaced a built-in type")
	}
	if other, _ := s.find("other"); other.Model != "" {
		t.Errorf("a model that does not exist: %q", other.Model)
	}
	for _, part := range []string{"broken.md", "mine.md", "look.md", "gpt-9"} {
		if !strings.Contains(strings.Join(p.warnings, "\n"), part) {
			t.Errorf("no warning about %s: %q", part, p.warnings)
		}
	}
	p.files[".zeph/agents/late.md"] = "---\nname: late\n---\n"
	s.Ready(t.Context())
	if _, err := s.find("late"); err == nil {
		t.Error("the types changed within a conversation")
	}
	s.Reset()
	s.Ready(t.Context())
	if _, err := s.find("late"); err != nil {
		t.Error(err)
	}
}

func TestOffered(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*Options)
		want   bool
	}{
		"only built-in types": {func(*Options) {}, true},
		"a type of the user":  {func(o *Options) { o.Types = Types{{Name: "a"}} }, true},
		"off":                 {func(o *Options) { o.Types, o.Enabled = Types{{Name: "a"}}, false }, false},
	} {
		o := (&project{}).options()
		tt.change(&o)
		if got := strings.Contains(New(o).List(), "switched off"); got == tt.want {
			t.Errorf("%s: %s", name, New(o).List())
		}
		if got := len(New(o).Tools()) == 1; got != tt.want {
			t.Errorf("%s: offered %v, want %v", name, got, tt.want)
		}
	}
}

// call returns a call whose tasks are done by work.
func call(input string, work func(executors.Delegation) (executors.Report, error)) *executors.Call {
	c := &executors.Call{Tool: toolName, Input: []byte(input)}
	if work != nil {
		c.Delegate = func(_ context.Context, d executors.Delegation) (executors.Report, error) { return work(d) }
	}
	return c
}

func TestRun(t *testing.T) {
	o := (&project{}).options()
	o.Types = Types{{Name: "reviewer", Prompt: "Review.", Tools: []string{"read"}, Model: "m:x"}}
	s := New(o)
	var got executors.Delegation
	done := executors.Report{Caller: "s1/reviewer-1", Text: "All is well.", Model: "m:x", Calls: 2}
	for name, tt := range map[string]struct {
		input  string
		report executors.Report
		err    error
		failed bool
		want   string
	}{
		"done":    {`{"task":"look","type":"reviewer"}`, done, nil, false, "All is well."},
		"no type": {`{"task":"look"}`, done, nil, false, "All is well."},
		"unknown": {`{"task":"look","type":"x"}`, done, nil, true, `The types are: explore, general, reviewer.`},
		"stopped": {`{"task":"look"}`, executors.Report{Text: "so far", Ended: "it was full"}, nil, false,
			"so far\n[the sub-agent stopped before it was done: it was full]"},
		"silent": {`{"task":"look"}`, executors.Report{}, nil, false, "The sub-agent ended without a report."},
		"failed": {`{"task":"look"}`, executors.Report{Text: "so far"}, errors.New("overloaded"), true, "could not continue: overloaded"},
	} {
		t.Run(name, func(t *testing.T) {
			res, err := s.Execute(t.Context(), call(tt.input, func(d executors.Delegation) (executors.Report, error) { got = d; return tt.report, tt.err }))
			if err != nil || res.Failed != tt.failed || !strings.Contains(res.ForModel(), tt.want) {
				t.Errorf("%v, %q", err, res.ForModel())
			}
			if name == "done" && (!strings.HasPrefix(got.System, "S\n\nYou are a sub-agent") || !strings.HasSuffix(got.System,
				"\n\nReview.") || got.Project != "P" || got.Model != "m:x" || got.Rounds != 30 || got.Task != "look" || got.Tools(executors.Tool{Name: "bash"})) {
				t.Errorf("%+v", got)
			}
		})
	}
	if res, _ := s.Execute(t.Context(), call(`{"task":"x"}`, nil)); !res.Failed {
		t.Error("a sub-agent started another one")
	}
	if _, err := s.Prepare(t.Context(), call(`{"task":" "}`, nil)); err == nil {
		t.Error("an empty task was accepted")
	}
}

// Sub-agents that can write wait for each other, and a cancel ends the wait; those that
// only read do not wait.
func TestWritersWaitForEachOther(t *testing.T) {
	s := New((&project{}).options())
	started, finish := make(chan struct{}), make(chan struct{})
	ended := make(chan error)
	work := func(executors.Delegation) (executors.Report, error) {
		started <- struct{}{}
		<-finish
		return executors.Report{Text: "x"}, nil
	}
	go func() { _, err := s.Execute(t.Context(), call(`{"task":"first"}`, work)); ended <- err }()
	<-started
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	go func() {
		_, err := s.Execute(ctx, call(`{"task":"second"}`, func(executors.Delegation) (executors.Report, error) {
			t.Error("two sub-agents that write work at the same time")
			return executors.Report{}, nil
		}))
		ended <- err
	}()
	if res, err := s.Execute(t.Context(), call(`{"task":"look","type":"explore"}`, func(executors.Delegation) (executors.Report, error) {
		return executors.Report{Text: "found"}, nil
	})); err != nil || res.Text != "found" {
		t.Error(res, err)
	}
	cancel(stopped)
	if err := <-ended; !errors.Is(err, stopped) {
		t.Error(err)
	}
	close(finish)
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestConfig(t *testing.T) {
	if wrong := setting.Check(setting.Default[Config]()); len(wrong) > 0 {
		t.Errorf("setting.Check(setting.Default[Config]()): got %v, want none", wrong)
	}
	if wrong := setting.Check(Config{MaxParallel: 17}); len(wrong) != 3 {
		t.Errorf("setting.Check(Config{MaxParallel: 17}): got %v, want 3 of them", wrong)
	}
	wrong := setting.Check(Types{{Name: "A"}, {Name: "a"}, {Name: "a", Tools: []string{"bash(ls)"}}})
	for _, key := range []string{"[0].name", "[2].name", "[2].tools[0]"} {
		if wrong[key] == "" {
			t.Errorf("%s is accepted: %v", key, wrong)
		}
	}
	c, ignored := setting.Tighten(setting.Default[Config](), Config{MaxParallel: 2, MaxRounds: 100,
		OutputLimit: executors.OutputLimit{MaxOutputChars: 60_000}}, setting.Paths[Config]()...)
	if want := (Config{Enabled: false, MaxParallel: 2, MaxRounds: 30, OutputLimit: executors.OutputLimit{MaxOutputChars: 50_000}}); c != want {
		t.Errorf("%+v", c)
	}
	if diff := cmp.Diff([]string{"max_output_chars", "max_rounds"}, ignored); diff != "" {
		t.Error(diff)
	}
}

// known are tools with their names in the format of Claude Code.
var known = []executors.Tool{
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

// TestPluginTypes checks the names of a plug-in's types, and that none replaces another.
func TestPluginTypes(t *testing.T) {
	var notes []string
	files := fstest.MapFS{
		"general.md": {Data: []byte("---\nname: general\ndescription: d\ntools: Read, Fly\nmodel: opus\n---\nDo it.")},
		"x/named.md": {Data: []byte("---\ndescription: d\n---\nDo it.")},
		"none.md":    {Data: []byte("Do it.")},
		"slash.md":   {Data: []byte("---\nname: a/b\n---\nDo it.")},
	}
	s := New(Options{
		Plugins: []Plugin{{Name: "p", Files: files, Names: []string{"general.md", "none.md", "slash.md", "x/named.md"},
			Note: func(text string) { notes = append(notes, text) }}},
		Known: func() []executors.Tool { return known }, Tools: func() []executors.Tool { return known }, Model: func(string) string { return "" },
	})
	all := s.TypesOf("p")
	if len(all) != 2 || all[0].Name != "p:general" || all[1].Name != "p:named" || all[0].Model != "" {
		t.Errorf("%+v", all)
	}
	if own, err := s.find(""); err != nil || own.Name != general {
		t.Errorf("%+v, %v", own, err)
	}
	if len(notes) != 4 {
		t.Errorf("%q", notes)
	}
}
