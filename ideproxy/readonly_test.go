package ideproxy

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
)

// The environment of a read-only command in a terminal contains no variable
// that steers programs, and each variable once. PATH is the one of the check.
func TestReadOnlyTerminal(t *testing.T) {
	t.Setenv("BASH_ENV", "/w/evil")
	t.Setenv("PATH", "/usr/bin:/bin")
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "core.pager")
	var p acp.CreateTerminalRequest
	e := &editor{answer: func(m string, params json.RawMessage) string {
		if m == "terminal/create" {
			_ = json.Unmarshal(params, &p)
		}
		return map[string]string{
			"terminal/create": `{"terminalId":"t1"}`, "terminal/wait_for_exit": `{"exitCode":0}`, "terminal/output": `{"output":"","truncated":false}`,
		}[m]
	}}
	term := &Terminal{Client: connect(t, e), Extra: []string{"GIT_CONFIG_COUNT=2", "GIT_OPTIONAL_LOCKS=1"}}
	if _, err := term.Run(t.Context(), shell.Command{Line: "git status", Dir: "/w", Session: "s1", ReadOnly: true}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(p.Args, []string{"-p", "-c", "git status"}) {
		t.Errorf("args %q", p.Args)
	}
	got := map[string]string{}
	for _, v := range p.Env {
		if _, twice := got[v.Name]; twice {
			t.Errorf("%s is set twice", v.Name)
		}
		got[v.Name] = v.Value
	}
	for name, want := range map[string]string{"BASH_ENV": "", "GIT_CONFIG_KEY_0": "core.fsmonitor", "GIT_OPTIONAL_LOCKS": "0", "GOPROXY": "off", "PAGER": "cat",
		"PATH": "/usr/bin:/bin"} {
		if value, ok := got[name]; !ok || value != want {
			t.Errorf("%s is %q, %t; want %q", name, value, ok, want)
		}
	}
	if got["GIT_CONFIG_COUNT"] == "1" || got["GIT_CONFIG_COUNT"] == "2" {
		t.Errorf("GIT_CONFIG_COUNT is %q", got["GIT_CONFIG_COUNT"])
	}
}
