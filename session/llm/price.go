package llm

import (
	"cmp"
	"fmt"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// Price is the cost of a million tokens.
type Price struct {
	// Input is for tokens that are neither read from the cache nor written to it.
	Input float64 `toml:"input" range:"0..1000000" doc:"price of input tokens"`
	// Output includes thoughts.
	Output     float64 `toml:"output" range:"0..1000000" doc:"price of the answer"`
	CacheRead  float64 `toml:"cache_read" range:"0..1000000" zero:"the price of other input" doc:"price of input read from the cache"`
	CacheWrite float64 `toml:"cache_write" range:"0..1000000" zero:"the price of other input" doc:"price of input written to the cache"`
	// Currency is an ISO 4217 code, or a unit such as credits.
	Currency string `toml:"currency" zero:"USD" doc:"the currency"`

	// Long is for requests with a long input; nil means that all cost the same.
	Long *LongPrice `toml:"-"`
}

// LongPrice is the price of requests with more input than From, in tokens.
type LongPrice struct {
	From int
	Price
}

// currency matches the currencies that the client protocol accepts.
var currency = lazyregexp.New(`^([A-Z]{3}|[a-z][a-z0-9_-]{3,15})$`)

// Validate returns a message for a wrong currency.
func (p Price) Validate() map[string]string {
	if p.Currency == "" || currency.MatchString(p.Currency) {
		return nil
	}
	return map[string]string{"currency": fmt.Sprintf("must be three capital letters such as USD, or a unit such as credits, got %q", p.Currency)}
}

// Cost returns the cost of an answer of the model; ok is false if its price is unknown.
func Cost(m Model, u Usage) (amount float64, currency string, ok bool) {
	priced, ok := As[interface{ Prices() Price }](m)
	if !ok || priced.Prices() == (Price{}) {
		return 0, "", false
	}
	p := priced.Prices()
	for p.Long != nil && u.Input > p.Long.From {
		p = p.Long.Price
	}
	fresh := max(u.Input-u.CacheRead-u.CacheWrite, 0)
	amount = float64(fresh)*p.Input + float64(u.CacheRead)*cmp.Or(p.CacheRead, p.Input) +
		float64(u.CacheWrite)*cmp.Or(p.CacheWrite, p.Input) + float64(u.Output)*p.Output
	return amount / 1e6, cmp.Or(p.Currency, "USD"), true
}
