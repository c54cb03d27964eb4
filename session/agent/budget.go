package agent

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
)

// Amount is what models have cost.
type Amount struct {
	Costs    map[string]float64 `json:"costs,omitempty"`    // by currency
	Tokens   int64              `json:"tokens,omitempty"`   // read and written, those from a cache included
	Time     time.Duration      `json:"time,omitempty"`     // of turns
	Unpriced int64              `json:"unpriced,omitempty"` // how many of the tokens have no known price
}

// Add adds another amount.
func (a *Amount) Add(more Amount) {
	if a.Costs == nil {
		a.Costs = map[string]float64{}
	}
	for currency, cost := range more.Costs {
		a.Costs[currency] += cost
	}
	a.Tokens, a.Time, a.Unpriced = a.Tokens+more.Tokens, a.Time+more.Time, a.Unpriced+more.Unpriced
}

// Clone returns a copy.
func (a Amount) Clone() Amount {
	a.Costs = maps.Clone(a.Costs)
	return a
}

// Spending is what models have cost in the running turn, in its session, and on this day in all
// sessions.
type Spending struct{ Turn, Session, Day Amount }

// Budget is the table [agent.budget].
type Budget struct {
	Turn    Limit `toml:"turn"`
	Session Limit `toml:"session"`
	Day     Limit `toml:"day"`
}

// Limit is a limit on what models may cost.
type Limit struct {
	MaxCost    float64 `toml:"max_cost" default:"0" range:"0..1000000" zero:"no limit" tighten:"limit" doc:"money, in the currency of the prices"`
	MaxTokens  int64   `toml:"max_tokens" default:"0" range:"0.." zero:"no limit" tighten:"limit" unit:"tokens" doc:"that models read and write, those from a cache included"`
	MaxMinutes float64 `toml:"max_minutes" default:"0" range:"0..100000" zero:"no limit" tighten:"limit" unit:"minutes" doc:"of turns"`
}

// warnPercent is the share of a limit at which the user is warned.
const warnPercent = 80

// Watch compares what models cost with the budget. A session shares it with its sub-agents.
type Watch struct {
	Budget Budget
	// Spent returns what was spent so far. If store is set, it also stores that for later processes, and returns what
	// others have spent today.
	Spent func(ctx context.Context, store bool) Spending
	// Unasked means that the user has allowed all calls in advance, which does not raise a limit.
	Unasked bool

	mu       sync.Mutex         // held during a question, so that several sub-agents ask once
	raised   map[string]float64 // the limits that the user has raised, by key
	warned   map[string]bool    // by key
	stopped  string             // why the running turn was stopped; empty if it was not
	unpriced bool               // the user was told of unknown prices
}

// NewWatch returns the watch over a budget, or nil if it has no limit.
func NewWatch(b Budget, spent func(ctx context.Context, store bool) Spending) *Watch {
	if b == (Budget{}) {
		return nil
	}
	return &Watch{Budget: b, Spent: spent, raised: map[string]float64{}, warned: map[string]bool{}}
}

// beginTurn forgets what the user said about the turn before.
func (w *Watch) beginTurn() {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	ofTurn := func(key string) bool { return strings.HasPrefix(key, "turn.") }
	maps.DeleteFunc(w.raised, func(key string, _ float64) bool { return ofTurn(key) })
	maps.DeleteFunc(w.warned, func(key string, _ bool) bool { return ofTurn(key) })
	w.stopped = ""
}

// gauge is one limit and how much of it is used.
type gauge struct {
	key         string // such as session.max_cost
	of          string // such as "this session"
	unit        string // such as USD
	used, limit float64
	step        float64 // the configured limit
}

// String returns a text such as "5.01 of 5 USD".
func (g gauge) String() string {
	return fmt.Sprintf("%s of %s %s", number(g.used), number(g.limit), g.unit)
}

// next returns the next limit, above what is used.
func (g gauge) next() float64 {
	limit := g.limit
	for limit <= g.used {
		limit += g.step
	}
	return limit
}

// number returns a number with as many as four decimals; one that is smaller has one digit.
func number(n float64) string {
	text := strconv.FormatFloat(math.Round(n*1e4)/1e4, 'f', -1, 64)
	if text == "0" && n > 0 {
		digits := -int(math.Floor(math.Log10(n)))
		text = strconv.FormatFloat(n, 'f', digits, 64)
	}
	return text
}

// spent returns what was spent so far.
func (w *Watch) spent(ctx context.Context) Spending {
	return w.Spent(ctx, w.Budget.Session != Limit{} || w.Budget.Day != Limit{})
}

// gauges returns all limits.
func (w *Watch) gauges(now Spending) (all []gauge) {
	add := func(key, of, unit string, used, limit float64) {
		if limit > 0 {
			all = append(all, gauge{key, of, unit, used, max(limit, w.raised[key]), limit})
		}
	}
	for _, scope := range []struct {
		name, of string
		limit    Limit
		spent    Amount
	}{
		{"turn", "this turn", w.Budget.Turn, now.Turn},
		{"session", "this session", w.Budget.Session, now.Session},
		{"day", "today", w.Budget.Day, now.Day},
	} {
		for _, currency := range slices.Sorted(maps.Keys(scope.spent.Costs)) {
			add(scope.name+".max_cost", scope.of, currency, scope.spent.Costs[currency], scope.limit.MaxCost)
		}
		add(scope.name+".max_tokens", scope.of, "tokens", float64(scope.spent.Tokens), float64(scope.limit.MaxTokens))
		add(scope.name+".max_minutes", scope.of, "minutes", scope.spent.Time.Minutes(), scope.limit.MaxMinutes)
	}
	return all
}

// Status returns the lines of /status, one for each limit.
func (w *Watch) Status(ctx context.Context) (lines []string) {
	now := w.spent(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, g := range w.gauges(now) {
		lines = append(lines, fmt.Sprintf("Budget of %s: %s", g.of, g))
	}
	return lines
}

// limitsCost reports whether a limit is an amount of money.
func (b Budget) limitsCost() bool {
	return b.Turn.MaxCost > 0 || b.Session.MaxCost > 0 || b.Day.MaxCost > 0
}

// checkBudget ends the turn once its budget is used up. It is called before each request to a model.
func (t *turn) checkBudget(ctx context.Context) (acp.StopReason, error) {
	why, err := t.budgetStop(ctx)
	if err != nil || why == "" {
		return "", err
	}
	return t.stop(ctx, acp.StopMaxTurnRequests, "Stopped: %s.", why)
}

// budgetStop warns the user that the budget is nearly used up. Once it is, it returns why no model may be asked,
// unless the user raises the budget.
func (t *turn) budgetStop(ctx context.Context) (why string, err error) {
	w := t.Watch
	if w == nil || t.direct {
		return "", nil
	}
	now := w.spent(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	if now.Turn.Unpriced > 0 && w.Budget.limitsCost() && !w.unpriced {
		w.unpriced = true
		if err := t.sessionTurn().warn(ctx, fmt.Sprintf("The price of %s is not known, so a max_cost of agent.budget does not stop it. Set price for its provider, or use max_tokens.", t.model.Name())); err != nil {
			return "", err
		}
	}
	for _, g := range w.gauges(now) {
		if w.stopped != "" {
			break
		}
		switch {
		case g.used >= g.limit:
			why, err := t.sessionTurn().askToSpend(ctx, g)
			if err != nil {
				return "", err
			}
			if why != "" {
				w.stopped = fmt.Sprintf("the budget of %s is used up, %s (agent.budget.%s)%s", g.of, g, g.key, why)
				continue
			}
			w.raised[g.key] = g.next()
			w.warned[g.key] = false
		case g.used*100 >= g.limit*warnPercent && !w.warned[g.key]:
			w.warned[g.key] = true
			if err := t.sessionTurn().warn(ctx, fmt.Sprintf("The budget of %s is nearly used up: %s (agent.budget.%s).", g.of, g, g.key)); err != nil {
				return "", err
			}
		}
	}
	return w.stopped, nil
}

// askToSpend asks the user whether the turn goes on although a limit is reached. The reason is empty if it does.
func (t *turn) askToSpend(ctx context.Context, g gauge) (why string, err error) {
	if t.Ask == nil || t.Watch.Unasked {
		return " and nobody is there to raise it", nil
	}
	next := number(g.next()) + " " + g.unit
	because := fmt.Sprintf("the budget of %s is used up, %s (agent.budget.%s).", g.of, g, g.key)
	answer, err := t.askUser(ctx, fmt.Sprintf("Raise the budget of %s to %s and go on?", g.of, next), because, []choice{
		{goOn, "Go on, up to " + next, "Going on."},
		{stopHere, "Stop", "Stopped."},
	})
	switch answer {
	case goOn:
		return "", err
	case stopHere:
		return ", as you asked", err
	}
	return " and nobody raised it", err
}
