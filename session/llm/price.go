package llm

import (
	"cmp"
	"fmt"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// maxPrice bounds a price, so that sums stay finite.
const maxPrice = 1e6

// Price is the cost of a million tokens.
type Price struct {
	// Input is the price of tokens that are neither read from the cache nor written to
	// it.
	Input float64 `toml:"input"`
	// Output is the price of the answer, thoughts included.
	Output float64 `toml:"output"`
	// CacheRead is the price of input read from the cache; 0 means the price of other
	// input.
	CacheRead float64 `toml:"cache_read"`
	// CacheWrite is the price of input written to the cache; 0 means the price of other
	// input.
	CacheWrite float64 `toml:"cache_write"`
	// Currency is an ISO 4217 code, or a unit such as credits. Empty means USD.
	Currency string `toml:"currency"`
}

// currency matches the currencies that the client protocol accepts.
var currency = lazyregexp.New(`^([A-Z]{3}|[a-z][a-z0-9_-]{3,15})$`)

// Validate returns a message for each invalid value, by key.
func (p Price) Validate() map[string]string {
	wrong := map[string]string{}
	for key, price := range map[string]float64{
		"input": p.Input, "output": p.Output, "cache_read": p.CacheRead, "cache_write": p.CacheWrite,
	} {
		if !(price >= 0 && price <= maxPrice) { // NaN is neither
			wrong[key] = fmt.Sprintf("must be 0 to 1,000,000 for a million tokens, got %g", price)
		}
	}
	if p.Currency != "" && !currency.MatchString(p.Currency) {
		wrong["currency"] = fmt.Sprintf("must be three capital letters such as USD, or a unit such as credits, got %q", p.Currency)
	}
	return wrong
}

// Cost returns the cost of an answer of the model; ok is false if no price is
// configured.
func Cost(m Model, u Usage) (amount float64, currency string, ok bool) {
	priced, ok := As[interface{ Prices() Price }](m)
	if !ok || priced.Prices() == (Price{}) {
		return 0, "", false
	}
	p := priced.Prices()
	fresh := max(u.Input-u.CacheRead-u.CacheWrite, 0)
	amount = float64(fresh)*p.Input + float64(u.CacheRead)*cmp.Or(p.CacheRead, p.Input) +
		float64(u.CacheWrite)*cmp.Or(p.CacheWrite, p.Input) + float64(u.Output)*p.Output
	return amount / 1e6, cmp.Or(p.Currency, "USD"), true
}
