package retry

import (
	"time"

	"github.com/zeph-acp/zeph-acp/executors/links/backoff"
	"github.com/zeph-acp/zeph-acp/executors/workspace/tighten"
)

// Config is the table [tools.retry]: how failed calls are retried.
type Config struct {
	// MaxAttempts is how often a call is retried at most, after a failure
	// outside of it. Default 2, so three attempts in all; 0 means never. Only
	// tools that may run twice are retried: fetch and web_scrape.
	MaxAttempts int `toml:"max_attempts"`
	// BaseMS is the upper bound of the first wait, in milliseconds; it doubles
	// with each retry. The actual wait is half of it or more. Default 500; 0
	// means no wait.
	BaseMS int `toml:"base_ms"`
	// MaxMS is the largest upper bound of a wait, in milliseconds. Default
	// 5000; it may not be less than base_ms. A longer wait that a server asks
	// for is used within the budget.
	MaxMS int `toml:"max_ms"`
	// BudgetSecs is how long after the first failure a retry may begin, in
	// seconds. Default 30; 0 means no limit, except that no wait exceeds five
	// minutes.
	BudgetSecs int `toml:"budget_secs"`
	// ParameterReformatProvider is the provider that is asked once to correct a
	// call that does not fit its tool's schema; as "name" or "name:model". Default
	// empty: no provider is asked.
	ParameterReformatProvider string `toml:"parameter_reformat_provider"`
}

// Defaults returns the default settings.
func Defaults() Config {
	return Config{MaxAttempts: 2, BaseMS: 500, MaxMS: 5000, BudgetSecs: 30}
}

// Validate returns a message for each key that is out of bounds.
func (c Config) Validate() map[string]string { return c.limits().Validate() }

func (c Config) limits() backoff.Limits {
	return backoff.Limits{MaxAttempts: c.MaxAttempts, BaseMS: c.BaseMS, MaxMS: c.MaxMS, BudgetSecs: c.BudgetSecs}
}

// Tighten adopts fewer attempts, a smaller budget, and an empty
// parameter_reformat_provider.
func (c Config) Tighten(repo Config, keys *tighten.Keys) Config {
	tighten.Lower(keys, "max_attempts", &c.MaxAttempts, repo.MaxAttempts)
	keys.Adopt("base_ms", repo.BaseMS == c.BaseMS, func() {})
	keys.Adopt("max_ms", repo.MaxMS == c.MaxMS, func() {})
	tighten.LowerOptional(keys, "budget_secs", &c.BudgetSecs, repo.BudgetSecs)
	keys.Adopt("parameter_reformat_provider",
		repo.ParameterReformatProvider == "" || repo.ParameterReformatProvider == c.ParameterReformatProvider,
		func() { c.ParameterReformatProvider = repo.ParameterReformatProvider })
	return c
}

// ReformatTimeout is how long the provider may take to reformat a call.
func (c Config) ReformatTimeout() time.Duration {
	if c.BudgetSecs == 0 {
		return 30 * time.Second // a turn must not hang even without a limit
	}
	return time.Duration(c.BudgetSecs) * time.Second
}
