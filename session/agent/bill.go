package agent

import (
	"maps"
	"math"
	"slices"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// rates are the prices of input that a provider's cache has, and of input that it gets, relative to the
// price of other input.
type rates struct{ read, write float64 }

// Rates where the prices are unknown: those of providers whose cache is written at a price of its own
// (Anthropic), and typical ones of the others.
var (
	pricedWrites = rates{0.1, 1.25}
	usualRates   = rates{0.25, 1}
)

// rates returns the rates of the model: the configured ones, or what its answers suggest.
func (t *turn) rates() rates {
	if m, ok := llm.As[interface{ Prices() llm.Price }](t.model); ok {
		if p := m.Prices(); p.Input > 0 {
			r := rates{1, 1}
			if p.CacheRead > 0 {
				r.read = p.CacheRead / p.Input
			}
			if p.CacheWrite > 0 {
				r.write = p.CacheWrite / p.Input
			}
			return r
		}
	}
	if llm.Unpaid(t.model) { // only the time to read what is new
		return rates{0, 1}
	}
	if t.writesCache {
		return pricedWrites
	}
	return usualRates
}

// roundsAhead is the number of requests that a turn is expected to make from any time on.
const roundsAhead = 8

// needsAgain estimates the chance that a model needs a result again that so many requests had.
func needsAgain(requests int) float64 { return 0.4*math.Pow(0.7, float64(requests)) + 0.03 }

// piece is a message of the history as the bill sees it. Its numbers are in tokens, or all in bytes.
type piece struct {
	size     int
	blocks   int
	saved    int     // what it takes less once its old results are references; 0 means that it stays
	repeated float64 // what the model is expected to ask for again then, in so many more requests:
	requests float64
	sent     bool // the last request had it, so the cache has it
	later    int  // what it would take less after so many more requests, when its results are old too:
	in       int
}

// lookback is the number of blocks before the end of a request among which a provider with priced writes
// looks for what its cache has. If the change is earlier, it finds none of the messages.
// https://platform.claude.com/docs/en/build-with-claude/prompt-caching
const lookback = 20

// cheapest returns from which message on the old results should become references, so that the next
// requests cost least. It reports false if all should stay. A cache holds the beginning of a request, so
// everything after the first change is paid as new once.
func (r rates) cheapest(history []piece, requests int) (from int, ok bool) {
	best, tail, gain, all, sent := 0.0, 0.0, 0.0, 0.0, 0.0
	for _, p := range history {
		all += float64(p.size)
		if p.sent {
			sent += float64(p.size)
		}
	}
	saved, blocks := 0, 0
	for i := len(history) - 1; i >= 0; i-- {
		p := history[i]
		if blocks += p.blocks; p.sent {
			tail += float64(p.size - p.saved)
		}
		if p.saved == 0 {
			continue
		}
		saved += p.saved
		gain += float64(p.saved)*r.read*float64(requests) - p.repeated*r.write - p.requests*all*r.read
		fresh := tail
		if r.write > 1 && blocks > lookback {
			fresh = sent - float64(saved)
		}
		if net := gain - fresh*(r.write-r.read); net > best && !r.shouldWait(history[i:], saved) {
			best, from, ok = net, i, true
		}
	}
	return from, ok
}

// shouldWait reports whether it is cheaper to wait with a change: results after it will be old soon, and
// would now be paid as new just before they become references.
func (r rates) shouldWait(history []piece, saved int) bool {
	spared := map[int]int{}
	for _, p := range history {
		if p.sent && p.later > 0 {
			spared[p.in] += p.later
		}
	}
	sum := 0
	for _, in := range slices.Sorted(maps.Keys(spared)) {
		sum += spared[in]
		if float64(sum)*(r.write-r.read) > float64(in*saved)*r.read {
			return true
		}
	}
	return false
}
