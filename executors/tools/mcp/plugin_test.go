package mcp

import (
	"errors"
	"slices"
	"testing"
)

func TestParsePlugin(t *testing.T) {
	changed := error(nil)
	p := Plugin{Name: "p", Variables: map[string]string{"CLAUDE_PLUGIN_ROOT": "/plugins/p"}, Verify: func() error { return changed }}
	servers, err := ParsePlugin(p, []byte(`{"mcpServers":{
		"a":{"command":"${CLAUDE_PLUGIN_ROOT}/s","args":["${CLAUDE_PLUGIN_ROOT}/x","${MODE:-m}"],"env":{"A":"${HOME}"}},
		"b":{"url":"https://example.com/${CLAUDE_PLUGIN_ROOT}"},
		"c":{"command":"x","args":["${ANTHROPIC_API_KEY}"]},
		"d":{"command":"x","args":["${MISSING}"]}}}`),
		func(name string) string {
			return map[string]string{"HOME": "/home", "ANTHROPIC_API_KEY": "secret"}[name]
		},
		func(name string) bool { return name == "ANTHROPIC_API_KEY" })
	if len(servers) != 2 || err == nil {
		t.Fatalf("%+v, %v", servers, err)
	}
	a, b := servers[0], servers[1]
	if a.Name != "plugin_p_a" || a.Command != "/plugins/p/s" || !slices.Equal(a.Args, []string{"/plugins/p/x", "m"}) || a.Env["A"] != "/home" ||
		a.Env["CLAUDE_PLUGIN_ROOT"] != "/plugins/p" || !a.Guarded {
		t.Errorf("%+v", a)
	}
	if b.Name != "plugin_p_b" || len(b.Env) > 0 || !b.Guarded {
		t.Errorf("%+v", b)
	}
	if err := a.checkFiles(); err != nil {
		t.Error(err)
	}
	changed = errors.New("changed")
	if err := a.checkFiles(); !errors.Is(err, changed) {
		t.Errorf("a changed plug-in: %v", err)
	}
}
