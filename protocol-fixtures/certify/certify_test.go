package certify

import (
	"testing"
	"testing/synctest"
)

const (
	everything = `{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true,"auth":{"terminal":true},"elicitation":{"form":{},"url":{}},` +
		`"session":{"notices":{},"compaction":{}},"plan":{},"subagents":{},"_meta":{"terminal_output":true}}`
	everything2 = `{"auth":{"terminal":{}},"elicitation":{"form":{},"url":{}}}`
)

// TestGoodClient runs all scenarios with a client that keeps all statements.
func TestGoodClient(t *testing.T) {
	for name, c := range map[string]*testClient{
		"version 1": {version: 1, caps: everything},
		"version 2": {version: 2, caps: everything2},
		"nothing":   {version: 1, caps: `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.t = t
				r := c.certify(Names()...)
				if len(r.Broken) > 0 || r.Fails() || r.Protocol != c.version || r.Client.Name != "test" {
					t.Errorf("a good client broke %+v", r.Broken)
				}
				for _, s := range r.Scenarios {
					want := Passed
					if s.Needs != "" && !supports(c.declared(t), c.version, s.Needs) {
						want = NotDeclared
					}
					if s.Name == "undeclared" && c.caps == everything {
						want = NotTried
					}
					if s.Result != want {
						t.Errorf("the scenario %s is %s (%s), want %s", s.Name, s.Result, s.Reason, want)
					}
				}
			})
		})
	}
}
