package integration

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// crowdSession is one session of a crowd. Its prompts are distinct words, which its texts
// and tools repeat.
type crowdSession struct {
	name    string
	session string
	prompts []crowdPrompt
	next    int // index of the running prompt
	updates int // of the running turn
}

// crowdPrompt is a prompt and its expected end.
type crowdPrompt struct {
	text   string
	cancel int // after this many updates of its turn; 0: it ends by itself
	reason string
}

// cancelWord in a prompt makes the model stop sending in its last answer.
const cancelWord = "silent"

// crowdModel answers each prompt from its text alone: a text and tool calls, and
// after the results another text. All of them repeat the prompt.
func crowdModel(r fakemodel.Request) fakemodel.Reply {
	text := r.Last()
	word := strings.Fields(text)[0]
	last := r.Messages[len(r.Messages)-1]
	if last.Content[len(last.Content)-1].Type != "tool_result" {
		return fakemodel.Answer(fakemodel.Think("thinking of "+text, "c2ln"), fakemodel.Say(strings.Repeat("<"+text+"> ", 20)),
			fakemodel.Call("c1-"+word, "read", map[string]any{"path": word + ".txt"}),
			fakemodel.Call("c2-"+word, "bash", map[string]any{"command": "echo out-" + word}))
	}
	if strings.Contains(text, cancelWord) {
		return fakemodel.Hang(make(chan struct{}), fakemodel.Say("<"+text+">"))
	}
	return fakemodel.Answer(fakemodel.Say(strings.Repeat("<"+text+"> ", 5) + "done"))
}

// crowd opens sessions on one connection and runs their turns at once. Some are
// cancelled at random. It returns when all prompts are answered.
func crowd(t *testing.T, a *agent, prefix string, sessions, prompts int, rng *rand.Rand) []*crowdSession {
	t.Helper()
	all := map[string]*crowdSession{}
	var members []*crowdSession
	for n := range sessions {
		m := &crowdSession{name: fmt.Sprintf("%s%02d", prefix, n)}
		a.file(m.name+".txt", "text of "+m.name+"\n")
		m.session = a.open()
		for p := range prompts {
			c := crowdPrompt{text: fmt.Sprintf("%s p%d", m.name, p), reason: "end_turn"}
			if rng.IntN(2) == 0 {
				// The fewest updates before the model stops sending.
				c = crowdPrompt{c.text + " " + cancelWord, 1 + rng.IntN(8), "cancelled"}
			}
			m.prompts = append(m.prompts, c)
		}
		members, all[m.session] = append(members, m), m
	}
	begin := func(m *crowdSession) {
		a.request(quote(m.session+"/"+fmt.Sprint(m.next)), "session/prompt", promptParams(m.session, m.prompts[m.next].text))
	}
	for _, m := range members {
		begin(m)
	}
	left := sessions
	a.await("all turns' ends", func(f frame) bool {
		var p struct{ SessionID string }
		_ = json.Unmarshal(f.Params, &p) // only updates have a session
		switch m := all[p.SessionID]; {
		case f.Method == "session/request_permission":
			a.choose(f, "allow_once")
		case m != nil && turnUpdate(f):
			if m.updates++; m.updates == m.prompts[m.next].cancel {
				a.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`+"\n", m.session))
			}
		case f.Method == "":
			m := all[strings.Split(strings.Trim(string(f.ID), `"`), "/")[0]]
			if m == nil {
				break
			}
			if m.next, m.updates = m.next+1, 0; m.next < len(m.prompts) {
				begin(m)
			} else {
				left--
			}
		}
		return left == 0
	})
	for _, m := range members {
		m.check(t, a.agentFrames())
	}
	return members
}

// turnUpdate reports whether the frame is an update of a turn.
func turnUpdate(f frame) bool {
	u, ok := f.update()
	return ok && (strings.HasPrefix(u.Kind, "agent_") || strings.HasPrefix(u.Kind, "tool_"))
}

// mine reports whether the frame answers one of the member's prompts.
func (m *crowdSession) mine(f frame) bool {
	return strings.HasPrefix(string(f.ID), `"`+m.session+"/")
}

// tags match the words that identify the texts of a session.
var tags = regexp.MustCompile(`\b[a-z]\d\d\b`)

// check compares the frames of a session with its prompts: each has one answer with
// the expected reason, and no frame has another session's text.
func (m *crowdSession) check(t *testing.T, frames []frame) {
	t.Helper()
	var reasons []string
	for _, f := range frames {
		if f.Method == "" && m.mine(f) {
			var r struct{ StopReason string }
			_ = json.Unmarshal(f.Result, &r) // an error has no result, and fails below
			reasons = append(reasons, r.StopReason)
		}
		if u, ok := f.update(); ok && u.Kind == "available_commands_update" || !strings.Contains(f.line, m.session) {
			continue
		}
		for _, tag := range tags.FindAllString(string(f.Params), -1) {
			if tag != m.name {
				t.Errorf("session %s gets text of %s: %s", m.name, tag, f.line)
			}
		}
	}
	var want []string
	for _, p := range m.prompts {
		want = append(want, p.reason)
	}
	if !slices.Equal(reasons, want) {
		t.Errorf("session %s ended %q, want %q", m.name, reasons, want)
	}
	s := shownIn(frames, m.session, m.mine)
	for _, f := range s.faults {
		t.Errorf("session %s: %s", m.name, f)
	}
	text := map[int]string{}
	for _, it := range s.items {
		if it.Kind == "agent_message_chunk" {
			text[it.Turn] += it.Text
		}
		if it.Kind == "tool_call" && it.Final == "" {
			t.Errorf("session %s: a call has no end: %s", m.name, it.Text)
		}
	}
	for n, p := range m.prompts {
		whole := strings.Repeat("<"+p.text+"> ", 20) + strings.Repeat("<"+p.text+"> ", 5) + "done"
		if got := text[n+1]; p.cancel == 0 && got != whole {
			t.Errorf("session %s said %q to %q", m.name, got, p.text)
		}
	}
}

// TestCrowd runs 20 sessions on one connection. Each streams, runs
// tools, asks, and is cancelled or ends by itself.
//
// Statements 91, 117.
func TestCrowd(t *testing.T) {
	p := fakemodel.NewAnthropic(t)
	p.Choose = crowdModel
	a := connect(t, start{env: p.Env()})
	crowd(t, a, "s", 20, 3, newRand(t))
	a.alive()
}

// newRand returns a random source, and logs the seed that repeats it.
func newRand(t *testing.T) *rand.Rand {
	n := *seed
	if n == 0 {
		n = rand.Uint64()
	}
	t.Logf("to have the same again: -seed %d", n)
	return rand.New(rand.NewPCG(n, 1))
}
