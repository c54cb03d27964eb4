package integration

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/zeph-acp/zeph-acp/integration/fakemodel"
)

// spender is a model that calls tools without end, at random costs.
type spender struct {
	rng *rand.Rand

	mu     sync.Mutex
	tokens []int // of each answer, input and output
	n      int
}

// answerTokens is the output of each answer of fakemodel.
const answerTokens = 7

func (s *spender) answer(r fakemodel.Request) fakemodel.Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	input := 3000 + s.rng.IntN(1000) // a server that counts fewer is taken for one that drops tools
	s.tokens = append(s.tokens, input+answerTokens)
	id, delegates := fmt.Sprint("c", s.n), false
	for _, tool := range r.Tools {
		delegates = delegates || tool.Name == "sub_agent"
	}
	switch {
	case delegates && s.rng.IntN(4) == 0:
		return fakemodel.Counted(input, fakemodel.Call(id, "sub_agent", map[string]any{"task": fmt.Sprint("look ", s.n), "type": "explore"}))
	case s.rng.IntN(9) == 0:
		return fakemodel.Counted(input, fakemodel.Say("That is all."))
	}
	return fakemodel.Counted(input, fakemodel.Call(id, "find_path", map[string]any{"pattern": fmt.Sprintf("*.%d", s.n)}))
}

// total returns the number of tokens of all answers but the last.
func (s *spender) total() (beforeLast, all int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, n := range s.tokens {
		beforeLast = all
		all += n
	}
	return beforeLast, all
}

// TestBudgetStops lets models spend at random, with sub-agents, in several turns of one session or in several sessions:
// the request that reaches the budget is the last one.
func TestBudgetStops(t *testing.T) {
	rng := newRand(t)
	for n := range extent(6, 200) {
		scope := []string{"turn", "session", "day"}[n%3]
		money := n%2 == 0
		limit := 500 + rng.IntN(80_000)
		t.Run(fmt.Sprint(n, " ", scope), func(t *testing.T) {
			s := &spender{rng: rng}
			p := fakemodel.NewAnthropic(t)
			p.Choose = s.answer
			bound := fmt.Sprintf("max_tokens = %d", limit)
			if money { // a token costs a millionth
				bound = fmt.Sprintf("max_cost = %d.%06d", limit/1_000_000, limit%1_000_000)
			}
			a := launch(t, start{env: p.Env(), config: fmt.Sprintf(
				"[[llm.providers]]\ntype = \"claude\"\nprice = { input = 1, output = 1 }\n[agent.budget.%s]\n%s\n", scope, bound)})
			counted, said := 0, ""
			for turn := 0; ; turn++ {
				args := []string{"run", "--json", "--yes", "--max-rounds", "1000"}
				if scope == "session" && turn > 0 {
					args = append(args, "--continue")
				}
				if scope == "turn" {
					s.tokens, counted = nil, 0
				}
				cmd := commandIn(a, append(args, fmt.Sprint("Work on part ", turn))...)
				var stderr strings.Builder
				cmd.Stderr = &stderr
				out, err := cmd.Output()
				said += string(out) + stderr.String()
				beforeLast, all := s.total()
				lines := strings.Split(strings.TrimSpace(string(out)), "\n")
				var r struct {
					ExitCode int
					Usage    struct{ InputTokens, OutputTokens int }
					Error    struct{ Message string }
				}
				if jsonErr := json.Unmarshal([]byte(lines[len(lines)-1]), &r); jsonErr != nil {
					t.Fatalf("%v: %v\n%s\n%s", err, jsonErr, out, stderr.String())
				}
				if got := r.Usage.InputTokens + r.Usage.OutputTokens; got != all-counted {
					t.Fatalf("turn %d: %d tokens counted, %d used\n%s", turn, got, all-counted, out)
				}
				counted = all
				if beforeLast >= limit {
					t.Fatalf("turn %d: %d tokens before the last request, the limit is %d\n%s\n%s", turn, beforeLast, limit, lines[len(lines)-1], stderr.String())
				}
				if r.ExitCode == 0 {
					if turn > 60 {
						t.Fatal("the budget is never used up")
					}
					continue
				}
				if all < limit || r.ExitCode != 3 || !strings.Contains(r.Error.Message, "agent.budget."+scope+".max_") {
					t.Fatalf("turn %d: %d of %d tokens, %s\n%s", turn, all, limit, lines[len(lines)-1], stderr.String())
				}
				if !strings.Contains(said, "nearly used up") && all-limit < limit/20 && limit > 50_000 {
					t.Errorf("no warning at 80 %%:\n%s", said)
				}
				return
			}
		})
	}
}

// TestBudgetQuestion shows an editor the question of a budget, with its answers.
func TestBudgetQuestion(t *testing.T) {
	p := fakemodel.NewAnthropic(t)
	n := 0
	p.Choose = func(fakemodel.Request) fakemodel.Reply {
		if n++; n%4 == 0 {
			return fakemodel.Answer(fakemodel.Say("Done."))
		}
		return fakemodel.Answer(fakemodel.Call(fmt.Sprint("c", n), "find_path", map[string]any{"pattern": fmt.Sprintf("*.%d", n)}))
	}
	var e editor
	e.start(t, start{env: p.Env(), config: "[agent.budget.session]\nmax_tokens = 50\n"})
	e.initialize()
	s := e.open()
	e.runTurn(s, "Look for files.")
	var titles []string
	for _, f := range e.agentFrames() {
		if f.Method == "session/request_permission" {
			titles = append(titles, string(f.line))
		}
	}
	if len(titles) != 1 || !strings.Contains(titles[0], "Raise the budget of this session to 100 tokens and go on?") ||
		!strings.Contains(titles[0], "the budget of this session is used up, 64 of 50 tokens") {
		t.Errorf("asked %d times: %s", len(titles), strings.Join(titles, "\n"))
	}
	status := e.turnOf(s, "/status")
	for _, want := range []string{"Budget of this session: 128 of 100 tokens", "Cost: unknown, since the price of "} {
		if !strings.Contains(status, want) {
			t.Errorf("/status lacks %q: %s", want, status)
		}
	}
}
