package rules

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/gates/rules/target"
)

// A deny with paths counts every string of an MCP call, and its commands; an allow is not affected by
// strings that only may be files.
func TestForeignCalls(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"secrets/key", "src/a.go"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	deny := func(paths ...string) Rule { return Rule{Effect: executors.Deny, Tool: "*", Paths: paths} }
	for input, want := range map[string]executors.Decision{
		`{"q":"secrets/key"}`: executors.Deny, `{"q":"secrets%2fkey"}`: executors.Deny, `{"a":"{\"p\":\"secrets/key\"}"}`: executors.Deny,
		`{"s":["secrets","key"]}`:     executors.Deny,
		`{"cwd":"secrets","x":"key"}`: executors.Deny, `{"secrets/key":1}`: executors.Deny, `{"q":"read secrets/key"}`: executors.Deny,
		`{"q":"SECRETS\\KEY"}`: executors.Deny,
		`{"g":"**/key"}`:       executors.Deny, `{"u":"x://h/ROOT/secrets/key"}`: executors.Deny, `{"command":"cat secrets/key"}`: executors.Deny,
		`{"cmd":["cat","secrets/key"]}`:                          executors.Deny,
		`{"command":"sh","args":["-c","cd secrets && cat key"]}`: executors.Deny, `{"script":"cd src; cat ../secrets/key"}`: executors.Deny,
		`{"command":"git --x y push"}`: executors.Deny,
		`{"argv":["git","push"]}`:      executors.Deny, `{"q":"src/a.go"}`: executors.Allow, `{"q":"hello"}`: executors.Allow,
		`{"a":[` + strings.Repeat(`"p",`, 5000) + `"secrets/key"]}`:                        executors.Ask,
		`{"a":"` + strings.Repeat("w ", 100_000) + `secrets/key"}`:                         executors.Deny,
		`{"steps":[` + strings.Repeat(`{"run":"ls"},`, 3000) + `{"run":"x && git push"}]}`: executors.Ask,
		`{"command":"git log"}`: executors.Allow, `{"path":"src/a.go","enc":"utf8"}`: executors.Allow,
	} {
		a := NewPolicy(Config{Enabled: true, DefaultEffect: executors.Allow, Rules: []Rule{
			deny("secrets/**"), {Effect: executors.Deny, Tool: "*", ArgsMatch: "^git push"},
		}}, Options{Session: target.Session{Cwd: dir, Home: "/home/u"}, Roots: []string{dir}})
		input = strings.ReplaceAll(input, "ROOT", dir)
		call := &executors.Call{Tool: "x__y", Spec: executors.Tool{Name: "x__y", Server: "x"}, Input: json.RawMessage(input), Record: &executors.Record{}}
		if got := a.Check(t.Context(), call); got.Decision != want {
			t.Errorf("%s: %q (%s), want %q", input, got.Decision, got.Reason, want)
		}
	}
	a := NewPolicy(Config{Enabled: true, DefaultEffect: executors.Deny, Rules: []Rule{{Effect: executors.Allow, Tool: "x__y", Paths: []string{"src/*"}}}},
		Options{Session: target.Session{Cwd: dir}, Roots: []string{dir}})
	call := &executors.Call{Tool: "x__y", Spec: executors.Tool{Name: "x__y", Server: "x"},
		Input: json.RawMessage(`{"path":"src/a.go","encoding":"utf8"}`), Record: &executors.Record{}}
	if got := a.Check(t.Context(), call); got.Decision != executors.Allow {
		t.Errorf("an allow: %q (%s)", got.Decision, got.Reason)
	}
}
