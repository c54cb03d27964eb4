package session

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/llm"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// spending is what models have cost.
type spending struct {
	turn, session agent.Amount
	unsaved       agent.Amount // not yet part of the day's counters
	until         time.Time    // the time of the running turn is counted up to then; zero: no turn runs
	kept          bool         // the session or the day has a budget, so what was spent is stored
}

// add adds an amount to all parts.
func (p *spending) add(a agent.Amount) {
	p.turn.Add(a)
	p.session.Add(a)
	p.unsaved.Add(a)
}

// tick counts the time of the running turn.
func (p *spending) tick(now time.Time) {
	if !p.until.IsZero() && now.After(p.until) {
		p.add(agent.Amount{Time: now.Sub(p.until)})
		p.until = now
	}
}

// stateSpent is the name of the state that keeps the session's spending. It is recorded if the session or the day has
// a budget.
const stateSpent = "spent"

// addCost counts an answer and returns the session's costs in its currency, rounded to six decimals; nil if the
// price is unknown.
func (s *Session) addCost(m llm.Model, u llm.Usage) *acp.Cost {
	cost, currency, ok := llm.Cost(m, u)
	one := agent.Amount{Tokens: int64(u.Input) + int64(u.Output)}
	switch {
	case ok:
		one.Costs = map[string]float64{currency: cost}
	case !llm.Unpaid(m):
		one.Unpriced = one.Tokens
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spent.add(one)
	if s.tally.goal != nil {
		s.tally.goal.Used.Tokens += u.Input + u.Output
	}
	if !ok {
		return nil
	}
	return &acp.Cost{Amount: math.Round(s.spent.session.Costs[currency]*1e6) / 1e6, Currency: currency}
}

// beginSpending begins to count for a turn.
func (s *Session) beginSpending() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spent.turn, s.spent.until = agent.Amount{}, s.sessions.Now()
}

// endSpending ends the count for a turn.
func (s *Session) endSpending(ctx context.Context) {
	s.mu.Lock()
	kept := s.spent.kept
	s.mu.Unlock()
	if kept {
		s.spentSoFar(context.WithoutCancel(ctx), true)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spent.until = time.Time{}
}

// spentSoFar returns what was spent; see agent.Watch.
func (s *Session) spentSoFar(ctx context.Context, store bool) agent.Spending {
	s.mu.Lock()
	s.spent.tick(s.sessions.Now())
	now := agent.Spending{Turn: s.spent.turn.Clone(), Session: s.spent.session.Clone()}
	s.spent.kept = s.spent.kept || store
	s.mu.Unlock()
	if !store {
		return now
	}
	if value, err := json.Marshal(now.Session); err == nil && string(value) != string(s.state(stateSpent)) {
		s.setState(transcript.State{Name: stateSpent, Value: value})
		s.record(transcript.State{Name: stateSpent, Value: value})
	}
	now.Day = s.saveDay(ctx)
	return now
}

// saveDay adds what was spent to the counters of the day, and returns what all sessions have spent today. What cannot
// be saved counts for this session.
func (s *Session) saveDay(ctx context.Context) agent.Amount {
	s.mu.Lock()
	more := s.spent.unsaved
	s.spent.unsaved = agent.Amount{}
	s.mu.Unlock()
	today, err := s.sessions.spend(ctx, more)
	if err != nil {
		s.sessions.Log.Warn("the spending of the day is not saved", "session", s.id, "err", err)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.spent.unsaved.Add(more)
		today = s.spent.unsaved.Clone()
	}
	return today
}

// restoreSpending sets what the session has spent from its log. The caller holds s.mu.
func (s *Session) restoreSpending(events []transcript.Event) {
	kept := agent.Amount{Costs: map[string]float64{}}
	var tokens int64
	for _, e := range events {
		switch e := e.(type) {
		case transcript.State:
			if e.Name != stateSpent {
				continue
			}
			var state agent.Amount
			if json.Unmarshal(e.Value, &state) == nil {
				state.Costs = maximum(state.Costs, kept.Costs)
				kept = state
			}
		case transcript.Answer:
			if e.Usage != nil {
				tokens += int64(e.Usage.Input) + int64(e.Usage.Output)
			}
			if e.Shown != nil && e.Shown.Cost != nil {
				kept.Costs = maximum(kept.Costs, map[string]float64{e.Shown.Cost.Currency: e.Shown.Cost.Amount})
			}
		}
	}
	kept.Tokens = max(kept.Tokens, tokens)
	s.spent.session = kept
}

// maximum returns the greater of the amounts in each currency.
func maximum(a, b map[string]float64) map[string]float64 {
	all := maps.Clone(b)
	if all == nil {
		all = map[string]float64{}
	}
	for currency, cost := range a {
		all[currency] = max(all[currency], cost)
	}
	return all
}

// costLine returns the costs for /status, or "" if there are none.
func (p *spending) costLine(model string) string {
	var parts []string
	for _, currency := range slices.Sorted(maps.Keys(p.session.Costs)) {
		parts = append(parts, fmt.Sprintf("%.4f %s", p.session.Costs[currency], currency))
	}
	switch {
	case p.session.Unpriced == 0:
	case len(parts) == 0:
		parts = append(parts, fmt.Sprintf("unknown, since the price of %s is not known (price of its provider sets it)", model))
	default:
		parts = append(parts, quantity.Count(int(p.session.Unpriced), "token")+" of unknown price")
	}
	return strings.Join(parts, " and ")
}

// day is what all sessions of this process have spent on a day, where there is no store.
type day struct {
	mu     sync.Mutex
	name   string
	amount agent.Amount
}

// millionths is the unit of costs in counters, in parts of one.
const millionths = 1e6

// spend adds an amount to the counters of the day, and returns what all sessions have spent since midnight.
func (s *Sessions) spend(ctx context.Context, more agent.Amount) (agent.Amount, error) {
	name := "spent " + s.Now().Local().Format(time.DateOnly) + " "
	if s.Store == nil {
		s.day.mu.Lock()
		defer s.day.mu.Unlock()
		if s.day.name != name {
			s.day.name, s.day.amount = name, agent.Amount{}
		}
		s.day.amount.Add(more)
		return s.day.amount.Clone(), nil
	}
	add := map[string]int64{}
	count := func(what string, n int64) {
		if n != 0 {
			add[name+what] = n
		}
	}
	count("tokens", more.Tokens)
	count("milliseconds", more.Time.Milliseconds())
	for currency, cost := range more.Costs {
		count("cost "+currency, int64(math.Round(cost*millionths)))
	}
	if len(add) > 0 {
		if err := s.Store.AddCounters(ctx, add); err != nil {
			return agent.Amount{}, err
		}
	}
	counters, err := s.Store.Counters(ctx, name)
	if err != nil {
		return agent.Amount{}, err
	}
	today := agent.Amount{
		Costs: map[string]float64{}, Tokens: counters[name+"tokens"], Time: time.Duration(counters[name+"milliseconds"]) * time.Millisecond,
	}
	for key, n := range counters {
		if currency, ok := strings.CutPrefix(key, name+"cost "); ok {
			today.Costs[currency] = float64(n) / millionths
		}
	}
	return today, nil
}
