package agent

import (
	"testing"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// priced is a model with these prices.
type priced struct {
	llm.Model
	price  llm.Price
	unpaid bool
}

func (p priced) Prices() llm.Price { return p.price }
func (p priced) Unpaid() bool      { return p.unpaid }

func TestRates(t *testing.T) {
	for name, tt := range map[string]struct {
		model  llm.Model
		writes bool
		want   rates
	}{
		"unknown":             {priced{}, false, usualRates},
		"writes":              {priced{}, true, pricedWrites},
		"configured":          {priced{price: llm.Price{Input: 4, CacheRead: 1, CacheWrite: 5}}, false, rates{0.25, 1.25}},
		"no price of a cache": {priced{price: llm.Price{Input: 4}}, true, rates{1, 1}},
		"on this machine":     {priced{unpaid: true}, true, rates{0, 1}},
	} {
		a := &Agent{}
		a.writesCache = tt.writes
		if got := (&turn{Agent: a, model: tt.model}).rates(); got != tt.want {
			t.Errorf("%s: got %v, want %v", name, got, tt.want)
		}
	}
}
