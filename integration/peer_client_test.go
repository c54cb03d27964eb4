package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakeide"
	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// manners are the ways in which an odd client answers a request: the frames that it
// sends, from the id and the proper "result" or "error" member.
var manners = map[string]func(id json.RawMessage, member string) []string{
	"twice": func(id json.RawMessage, member string) []string {
		return []string{response(id, member), response(id, member), response(id, `"result":7`)}
	},
	"refuses, then answers": func(id json.RawMessage, member string) []string {
		return []string{response(id, `"error":{"code":-32603,"message":"busy"}`), response(id, member)}
	},
	"other ids first": func(id json.RawMessage, member string) []string {
		var frames []string
		for _, other := range []string{"123456", "-1", `"x"`, "null", "1.5", "{}", `"` + strings.Trim(string(id), `"`) + `x"`} {
			frames = append(frames, response(json.RawMessage(other), member))
		}
		return append(frames, response(id, member))
	},
	"not an answer first": func(id json.RawMessage, member string) []string {
		return []string{`{"id":` + string(id) + `,"resu`, "", "\x00\xff", response(id, member)}
	},
	"an id of a float": func(id json.RawMessage, member string) []string {
		return []string{response(json.RawMessage(string(id)+".0"), member)}
	},
	"both": func(id json.RawMessage, member string) []string {
		return []string{response(id, member+`,"result":{},"error":{"code":1,"message":"both"}`)}
	},
	"neither":                 only(`"x":{}`),
	"a number":                only(`"result":7`),
	"null":                    only(`"result":null`),
	"a list":                  only(`"result":[{"content":"x"}]`),
	"a text":                  only(`"result":"allow_once"`),
	"members of other types":  only(`"result":{"outcome":[1],"content":{"text":7},"terminalId":{},"output":9,"truncated":"no","exitStatus":"0","exitCode":"zero"}`),
	"an error of other types": only(`"error":"no"`),
	"a code of text":          only(`"error":{"code":"E1","message":7}`),
	"an endless text":         only(`"result":{"content":"` + strings.Repeat("x", 1<<20) + `","output":"` + strings.Repeat("y", 1<<20) + `"}`),
	"deep":                    only(`"result":` + strings.Repeat(`[`, 5_000) + strings.Repeat(`]`, 5_000)),
}

func response(id json.RawMessage, member string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, id, member)
}

// only returns the manner of a client whose answers all have the same member.
func only(member string) func(json.RawMessage, string) []string {
	return func(id json.RawMessage, _ string) []string { return []string{response(id, member)} }
}

// TestOddClient has clients that answer twice, with other ids, or with something else.
// The turn ends, its calls have an outcome, and the agent serves the next prompt.
func TestOddClient(t *testing.T) {
	for name, manner := range manners {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := fakemodel.NewAnthropic(t, fakemodel.Answer(
				fakemodel.Call("c1", "read", map[string]any{"path": "a.txt"}),
				fakemodel.Call("c2", "write", map[string]any{"path": "b.txt", "content": "b\n"}),
				fakemodel.Call("c3", "bash", map[string]any{"command": "echo hi"}),
			), fakemodel.Answer(fakemodel.Say("Done.")))
			var screen fakeide.IDE
			screen.Start(t)
			defer screen.Stop()
			e := launch(t, start{env: p.Env(), afterLine: func(a *agent, _ int) {
				frames := a.agentFrames()
				f := frames[len(frames)-1]
				if f.ID == nil || f.Method == "" {
					return
				}
				go func() { // as an editor does: waiting for an exit must not stop the reader
					result, err := screen.Answer(context.Background(), f.Method, f.Params)
					member := `"result":` + encode(result)
					if err != nil {
						member = `"error":` + encode(fakeide.RefusalOf(err))
					}
					for _, line := range manner(f.ID, member) {
						_, _ = a.Write([]byte(line + "\n")) // the agent may be gone
					}
				}()
			}})
			e.file("a.txt", "a\n")
			e.initialize(`{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true}`)
			s := e.open()
			e.runTurn(s, "go")
			ended := 0
			for _, f := range e.agentFrames() {
				if u, ok := f.update(); ok && (u.Status == "completed" || u.Status == "failed") {
					ended++
				}
			}
			if ended != 3 {
				t.Errorf("%d calls ended, want 3", ended)
			}
			e.alive()
			p.Then(fakemodel.Answer(fakemodel.Say("Still here.")))
			e.runTurn(s, "go on")
		})
	}
}

// TestClientDiesAsked ends the client between a permission request and its answer. The
// command does not run, and the next agent continues the session.
func TestClientDiesAsked(t *testing.T) {
	p := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Call("c1", "write", map[string]any{"path": "b.txt", "content": "b\n"})))
	e := (&editor{silent: []string{"session/request_permission"}}).start(t, start{env: p.Env()})
	e.initialize()
	s := e.open()
	e.request(`1`, "session/prompt", promptParams(s, "write"))
	e.permissionRequest()
	e.in.Close()
	e.exits(0)
	b := (&editor{}).start(t, start{env: p.Env(), root: e.root})
	b.initialize()
	replay := b.mustLoad(s)
	checkReplay(t, []string{"write"}, e.shownTo(), replay)
	p.Then(fakemodel.Answer(fakemodel.Say("I go on.")))
	b.runTurn(s, "go on")
}
