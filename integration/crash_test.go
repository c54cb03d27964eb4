package integration

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

var (
	kills = flag.Int("kills", 0, "how often the agent is killed; 0 means 20, or 200 with -long")
	seed  = flag.Uint64("seed", 0, "seed of the random choices; 0 means a new one each time")
)

// killedClients are the capabilities of clients whose agents are killed.
var killedClients = []string{
	`{"fs":{"readTextFile":true,"writeTextFile":true},"terminal":true}`, `{}`, `{"_meta":{"terminal_output":true}}`,
}

// killPrompts are sent in one session.
var killPrompts = []string{"the first prompt", "the second prompt", "the third prompt"}

// killScript is the model's answer to each of them.
const killScript = `{"thought":"thought 1 of N: "}
{"thought":"look first"}
{"text":"text 1 of N: "}
{"text":"I look"}
{"text":" around – ☂."}
{"thought":"thought 2 of N"}
{"text":"text 2 of N"}
{"tool":"update_plan","input":{"entries":[{"content":"look N","status":"in_progress"},{"content":"change N"}]}}
{"tool":"read","input":{"path":"a.txt"}}
{"tool":"read","input":{"path":"b.txt"}}
{"tool":"list_directory","input":{"path":"."}}
{"tool":"read","input":{"path":"missing.txt"}}
{"usage":{"input":1000,"output":10}}

{"text":"text 3 of N"}
{"tool":"edit","input":{"path":"a.txt","old_string":"version","new_string":"next version"}}
{"tool":"bash","input":{"command":"echo mark-N-1; cat b.txt; exit 3"}}
{"usage":{"input":2000,"output":10}}

{"tool":"bash","input":{"command":"for i in 1 2 3; do echo mark-N-2-$i; done"}}
{"tool":"update_plan","input":{"entries":[{"content":"look N","status":"completed"},{"content":"change N","status":"completed"}]}}
{"usage":{"input":3000,"output":10}}

{"thought":"thought 3 of N"}
{"text":"text 4 of N: "}
{"text":"done."}
{"usage":{"input":4000,"output":10}}

`

// TestKillAndLoad kills the agent at random moments of scripted
// turns. Another process loads the session with every event that the client had
// seen completed, and the session goes on at once.
//
// Statements 132, 63, 66.
func TestKillAndLoad(t *testing.T) {
	frames := map[string]int{} // in a session without a kill
	for _, caps := range killedClients {
		e := killed(t, caps, nil, rand.New(rand.NewPCG(1, 1)))
		frames[caps] = len(e.agentFrames())
		if n := len(e.shownTo().items); n != 3*20 {
			t.Fatalf("the scripted turns show %d items:\n%s", n, e.tail())
		}
	}
	rng := newRand(t)
	rounds := *kills
	if rounds == 0 {
		rounds = extent(20, 200)
	}
	for n := range rounds {
		chance := rand.New(rand.NewPCG(rng.Uint64(), 1))
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			caps := killedClients[chance.IntN(len(killedClients))]
			killAndLoad(t, caps, frames[caps], chance)
		})
	}
}

// killAndLoad kills an agent, which would write that many frames in the session,
// and loads the session.
func killAndLoad(t *testing.T, caps string, frames int, rng *rand.Rand) {
	at, yields := 3+rng.IntN(frames), max(0, rng.IntN(800)-400)
	e := killed(t, caps, func(a *agent, n int) {
		if n == at {
			for range yields {
				runtime.Gosched()
			}
			a.kill()
		}
	}, rng)
	e.kill() // if there were fewer frames than that
	e.waitExit(patience)
	t.Logf("killed %d yields after frame %d of %d, capabilities %s", yields, at, frames, caps)
	live := e.shownTo()
	if live == nil {
		return // no event was completed yet
	}
	p := fakemodel.NewAnthropic(t, fakemodel.Answer(fakemodel.Say("I go on.")))
	b := launch(t, start{root: e.root, env: p.Env()})
	b.initialize(caps)
	replay, ok := b.load(live.session)
	if !ok {
		if live.begun || live.turn > 1 {
			t.Fatal("the session is lost")
		}
		return
	}
	checkReplay(t, killPrompts, live, replay)
	again, _ := b.load(live.session)
	if diff := cmp.Diff(encode(replay.items), encode(again.items)); diff != "" {
		t.Errorf("the second load (-first +second)\n%s", diff)
	}
	for _, text := range []string{"/model claude", "go on"} { // this model's requests are recorded
		b.runTurn(live.session, text)
	}
	checkHistory(t, p, live)
}

// kill ends the process by SIGKILL.
func (a *agent) kill() {
	a.killed.Store(true)
	_ = a.cmd.Process.Kill() // it may have exited
}

// checkHistory checks that the model gets every event that the client had seen, in
// a valid request.
func checkHistory(t *testing.T, p *fakemodel.Anthropic, live *shownSession) {
	t.Helper()
	r, body := p.Request(0), p.Requests()[0]
	open := map[string]bool{}
	for i, m := range r.Messages {
		if i > 0 && len(open) > 0 && m.Role != "user" {
			t.Errorf("calls without results before message %d: %v", i, open)
		}
		for _, b := range m.Content {
			switch b.Type {
			case "tool_use":
				open[b.ID] = true
			case "tool_result":
				if !open[b.Tool_Use_ID] {
					t.Errorf("a result without a call: %q", b.Tool_Use_ID)
				}
				delete(open, b.Tool_Use_ID)
			}
		}
	}
	if len(open) > 0 {
		t.Errorf("calls without results: %v", open)
	}
	for _, it := range live.items {
		text := ""
		switch {
		case it.Kind == "agent_message_chunk" && it.Done:
			text = it.Text
		case it.Kind == "tool_call" && it.Done:
			var u struct {
				Content []struct{ Content struct{ Text string } }
			}
			if err := json.Unmarshal([]byte(it.Final), &u); err != nil {
				t.Fatal(err)
			}
			for _, c := range u.Content {
				text, _, _ = strings.Cut(c.Content.Text, "\n")
			}
			text = strings.TrimSuffix(strings.Replace(text, "No such file", "no such file", 1), ".") // the client's form is a sentence
		}
		// The user sees "No such file: x." where the model gets "error: no such
		// file: x".
		text = strings.TrimSuffix(text, ".")
		if quoted := quote(text); !strings.Contains(strings.ToLower(body), strings.ToLower(quoted[1:len(quoted)-1])) {
			t.Errorf("the model did not get %s %s: %q", it.Kind, it.ID, text)
		}
	}
}

// killed begins a session and sends the prompts: by chance all at once, or each
// after the previous answer. It returns after the last one, or after the agent's
// death. It calls line with each line that the client reads.
func killed(t *testing.T, caps string, line func(*agent, int), rng *rand.Rand) *editor {
	t.Helper()
	script := ""
	for n := range killPrompts {
		script += strings.ReplaceAll(killScript, "N", fmt.Sprint(n+1))
	}
	path := filepath.Join(home(t), "model.jsonl")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	e := (&editor{}).start(t, start{
		config:    fmt.Sprintf("[[llm.providers]]\ntype = \"script\"\nmodel = %q\ncontext_window = 200000\n", path),
		afterLine: line,
	})
	e.file("a.txt", "version\n")
	e.file("b.txt", "text of b\n")
	e.initialize(caps)
	session := e.open()
	atOnce := rng.IntN(2) == 0
	for n, text := range killPrompts {
		_, err := fmt.Fprintf(e, `{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":%s}`+"\n", n, promptParams(session, text))
		if err != nil || !atOnce && !e.answered(n) {
			return e
		}
	}
	e.answered(len(killPrompts) - 1)
	return e
}

// answered waits for the answer to a request. It returns false if the agent was
// killed before.
func (a *agent) answered(id int) bool {
	a.t.Helper()
	for {
		a.mu.Lock()
		frames, more := a.frames, a.newFrame
		a.mu.Unlock()
		if slices.ContainsFunc(frames, func(f frame) bool { return f.Method == "" && string(f.ID) == fmt.Sprint(id) }) {
			return true
		}
		select {
		case <-more:
		case <-a.exited:
			return false
		case <-time.After(patience):
			a.t.Fatalf("no answer to %d; the agent's last frames:\n%s", id, a.tail())
		}
	}
}

// shownTo returns the client's view of the only session; nil if no session was
// named.
func (a *agent) shownTo() *shownSession {
	frames := a.agentFrames()
	at := slices.IndexFunc(frames, func(f frame) bool { return strings.Contains(string(f.Result), `"sessionId"`) })
	if at < 0 {
		return nil
	}
	var r struct{ SessionID string }
	if err := json.Unmarshal(frames[at].Result, &r); err != nil {
		a.t.Fatal(err)
	}
	return shownIn(frames[at+1:], r.SessionID, func(f frame) bool { return strings.Contains(string(f.Result), "stopReason") })
}

// mustLoad loads a session that exists, and returns the client's view of it.
func (a *agent) mustLoad(session string) *shownSession {
	a.t.Helper()
	shown, ok := a.load(session)
	if !ok {
		a.t.Fatalf("session/load: the session %s is lost", session)
	}
	return shown
}

// load loads a session and returns the client's view of it; false if the session
// does not exist.
func (a *agent) load(session string) (*shownSession, bool) {
	a.t.Helper()
	before := len(a.agentFrames())
	id := fmt.Sprintf(`"load-%d"`, before)
	a.request(id, "session/load", fmt.Sprintf(`{"sessionId":%q,"cwd":%q,"mcpServers":[]}`, session, a.dir))
	f := a.answer(id)
	if f.Error != nil {
		if f.Error.Code != -32002 {
			a.t.Fatalf("session/load: %s", f.line)
		}
		return nil, false
	}
	frames := a.agentFrames()[before:]
	end := slices.IndexFunc(frames, func(f frame) bool { return string(f.ID) == id })
	for _, f := range frames[:end] {
		if f.Method != "session/update" && f.Method != "" {
			a.t.Errorf("a replay calls the client: %s", f.line)
		}
	}
	return shownIn(frames[:end], session, func(frame) bool { return false }), true
}
