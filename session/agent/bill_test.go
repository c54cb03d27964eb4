package agent

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// simCall is one call of a task with its result, in tokens.
type simCall struct {
	call, result int
	file         bool // the result is a part of a file that stays as it is
	replaces     int  // how many calls ago the same call was made; 0 means never
}

// simTasks are tasks as models work on them: sizes of calls and results.
func simTasks() map[string][]simCall {
	var fix []simCall // a failing run, then reads and edits, then the run again
	fix = append(fix, simCall{call: 60, result: 300}, simCall{call: 60, result: 4600})
	for i := range 12 {
		fix = append(fix, simCall{call: 80, result: []int{400, 1800, 3000, 700}[i%4], file: i%2 == 0}, simCall{call: 250, result: 120})
	}
	fix = append(fix, simCall{call: 60, result: 900, replaces: 25}, simCall{call: 60, result: 300}, simCall{call: 60, result: 150, replaces: 2})
	review := []simCall{{call: 60, result: 4500}, {call: 60, result: 5500}}
	for i := range 15 {
		review = append(review, simCall{call: 80, result: []int{2500, 1200, 4200, 600, 300}[i%5], file: i%3 > 0})
	}
	review = append(review, simCall{call: 60, result: 400}, simCall{call: 60, result: 300, replaces: 17})
	var rename, install []simCall
	for i := range 20 {
		rename = append(rename, simCall{call: 150, result: []int{900, 150, 300, 2200, 100}[i%5], file: i%5 == 3})
		install = append(install, simCall{call: 90, result: []int{1500, 2600, 500, 3500, 400}[i%5], replaces: []int{0, 0, 0, 5, 0}[i%5]})
	}
	tasks := map[string][]simCall{"short": fix[:6], "fix": fix[:20], "fix, long": fix, "review": review, "rename": rename, "install": install}
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{10, 30, 80} {
		var random []simCall
		for i := range n {
			c := simCall{call: 40 + rng.IntN(200), result: min(100+int(rng.ExpFloat64()*900), 5000), file: rng.IntN(2) == 0}
			if i > 5 && rng.IntN(8) == 0 {
				c.replaces = 1 + rng.IntN(5)
			}
			random = append(random, c)
		}
		tasks[fmt.Sprintf("random %d", n)] = random
	}
	return tasks
}

// The system prompt and the tools, and the smallest result that becomes a reference and what stays of it.
const simBase, simLeast, simShown = 4500, 550, 110

// simMessage is a message of a simulated history.
type simMessage struct {
	simCall
	size      int
	round     int
	result    bool
	replaced  bool
	shortened bool
}

// simulate returns what the input of a task costs, in tokens at the price of new input. A result that
// becomes a reference may be asked for again, which costs another request.
func simulate(task []simCall, r rates, after, ahead int) (cost float64, batches int) {
	history := []simMessage{{size: 200}}
	cached := 0
	for n := 0; n <= len(task); n++ {
		if after > 0 {
			all := make([]piece, len(history))
			for i, m := range history {
				all[i] = piece{size: m.size, blocks: 1, sent: m.round < n-1 || !m.result && m.round < n}
				if age := n - m.round - 1; m.result && !m.shortened && m.size > simLeast && !m.replaced && age < after {
					all[i].later, all[i].in = m.size-simShown, after-age
				} else if m.result && !m.shortened && m.size > simLeast && (m.replaced || age >= after) {
					all[i].saved = m.size - simShown
					all[i].requests = chance(age, m.replaced, m.file)
					all[i].repeated = all[i].requests * float64(m.size)
				}
			}
			if from, ok := r.cheapest(all, ahead); ok {
				batches++
				before, whole := 0, 0
				for _, m := range history {
					whole += m.size
				}
				for i := range history {
					if i < from {
						before += history[i].size
					} else if all[i].saved > 0 {
						cost += all[i].repeated*r.write + all[i].requests*float64(simBase+whole)*r.read
						history[i].size, history[i].shortened = simShown, true
					}
				}
				if cached = min(cached, before); r.write > 1 && len(history)-from > lookback {
					cached = 0
				}
			}
		}
		total := 0
		for _, m := range history {
			total += m.size
		}
		base := r.read
		if n == 0 {
			base = r.write
		}
		cost += simBase*base + float64(cached)*r.read + float64(total-cached)*r.write
		cached = total
		if n == len(task) {
			break
		}
		c := task[n]
		for i := range history {
			if c.replaces > 0 && history[i].result && history[i].round == n-c.replaces {
				history[i].replaced = true
			}
		}
		history = append(history, simMessage{size: c.call, round: n}, simMessage{simCall: c, size: c.result, round: n, result: true})
	}
	return cost, batches
}

// With the default of shrink_after the input of tasks costs less than with whole results, at the prices
// of every provider. No short task costs much more. With -v it prints the table by which the default, roundsAhead and
// the rates were chosen.
func TestShrinkingSaves(t *testing.T) {
	tasks := simTasks()
	names := slices.Sorted(maps.Keys(tasks))
	for name, tt := range map[string]struct {
		rates
		atMost float64 // the mean cost, relative to that of whole results
		worst  float64
	}{
		"writes at 1.25, reads at 0.1": {rates{0.1, 1.25}, 0.97, 1.08},
		"reads at 0.1":                 {rates{0.1, 1}, 0.94, 1.08},
		"reads at 0.25":                {rates{0.25, 1}, 0.85, 1.16},
		"reads at 0.5":                 {rates{0.5, 1}, 0.78, 1.13},
		"no cache":                     {rates{1, 1}, 0.70, 1.01},
	} {
		for _, after := range []int{1, 2, 3, 4, 6} {
			for _, ahead := range []int{4, roundsAhead, 12} {
				sum, worst, line := 0.0, 0.0, ""
				for _, task := range names {
					whole, _ := simulate(tasks[task], tt.rates, 0, 0)
					short, batches := simulate(tasks[task], tt.rates, after, ahead)
					sum += short / whole
					worst = max(worst, short/whole)
					line += fmt.Sprintf(" %3.0f(%d)", 100*short/whole, batches)
				}
				mean := sum / float64(len(names))
				t.Logf("%-30s shrink_after %d, %2d rounds ahead: %3.0f %% (%s)", name, after, ahead, 100*mean, strings.TrimSpace(line))
				if after == 3 && ahead == roundsAhead && (mean > tt.atMost || worst > tt.worst) {
					t.Errorf("%s: the mean is %.3f, at most %.3f is expected; the worst is %.3f, at most %.3f is expected", name, mean, tt.atMost, worst, tt.worst)
				}
			}
		}
	}
}

// A change is worth it only if few messages after it are paid as new.
func TestCheapest(t *testing.T) {
	big, small := piece{size: 5000, saved: 4900, sent: true}, piece{size: 300, sent: true}
	huge, one := piece{size: 9000, blocks: 9, sent: true}, piece{size: 5000, saved: 4900, blocks: 1, sent: true}
	many := slices.Repeat([]piece{small}, 40)
	for name, tt := range map[string]struct {
		rates
		history []piece
		from    int
		ok      bool
	}{
		"nothing old":          {usualRates, []piece{small, small}, 0, false},
		"near the end":         {usualRates, []piece{small, big, small, small}, 1, true},
		"long ago":             {pricedWrites, slices.Concat([]piece{small, big}, many), 0, false},
		"too long ago to find": {pricedWrites, []piece{huge, one, {size: 100, blocks: 20, sent: true}}, 0, false},
		"not too long ago":     {pricedWrites, []piece{huge, one, {size: 100, blocks: 19, sent: true}}, 1, true},
		"long ago, no cache":   {rates{1, 1}, slices.Concat([]piece{small, big}, many), 1, true},
		"only the last one":    {pricedWrites, slices.Concat([]piece{small, {size: 600, saved: 500, sent: true}}, many, []piece{big, small}), 42, true},
		"nothing was sent":     {pricedWrites, []piece{{size: 900, saved: 800}, {size: 9000}}, 0, true},
		"likely needed again":  {pricedWrites, []piece{small, {size: 5000, saved: 4900, repeated: 4000, sent: true}, small}, 0, false},
		"a long one is old soon": {rates{0.1, 1},
			[]piece{small, {size: 900, saved: 800, sent: true}, {size: 5000, later: 4800, in: 1, sent: true}, small}, 0, false},
		"a short one is old soon": {rates{0.5, 1},
			[]piece{small, {size: 5000, saved: 4800, sent: true}, {size: 900, later: 800, in: 2, sent: true}, small}, 1, true},
	} {
		if from, ok := tt.cheapest(tt.history, roundsAhead); from != tt.from || ok != tt.ok {
			t.Errorf("%s: got %d, %t, want %d, %t", name, from, ok, tt.from, tt.ok)
		}
	}
}
