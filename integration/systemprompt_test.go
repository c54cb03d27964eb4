package integration

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// TestSystemPrompt opens sessions with instructions of the client. They reach the model as system
// text, stay with the session when it is opened again without them, and also hold for its forks.
// Tools and the project's rules stay the same.
//
// Statement 152.
func TestSystemPrompt(t *testing.T) {
	t.Parallel()
	const own, rules = "You are zeph-acp", "Tabs, please."
	p := fakemodel.NewAnthropic(t)
	p.Choose = func(fakemodel.Request) fakemodel.Reply { return fakemodel.Answer(fakemodel.Say("ok")) }
	a := connect(t, start{env: p.Env()})
	a.file("AGENTS.md", rules+"\n")
	system := func(mode, text string) string {
		return fmt.Sprintf(`,"systemPrompt":{"mode":%q,"content":[{"type":"text","text":%q},{"type":"text","text":"And briefly."}]}`, mode, text)
	}
	prompts := 0
	// check runs a turn and checks the system text of its request.
	check := func(a *agent, s, what string, with, without []string) {
		t.Helper()
		a.runTurn(s, "hi")
		prompts++
		requests := p.Requests()
		if len(requests) < prompts {
			t.Fatalf("%s: %d requests, want %d", what, len(requests), prompts)
		}
		last := requests[len(requests)-1]
		for _, text := range append(with, rules, `"name":"edit"`) {
			if !strings.Contains(last, text) {
				t.Errorf("%s: the request lacks %q", what, text)
			}
		}
		for _, text := range without {
			if strings.Contains(last, text) {
				t.Errorf("%s: the request has %q", what, text)
			}
		}
	}
	open := func(a *agent, method, params string) string {
		t.Helper()
		var r struct{ SessionID string }
		if err := json.Unmarshal([]byte(a.accepted(quote(fmt.Sprintf("open-%d", len(a.agentFrames()))), method, params)), &r); err != nil {
			t.Fatal(err)
		}
		return r.SessionID
	}
	for mode, tt := range map[string]struct{ with, without []string }{
		"append":   {[]string{own, `Answer in verse.\n\nAnd briefly.`}, nil},
		"override": {[]string{`Answer in verse.\n\nAnd briefly.`}, []string{own}},
	} {
		cwd := fmt.Sprintf(`"cwd":%q,"mcpServers":[]`, a.dir)
		s := open(a, "session/new", "{"+cwd+system(mode, "Answer in verse.")+"}")
		check(a, s, mode, tt.with, tt.without)
		again := fmt.Sprintf(`{"sessionId":%q,`, s) + cwd
		open(a, "session/load", again+"}")
		check(a, s, mode+", loaded", tt.with, tt.without)
		fork := open(a, "session/fork", again+"}")
		check(a, fork, mode+", forked", tt.with, tt.without)
		b := connect(t, start{root: a.root, env: p.Env()})
		open(b, "session/resume", again+"}")
		check(b, s, mode+", resumed by another process", tt.with, tt.without)
		open(b, "session/load", again+system("append", "Answer in prose.")+"}")
		check(b, s, mode+", replaced", []string{own, "Answer in prose."}, []string{"Answer in verse."})
	}
}
