package retry

import (
	"time"

	"github.com/zeph-acp/zeph-acp/filter/text/backoff"
)

// Config is the table [tools.retry]: how failed calls are retried. Only tools that may run
// twice are: fetch and web_scrape.
type Config struct {
	backoff.Limits `default:"max_attempts=2 base_ms=500 max_ms=5000 budget_secs=30"`
	// ParameterReformatProvider corrects a call that does not fit its tool's schema.
	ParameterReformatProvider string `toml:"parameter_reformat_provider" format:"model" zero:"no correction" tighten:"clear" doc:"the model that corrects a wrong input, once, provider or provider:model"`
}

// ReformatTimeout is how long the provider may take to reformat a call.
func (c Config) ReformatTimeout() time.Duration {
	if c.BudgetSecs == 0 {
		return 30 * time.Second // a turn must not hang even without a limit
	}
	return time.Duration(c.BudgetSecs) * time.Second
}
