package integration

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/coder/acp-go-sdk"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// randomClient sends requests in a random order, mostly without waiting for their answers.
type randomClient struct {
	editor
	rng      *rand.Rand
	sessions []string
	asked    []randomRequest
}

// randomRequest is a request, and the number of the agent's frames that came before it.
type randomRequest struct {
	id, method, session string
	before              int
}

// TestRandomClients runs clients that send any request at any time, in several sessions, and
// whose answers are refusals, values of other types, or right. Each request has exactly one
// answer; turns, calls and replays keep their order; each frame conforms to the schema; and
// nothing stays after the end.
func TestRandomClients(t *testing.T) {
	rng := newRand(t)
	for n := range extent(3, 300) {
		chance := rand.New(rand.NewPCG(rng.Uint64(), 1))
		t.Run(fmt.Sprint(n), func(t *testing.T) { (&randomClient{rng: chance}).run(t) })
	}
}

// randomCapabilities are the capabilities of a random client. It has no terminals: the fake editor
// answers on several goroutines, so that the release of a terminal may overtake another request.
var randomCapabilities = []string{
	`{}`,
	`{"fs":{"readTextFile":true,"writeTextFile":true}}`,
	`{"fs":{"readTextFile":true},"elicitation":{"form":{}}}`,
	`{"fs":{"readTextFile":true},"session":{"notices":{},"compaction":{}}}`,
	`{"fs":{"writeTextFile":true},"_meta":{"terminal_output":true,"cancel_request":true}}`,
}

// randomAnswers are answers that a client may give to a request that it does not fulfil.
var randomAnswers = []string{
	`"error":{"code":-32603,"message":"no"}`, `"error":{"code":-32002,"message":"missing"}`, `"error":{"code":-32601,"message":"unknown"}`,
	`"error":{"code":-32800,"message":"cancelled"}`, `"error":{"code":0,"message":""}`,
	`"result":null`, `"result":[]`, `"result":{}`, `"result":7`, `"result":{"content":7,"outcome":7,"action":7}`,
}

func (c *randomClient) run(t *testing.T) {
	model := fakemodel.NewAnthropic(t)
	model.Choose = randomModel
	var mu sync.Mutex // the answers come from several goroutines
	answers := rand.New(rand.NewPCG(c.rng.Uint64(), 1))
	draw := func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return answers.IntN(n)
	}
	c.Permit = func(q sdk.RequestPermissionRequest) sdk.PermissionOptionKind {
		return q.Options[draw(len(q.Options))].Kind
	}
	c.quirk = func(string, json.RawMessage, any, error) string {
		if draw(8) > 0 {
			return ""
		}
		return randomAnswers[draw(len(randomAnswers))]
	}
	c.start(t, start{env: model.Env()})
	capabilities := randomCapabilities[c.rng.IntN(len(randomCapabilities))]
	if strings.Contains(capabilities, "elicitation") {
		c.mute("elicitation/create")
	}
	c.initialize(capabilities)
	c.file("f.txt", "one\ntwo\n")
	c.add(c.open())
	for range 60 {
		c.step()
	}
	for _, s := range c.sessions {
		c.notify("session/cancel", `{"sessionId":`+quote(s)+`}`)
	}
	for _, r := range c.asked {
		c.answer(r.id)
	}
	c.alive()
	c.check()
}

// add adds a session that the client knows from now on.
func (c *randomClient) add(session string) { c.sessions = append(c.sessions, session) }

// step sends a request or a notification.
func (c *randomClient) step() {
	s := c.sessions[c.rng.IntN(len(c.sessions))]
	id := func(more string) string { return `{"sessionId":` + quote(s) + more + `}` }
	dir := `,"cwd":` + quote(c.dir) + `,"mcpServers":[]`
	switch n := c.rng.IntN(20); n {
	case 0, 1, 2, 3, 4, 5, 6:
		prompts := []string{"read", "change", "run", "ask", "fail", "wait", "/help", "/status", "/mode ask", "/compact", "/rewind", "/clear", "/read f.txt",
			"/bash echo a", "/fork"}
		c.ask(s, "session/prompt", promptParams(s, prompts[c.rng.IntN(len(prompts))]))
	case 7, 8, 9:
		c.notify("session/cancel", id(""))
	case 10:
		if len(c.asked) > 0 {
			c.notify("$/cancel_request", `{"requestId":`+c.asked[c.rng.IntN(len(c.asked))].id+`}`)
		}
	case 11:
		c.ask(s, "session/set_mode", id(`,"modeId":`+quote([]string{"ask", "code", "auto", "none"}[c.rng.IntN(4)])))
	case 12:
		c.ask(s, "session/set_config_option", id(`,"configId":"mode","value":"code"`))
	case 13:
		c.ask(s, "session/load", id(dir))
	case 14:
		c.ask(s, "session/resume", id(dir))
	case 15:
		c.ask(s, []string{"session/close", "session/delete"}[c.rng.IntN(2)], id(""))
	case 16:
		c.ask("", "session/list", `{}`)
	case 17, 18:
		method, params := "session/new", `{"cwd":`+quote(c.dir)+`}`
		if n == 18 {
			method, params = "session/fork", id(dir)
		}
		var r struct{ SessionID string }
		if f := c.answer(c.ask(s, method, params)); json.Unmarshal(f.Result, &r) == nil && r.SessionID != "" { // a fork may fail
			c.add(r.SessionID)
		}
	case 19:
		if len(c.asked) > 0 { // also lets turns get further
			if r := c.asked[c.rng.IntN(len(c.asked))]; r.method != "session/prompt" && r.method != "session/load" {
				c.answer(r.id)
			}
		}
	}
}

// ask sends a request and returns its id.
func (c *randomClient) ask(session, method, params string) string {
	r := randomRequest{[]string{"%d", `"r%d"`, "-%d"}[c.rng.IntN(3)], method, session, len(c.agentFrames())}
	r.id = fmt.Sprintf(r.id, len(c.asked)+1)
	c.asked = append(c.asked, r)
	c.request(r.id, method, params)
	return r.id
}

// expected matches the failures of randomModel: its own, and that it never summarizes.
var expected = regexp.MustCompile(`scripted|no summary`)

// check checks the frames of the agent. The validator has checked their form, and that no
// request is answered twice.
func (c *randomClient) check() {
	frames := c.agentFrames()
	status := map[string]int{} // of a call of a session
	order := []string{"pending", "in_progress", "completed", "failed"}
	for n, f := range frames {
		if f.Error != nil && f.Error.Code == -32603 && !expected.MatchString(f.Error.Message) {
			c.t.Errorf("an internal error: %s", f.line)
		}
		u, ok := f.update()
		if !ok {
			continue
		}
		var p struct{ SessionID string }
		_ = json.Unmarshal(f.Params, &p) // the validator has read it
		during := func(method string) bool {
			return slices.ContainsFunc(c.asked, func(r randomRequest) bool {
				return r.method == method && r.session == p.SessionID && r.before <= n &&
					!slices.ContainsFunc(frames[:n], func(f frame) bool { return f.Method == "" && string(f.ID) == r.id })
			})
		}
		loads := during("session/load")
		if turnUpdate(f) && !loads && !during("session/prompt") {
			c.t.Errorf("an update out of turn: %s", f.line)
		}
		call := p.SessionID + " " + u.ToolCallID
		before, known := status[call]
		now := max(slices.Index(order, u.Status), 0)
		switch {
		case u.Kind == "tool_call" && known && !loads:
			c.t.Errorf("a call is announced twice: %s", f.line)
		case u.Kind == "tool_call":
			status[call] = now
		case u.Kind == "tool_call_update" && !known:
			c.t.Errorf("an update before its call: %s", f.line)
		case u.Kind == "tool_call_update" && u.Status != "":
			if now < before || before >= 2 {
				c.t.Errorf("from %s to %s: %s", order[before], u.Status, f.line)
			}
			status[call] = now
		}
	}
	for call, s := range status {
		if s < 2 {
			c.t.Errorf("the call %s has not ended: %s", call, order[s])
		}
	}
}

// randomModel answers by the prompt.
func randomModel(r fakemodel.Request) fakemodel.Reply {
	last := r.Messages[len(r.Messages)-1]
	done := last.Content[len(last.Content)-1].Type == "tool_result"
	call := func(name string, in map[string]any) fakemodel.Block { return fakemodel.Call("c-"+name, name, in) }
	switch text := r.Last(); {
	case done:
		return fakemodel.Answer(fakemodel.Say("Done."))
	case strings.Contains(text, "read"):
		return fakemodel.Answer(fakemodel.Say("I look."), call("read", map[string]any{"path": "f.txt"}), call("grep", map[string]any{"pattern": "o"}))
	case strings.Contains(text, "change"):
		return fakemodel.Answer(call("write", map[string]any{"path": "g.txt", "content": "a\n"}),
			call("edit", map[string]any{"path": "f.txt", "old_string": "one", "new_string": "uno"}))
	case strings.Contains(text, "run"):
		return fakemodel.Answer(fakemodel.Think("hm", "c2ln"), call("bash", map[string]any{"command": "touch x; echo out"}))
	case strings.Contains(text, "ask"):
		return fakemodel.Answer(call("ask_user", map[string]any{"question": "Which?", "options": []string{"a", "b"}}))
	case strings.Contains(text, "fail"):
		return fakemodel.Refuse(400, "invalid_request_error", "scripted")
	case strings.Contains(text, "wait"):
		return fakemodel.Hang(make(chan struct{}), fakemodel.Say("I wait."))
	}
	return fakemodel.Answer(fakemodel.Say("Hm."))
}
