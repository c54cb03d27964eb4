package permission

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue/cataloguetest"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/permission/answers"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// foreignInputs are inputs of an MCP tool that name ROOT/secrets/key.
var foreignInputs = []string{
	`{"path":"secrets/key"}`, `{"path":"./secrets/key"}`, `{"path":"secrets//key"}`, `{"path":"src/../secrets/key"}`, `{"path":"secrets/./key"}`,
	`{"path":"ROOT/secrets/key"}`,
	`{"path":"ROOT/../w/secrets/key"}`, `{"uri":"file://ROOT/secrets/key"}`, `{"uri":"file://localhostROOT/secrets/key"}`, `{"uri":"FILE:ROOT/secrets/key"}`,
	`{"uri":"file://ROOT/secrets%2Fkey"}`, `{"uri":"file://ROOT/%73ecrets/key?x=1"}`, `{"uri":"file:secrets/key"}`, `{"uri":"vscode://fileROOT/secrets/key"}`,
	`{"uri":"fs:///ROOT/secrets/key"}`, `{"path":"secrets%2fkey"}`, `{"path":"%2573ecrets/key"}`, `{"path":"secrets\\key"}`, `{"path":"~/w/secrets/key"}`,
	`{"path":"$HOME/w/secrets/key"}`, `{"path":"${HOME}/w/secrets/key"}`, `{"path":"$PWD/secrets/key"}`, `{"path":"${workspaceFolder}/secrets/key"}`,
	`{"paths":["a.txt","secrets/key"]}`, `{"segments":["secrets","key"]}`, `{"segments":["ROOT","secrets","key"]}`, `{"cwd":"secrets","path":"key"}`,
	`{"dir":"ROOT/secrets","name":"key"}`,
	`{"root":"ROOT","dir":"secrets","file":"key"}`, `{"a":{"b":[{"c":"secrets/key"}]}}`, `{"secrets/key":true}`, `{"a":"{\"path\":\"secrets/key\"}"}`,
	`{"a":"[\"secrets/key\"]"}`,
	`{"a":"\"secrets/key\""}`, `{"a":"{\"b\":\"{\\\"c\\\":\\\"secrets/key\\\"}\"}"}`, `{"path":" secrets/key "}`, `{"path":"secrets/key\n"}`,
	`{"path":"'secrets/key'"}`, `{"path":"<secrets/key>"}`,
	`{"path":"secrets/key:12"}`, `{"path":"secrets/key:12:3"}`, `{"path":"secrets/key#L10"}`, `{"path":"@secrets/key"}`,
	`{"opt":"--file=secrets/key"}`, `{"list":"a.txt,secrets/key"}`,
	`{"list":"a.txt secrets/key"}`, `{"list":"a.txt\nsecrets/key"}`, `{"text":"please read secrets/key now"}`, `{"path":"SECRETS/KEY"}`,
	`{"path":"secrets/\u006bey"}`,
	`{"path":"ｓecrets/key"}`, `{"path":"secrets／key"}`, `{"path":"secrets∕key"}`, `{"path":"se\u200bcrets/key"}`, `{"glob":"secrets/*"}`,
	`{"glob":"**/key"}`, `{"glob":"sec?ets/key"}`,
	`{"glob":"{secrets,src}/key"}`, `{"glob":"s*/k*"}`, `{"path":"link"}`, `{"path":"linkdir/key"}`, `{"path":"secrets"}`, `{"path":"secrets/"}`,
	`{"name":"secrets/k","ext":"ey"}`,
	`{"rev":"HEAD:secrets/key"}`, `{"data":"file=@secrets/key"}`, `["secrets/key"]`, `"secrets/key"`, `{"path":"./././secrets/././key"}`,
	`{"base":"ROOT/src","path":"../secrets/key"}`, `{"opt":"-fsecrets/key"}`, `{"diff":"--- a/secrets/key\n+++ b/secrets/key\n"}`,
	`{"path":"/proc/self/cwd/secrets/key"}`, `{"path":"/proc/self/rootROOT/secrets/key"}`, `{"path":"/proc/1/task/1/cwd/secrets/key"}`,
}

// padded returns inputs that hide ROOT/secrets/key behind much else.
func padded() map[string]string {
	list := func(n int) string {
		var out []string
		for i := range n {
			out = append(out, "\"p"+strconv.Itoa(i)+"*\"")
		}
		return "[" + strings.Join(out, ",") + "]"
	}
	nested := `{"path":"secrets/key"}`
	for range 8 {
		nested = `{"a":` + strconv.Quote(nested) + `}`
	}
	words := ""
	for i := range 5000 {
		words += " w" + strconv.Itoa(i)
	}
	return map[string]string{
		"strings":   `{"a":` + list(5000) + `,"z":"secrets/key"}`,
		"links":     `{"a":` + list(3000) + `,"z":"linkdir/key"}`,
		"wildcards": `{"a":` + list(100) + `,"z":"s*/k*"}`,
		"names":     `{"a":` + list(300) + `,"dir":"ROOT/secrets","name":"key"}`,
		"few words": `{"a":"` + words[:400] + ` secrets/key"}`,
		"words":     `{"a":"` + words + ` secrets/key"}`,
		"long":      `{"a":"` + strings.Repeat("w ", 100_000) + ` secrets/key"}`,
		"dots":      `{"a":"` + strings.Repeat("./", 5000) + `secrets/key"}`,
		"segments":  `{"a":["` + strings.Repeat(`.","`, 100) + `secrets","key"]}`,
		"texts":     nested,
	}
}

// A rule that denies files counts every string of an MCP call.
func TestForeignFiles(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(home, "w")
	for _, name := range []string{"secrets/key", "src/a.go", "a.txt"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"link": "secrets/key", "linkdir": "secrets"} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Skip("no symbolic links here:", err)
		}
	}
	session, err := workspace.New(dir)
	if err != nil {
		t.Fatal(err)
	}
	decide := func(key string, rule Rule, input string) Action {
		p := NewShellPolicy(setting.Default[ShellRules](), Config{Permissions: map[string][]Rule{key: {rule, {Pattern: "*", Action: Allow}}}}, home,
			cataloguetest.Known())
		perm := &Permission{Policy: NewShellPolicyHandle(p), Roots: session, Home: home, Mode: func() string { return "code" }, Remembered: &answers.Project{}}
		tool := executors.Tool{Name: "fs__read", Server: "fs", Effect: executors.Reads | executors.Network | executors.Mutates}
		call := &executors.Call{Tool: "fs__read", Spec: tool, Input: json.RawMessage(strings.ReplaceAll(input, "ROOT", dir)), Record: &executors.Record{}}
		return permissionCheck{Permission: perm, ShellPolicy: p}.decide(call, tool).action
	}
	for _, input := range foreignInputs {
		for key, pattern := range map[string]string{"fs__read": "secrets/*", "fs__*": dir + "/secrets/*", "*": "~/w/secrets/*"} {
			if got := decide(key, Rule{Pattern: pattern, Action: Deny}, input); got != Deny {
				t.Errorf("%s: %s by the rule %q, want deny", input, got, pattern)
			}
		}
		if got := decide("fs__read", Rule{Pattern: "secrets/*", Action: Ask}, input); got != Ask {
			t.Errorf("%s: %s by a rule that asks", input, got)
		}
	}
	for name, input := range padded() {
		if got := decide("fs__read", Rule{Pattern: "secrets/*", Action: Deny}, input); got == Allow {
			t.Errorf("%s: allowed", name)
		}
	}
	for _, input := range []string{
		`{"path":"a.txt"}`, `{"path":"src/a.go","limit":5}`, `{"text":"the secret key"}`, `{"url":"https://example.com/x"}`,
		`{"cwd":"src","path":"a.go"}`, `{}`, `{"q":"secretskey"}`, `{"path":"a.txt","text":"` + strings.Repeat("a text of *some* words[1], isn't it? ", 2000) + `"}`,
	} {
		if got := decide("fs__read", Rule{Pattern: "secrets/*", Action: Deny}, input); got != Allow {
			t.Errorf("%s: %s, want allow", input, got)
		}
	}
}

// Commands in the input of an MCP call are parsed like bash commands.
func TestForeignCommands(t *testing.T) {
	for input, want := range map[string]string{
		`{"command":"git push"}`: "block", `{"command":"git","args":["push","--force"]}`: "block", `{"command":["git","push"]}`: "block",
		`{"cmd":"cd x && git -C . push"}`:       "block",
		`{"script":"ls\ngit --unknown x push"}`: "block", `{"argv":["/usr/bin/git","push"]}`: "block", `{"command":"bash","args":["-c","git push"]}`: "block",
		`{"command":["sh","-c","x=push; git $x"]}`: "block", `{"commands":["ls","git push"]}`: "block", `{"steps":[{"run":"git push"}]}`: "block",
		`{"command":"git","args":"push"}`:        "block",
		`{"input":"{\"command\":\"git push\"}"}`: "block", `{"Command":"env git push"}`: "block", `{"command":"g\"it\" pu\\sh"}`: "block",
		`{"command_line":"git push"}`:            "block",
		`{"program":"git","arguments":["push"]}`: "block", `{"exec":{"command":"git","args":["push"]}}`: "block",
		`{"script":"if true; then git push; fi"}`: "block",
		`{"exe":"git","params":["push"]}`:         "block", `{"bin":"git","arg":"push"}`: "block", `{"command":"git","subcommand":"push"}`: "block",
		`{"keys":"git push\n"}`: "block",
		`{"steps":[` + strings.Repeat(`{"run":"ls"},`, 300) + `{"run":"git push"}]}`:  "block",
		`{"steps":[` + strings.Repeat(`{"run":"ls"},`, 3000) + `{"run":"git push"}]}`: "ask",
		`{"command":"ls;` + strings.Repeat(" ", 70_000) + `git push"}`:                "ask",
		`{"command":"git log"}`: "allow", `{"command":"git","args":["log"]}`: "allow",
		`{"command":"git commit -m 'git push'"}`: "allow", `{"args":["log"]}`: "allow",
	} {
		for key, rules := range map[string]map[string][]Rule{
			"bash": {"bash": {{Pattern: "git push*", Action: Deny}}, "x__run": {{Pattern: "*", Action: Allow}}},
			"tool": {"x__run": {{Pattern: "git push*", Action: Deny}, {Pattern: "*", Action: Allow}}},
		} {
			s := newSetup()
			s.cfg.Permissions = rules
			s.build()
			tool := executors.Tool{Name: "x__run", Server: "x", Effect: executors.Mutates}
			call := &executors.Call{Tool: "x__run", Spec: tool, Input: json.RawMessage(input), Record: &executors.Record{}}
			got := map[Action]string{Allow: "allow", Ask: "ask", Deny: "block"}[permissionCheck{Permission: s.perm,
				ShellPolicy: s.perm.Policy.Load()}.decide(call, tool).action]
			if got != want {
				t.Errorf("%s, rules of %s: %s, want %s", input, key, got, want)
			}
		}
	}
}
