package cedarpolicy

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cedar-policy/cedar-go/x/exp/ast"
	"github.com/cedar-policy/cedar-go/x/exp/schema"
	"github.com/cedar-policy/cedar-go/x/exp/schema/validate"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/gates/rules"
	"github.com/zeph-acp/zeph-acp/executors/gates/rules/target"
)

// call returns a prepared call of the session in /w: "bash COMMAND", "fetch URL" or
// "TOOL PATH".
func call(text string) *executors.Call {
	tool, rest, _ := strings.Cut(text, " ")
	c := &executors.Call{Tool: tool, Session: "s", Caller: "s", Record: &executors.Record{}, Spec: executors.Tool{Name: tool}}
	input := map[string]any{}
	switch tool {
	case "bash":
		c.Card = executors.Card{Command: rest, Dir: "/w", Kind: executors.KindExecute}
		input["command"] = rest
	case "fetch":
		c.Card.URL, input["url"] = rest, rest
	case "read", "write":
		input["path"] = rest
		if !strings.HasPrefix(rest, "/") {
			rest = "/w/" + rest
		}
		c.Card.Paths = []string{rest}
	}
	c.Input, _ = json.Marshal(input)
	return c
}

func judge(t *testing.T, p *Policies, c *executors.Call) executors.Verdict {
	s := rules.Subject{Cwd: "/w", Roots: []string{"/w"}, Level: "trusted"}
	return p.Judge(t.Context(), c, target.Of(c, target.Session{Cwd: "/w", Home: "/home/u"}), s)
}

// The policies of the documentation fit its schema and decide as its table says.
func TestDocs(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/policy.md")
	if err != nil {
		t.Fatal(err)
	}
	block := func(language string) string {
		_, rest, _ := strings.Cut(string(page), "```"+language+"\n")
		text, _, ok := strings.Cut(rest, "```")
		if !ok {
			t.Fatalf("the page has no %s", language)
		}
		return text
	}
	policies, err := Parse("docs/policy.md", []byte(block("cedar")))
	if err != nil {
		t.Fatal(err)
	}
	var s schema.Schema
	if err := s.UnmarshalCedar([]byte(block("cedarschema"))); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve()
	if err != nil {
		t.Fatal(err)
	}
	v := validate.New(resolved)
	for id, p := range policies.set.All() {
		if err := v.Policy(string(id), (*ast.Policy)(p.AST())); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	_, table, _ := strings.Cut(string(page), "With these policies")
	rows := regexp.MustCompile("(?m)^\\| `(.*)` \\| (allow|ask|deny) \\|$").FindAllStringSubmatch(table, -1)
	if len(rows) < 10 {
		t.Fatalf("the table has %d rows", len(rows))
	}
	for _, row := range rows {
		c := call(row[1])
		got := judge(t, policies, c)
		if string(got.Decision) != row[2] || got.Rule == "" {
			t.Errorf("%s: %+v, want %s", row[1], got, row[2])
		}
		for _, r := range requests(c, target.Of(c, target.Session{Cwd: "/w"}), rules.Subject{Cwd: "/w", Roots: []string{"/w"}}) {
			if err := v.Request(r.Request); err != nil {
				t.Errorf("%s: the request does not fit the schema: %v", row[1], err)
			}
			for _, e := range r.entities {
				if err := v.Entity(e); err != nil {
					t.Errorf("%s: an entity does not fit the schema: %v", row[1], err)
				}
			}
		}
	}
}

func TestJudge(t *testing.T) {
	const all = "permit (principal, action, resource);\n"
	for name, tt := range map[string]struct {
		policies, call string
		want           executors.Decision
		rule           string // in the rule of the verdict
	}{
		"nothing permitted":                {"", "read a", executors.Deny, `no permit: File::"/w/a"`},
		"an error in a permit":             {all + "permit (principal, action, resource) when { context.input.nothing == 1 };", "read a", executors.Deny, "error in policy1 (x.cedar:2)"},
		"an error in a forbid":             {all + "forbid (principal, action, resource) when { resource.nothing };", "read a", executors.Deny, "error in policy1"},
		"a forbid with an id":              {all + "@id(\"no-a\")\nforbid (principal, action, resource is File) when { resource.name == \"a\" };", "read a", executors.Deny, "forbid no-a (x.cedar:2)"},
		"an ask beside a permit":           {all + "@decision(\"ask\")\npermit (principal, action == Action::\"read\", resource);", "read a", executors.Ask, "ask policy1 (x.cedar:2)"},
		"one of two files":                 {"permit (principal, action, resource is Command);\npermit (principal, action, resource == File::\"/w/a\");\npermit (principal, action, resource == File::\"/w\");", "bash cp a b", executors.Deny, `File::"/w/b"`},
		"both files":                       {all, "bash cp a b", executors.Allow, "permit policy0"},
		"a command that cannot be parsed":  {"permit (principal, action, resource is Command);", "bash a (", executors.Deny, "Unknown"},
		"a guess needs no permit":          {"permit (principal, action, resource is File);\npermit (principal, action, resource) when { resource is Command && resource.program == \"x\" };\npermit (principal, action, resource is Unknown);", "bash true", executors.Deny, "no permit"},
		"a redirection":                    {all + "forbid (principal, action, resource == File::\"/w/out\");", "bash echo >out", executors.Deny, "forbid"},
		"the host of a command":            {all + "forbid (principal, action, resource in Domain::\"example.org\");", "bash git push git@git.example.org:x", executors.Deny, "forbid"},
		"a number and a missing attribute": {all + "forbid (principal, action, resource) when { context.input has n && context.input.n > 3 };", "read a", executors.Allow, "permit"},
		"the session":                      {"permit (principal, action, resource) when { context.session.trust == \"trusted\" && context.session.cwd == \"/w\" && context.session.origin == \"model\" };", "update_plan", executors.Allow, `Tool::"update_plan"`},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := Parse("x.cedar", []byte(tt.policies))
			if err != nil {
				t.Fatal(err)
			}
			if v := judge(t, p, call(tt.call)); v.Decision != tt.want || !strings.Contains(v.Rule, tt.rule) {
				t.Errorf("%+v, want %s by %s", v, tt.want, tt.rule)
			}
		})
	}
}

// A sub-agent is a caller in the one that started it.
func TestCaller(t *testing.T) {
	p, err := Parse("x.cedar", []byte(`permit (principal in Caller::"s", action, resource) unless { principal.sub_agent && resource is Command };`))
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]executors.Decision{"read a": executors.Allow, "bash ls": executors.Deny} {
		c := call(text)
		c.Caller = "s/1/2"
		if v := judge(t, p, c); v.Decision != want {
			t.Errorf("%s: %+v", text, v)
		}
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]struct {
		line int
		text string
	}{
		"permit (principal, action, resource)\n\nwhen { 1 + };":                                              {3, "invalid primary"},
		"permit (\nprincipal, action,\nresourc);":                                                            {3, "want resource"},
		"\n@decision(\"deny\")\npermit (principal, action, resource);":                                       {2, `the only decision is "ask"`},
		"@decision(\"ask\")\nforbid (principal, action, resource);":                                          {1, "belongs to a permit"},
		"@id(\"a\") permit (principal, action, resource);\n@id(\"a\") permit (principal, action, resource);": {2, "is the id of another policy"},
		"\xff": {0, "UTF-8"},
		strings.Repeat("permit (principal, action, resource);", maxPolicies+1): {0, "more than the limit"},
	} {
		_, err := Parse("x", []byte(text))
		wrong, ok := errors.AsType[*ParseError](err)
		if !ok || wrong.Line != want.line || !strings.Contains(wrong.Text, want.text) {
			t.Errorf("%.60q: %#v, want %+v", text, err, want)
		}
	}
}

// A call that descends into a directory is asked about if a policy may forbid a file
// below it.
func TestTree(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "src"), 0o700); err != nil {
		t.Fatal(err)
	}
	for forbid, want := range map[string]executors.Decision{
		`forbid (principal, action, resource in Directory::"D/secrets");`:                                       executors.Ask,
		`forbid (principal, action, resource in Directory::"/other");`:                                          executors.Allow,
		`forbid (principal, action, resource == File::"D/src/key");`:                                            executors.Ask,
		`forbid (principal, action, resource is File) when { resource.name like "*.key" };`:                     executors.Ask,
		`forbid (principal, action, resource is File in Directory::"D/x") when { resource.name like "*.key" };`: executors.Ask,
		`forbid (principal, action == Action::"write", resource);`:                                              executors.Allow,
		`forbid (principal, action, resource is Command) when { resource.program == "dd" };`:                    executors.Allow,
		`forbid (principal, action, resource) when { context.session.trust == "blocked" };`:                     executors.Allow,
		`forbid (principal, action, resource) when { resource is File && resource.name == "key" };`:             executors.Ask,
		`forbid (principal, action, resource in Directory::"D");`:                                               executors.Deny,
	} {
		p, err := Parse("x.cedar", []byte("permit (principal, action, resource);\n"+strings.ReplaceAll(forbid, "D/", dir+"/")))
		if strings.Contains(forbid, `"D"`) {
			p, err = Parse("x.cedar", []byte("permit (principal, action, resource);\n"+strings.ReplaceAll(forbid, `"D"`, `"`+dir+`"`)))
		}
		if err != nil {
			t.Fatal(err)
		}
		c := call("bash grep -r x")
		c.Card.Dir = dir
		s := rules.Subject{Cwd: dir, Roots: []string{dir}, Level: "trusted"}
		if v := p.Judge(t.Context(), c, target.Of(c, target.Session{Cwd: dir}), s); v.Decision != want {
			t.Errorf("%s: %+v, want %s", forbid, v, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("permit (principal, action, resource) when { resource has name };")
	f.Add("@decision(\"ask\") permit (principal, action == Action::\"x\", resource is File in Directory::\"/\") unless { [1].contains(2) };")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse("x", []byte(text))
		if err != nil {
			return
		}
		if v := judge(t, p, call("bash cat a")); v.Decision == "" {
			t.Errorf("no decision: %+v", v)
		}
	})
}

func BenchmarkJudge(b *testing.B) {
	p, err := Parse("x", []byte(strings.Repeat("permit (principal, action, resource is File) when { resource.name like \"*.go\" && context.input has path };\n", 50)))
	if err != nil {
		b.Fatal(err)
	}
	c := call("read main.go")
	s := rules.Subject{Cwd: "/w", Roots: []string{"/w"}, Level: "trusted"}
	b.ReportAllocs()
	for b.Loop() {
		p.Judge(b.Context(), c, target.Of(c, target.Session{Cwd: "/w"}), s)
	}
}
