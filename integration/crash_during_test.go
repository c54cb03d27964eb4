package integration

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// killedAgent is an agent that is killed, or the one after it.
type killedAgent struct {
	editor
	model *fakemodel.Anthropic
}

// newKilledAgent starts an agent whose model repeats the prompt.
func newKilledAgent(t *testing.T, root string) *killedAgent {
	t.Helper()
	v := &killedAgent{model: fakemodel.NewAnthropic(t)}
	v.model.Choose = func(r fakemodel.Request) fakemodel.Reply {
		answer := ""
		for n := range 50 { // numbered, since an answer that repeats itself is stopped
			answer += fmt.Sprintf("%d: You asked me to %s.\n", n, r.Last())
		}
		return fakemodel.Answer(fakemodel.Say(answer))
	}
	v.start(t, start{root: root, env: v.model.Env(), config: "[audit]\nmax_bytes = 1048576\n"})
	v.initialize()
	return v
}

// must runs a turn that must end well, and returns the text of its last update.
func (v *killedAgent) must(session, text string) string {
	v.t.Helper()
	v.runTurn(session, text)
	last := ""
	for _, f := range v.agentFrames() {
		if u, ok := f.update(); ok && u.Kind == "tool_call_update" {
			last = string(u.Content)
		}
	}
	return last
}

// interruption is work in several steps on the disk, during which an agent is
// killed.
type interruption struct {
	prompts []string // the agent is killed during the last one
	prepare func(t *testing.T, root string)
	// check inspects the next agent, which has loaded the session.
	check func(v *killedAgent, live *shownSession)
}

// bigCalls are calls with a long line in the audit log.
func bigCalls(n int) string { return strings.Repeat("/bash : "+strings.Repeat("x", 60_000)+"\n", n) }

// portOf returns a fact to save.
func portOf(n int) string { return fmt.Sprintf("Service number%d listens on port %d.", n, 5000+n) }

// savePorts are calls that save facts.
func savePorts(n int) (prompt string) {
	for i := range n {
		prompt += "/memory_save " + portOf(i) + "\n"
	}
	return prompt
}

var overflowID = regexp.MustCompile(`overflow:[0-9a-f-]{36}`)

var interruptions = map[string]interruption{
	"compaction": {
		prompts: []string{"say alpha", "say beta", "say gamma", "/compact"},
		check: func(v *killedAgent, live *shownSession) {
			v.must(live.session, "say delta")
			all := v.model.Requests()
			for _, text := range []string{"say alpha", "say beta", "say gamma"} { // as messages or in the summary
				if !strings.Contains(all[len(all)-1], text) {
					v.t.Errorf("the model does not get %q: %.3000s", text, all[len(all)-1])
				}
			}
		},
	},
	"overflow": {
		prompts: []string{"/bash echo first", "/bash seq 1 400000"},
		check: func(v *killedAgent, live *shownSession) {
			again := v.must(live.session, "/bash seq 1 400000")
			for _, it := range live.items {
				again += it.Final
			}
			for _, id := range overflowID.FindAllString(again, -1) {
				if text := v.must(live.session, `/read_overflow {"id":"`+id+`","offset":399000,"limit":1}`); !strings.Contains(text, "399001") {
					v.t.Errorf("%s cannot be read: %s", id, text)
				}
			}
		},
	},
	"memory": {
		prompts: []string{"/bash echo first", savePorts(15)},
		check: func(v *killedAgent, live *shownSession) {
			found := v.must(live.session, `/memory_search {"query":"service listens port","limit":20}`)
			saved := 0
			for _, it := range live.items {
				if strings.Contains(it.Final, "Saved as entry") {
					if !strings.Contains(found, portOf(saved)) {
						v.t.Errorf("%q is lost: %s", portOf(saved), found)
					}
					saved++
				}
			}
			v.must(live.session, "/memory_save The next fact.")
		},
	},
	"rotation of the audit log": {
		prompts: []string{"/bash echo first", bigCalls(4)},
		prepare: func(t *testing.T, root string) { // fills the log almost to its limit
			v := newKilledAgent(t, root)
			v.must(v.open(), bigCalls(16))
			v.quit()
		},
		check: func(v *killedAgent, live *shownSession) {
			v.must(live.session, bigCalls(4)) // exceeds the limit if the first ones did not
			out, err := commandIn(v.agent, "audit", "verify").CombinedOutput()
			if err != nil {
				v.t.Errorf("audit verify: %v\n%s", err, out)
			}
			log := ""
			for _, name := range []string{"audit.jsonl.1", "audit.jsonl"} {
				text, err := os.ReadFile(filepath.Join(v.home, name))
				if err != nil {
					v.t.Error(err)
				}
				log += string(text)
			}
			for _, it := range live.items {
				if it.Kind == "tool_call" && it.Final != "" && !strings.Contains(log, `"tool_call_id":"`+it.ID+`"`) {
					v.t.Errorf("call %s is not in the log", it.ID)
				}
			}
		},
	},
}

// interrupted starts an agent, sends the prompts, and kills the agent after a part
// of the time that the last one takes: at the end if took is 0. It returns that
// time.
func (in interruption) interrupted(t *testing.T, took time.Duration, rng *rand.Rand) time.Duration {
	root := home(t)
	if in.prepare != nil {
		in.prepare(t, root)
	}
	v := newKilledAgent(t, root)
	session := v.open()
	last := len(in.prompts) - 1
	for _, text := range in.prompts[:last] {
		v.must(session, text)
	}
	began := time.Now()
	v.request(fmt.Sprint(last), "session/prompt", promptParams(session, in.prompts[last]))
	if took == 0 {
		v.answered(last)
		took = time.Since(began)
	} else {
		time.Sleep(time.Duration(rng.Int64N(int64(took)))) // a random moment
	}
	v.kill()
	v.waitExit(patience)
	live := v.shownTo()

	next := newKilledAgent(t, root)
	replay := next.mustLoad(live.session)
	checkReplay(t, in.prompts, live, replay)
	in.check(next, live)
	return took
}

// TestKillDuring kills agents during work in several steps on the disk. The next
// agent has everything that the client had seen completed, and works.
func TestKillDuring(t *testing.T) {
	for name, in := range interruptions {
		t.Run(name, func(t *testing.T) {
			rng := newRand(t)
			took := in.interrupted(t, 0, rng)
			for n := range extent(2, 40) {
				t.Run(fmt.Sprint(n), func(t *testing.T) { in.interrupted(t, took, rng) })
			}
		})
	}
}
