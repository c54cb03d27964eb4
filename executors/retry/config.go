package retry

import (
	"fmt"
	"time"
)

// Config is the table [tools.retry]: what is done about calls that failed.
type Config struct {
	// MaxAttempts is how often a call is run again at most, after it failed for
	// a reason outside of it. Default 2, so three runs in all; 0 means never.
	// Only tools that may be run twice are: fetch and web_scrape.
	MaxAttempts int `toml:"max_attempts"`
	// BaseMS is the longest wait before the first further try, in milliseconds;
	// each one after doubles it. Half of it or more is waited. Default 500; 0
	// means no wait.
	BaseMS int `toml:"base_ms"`
	// MaxMS is the longest that this wait becomes, in milliseconds. Default
	// 5000; it may not be less than base_ms. A server that asks for a longer one
	// gets it, within the budget.
	MaxMS int `toml:"max_ms"`
	// BudgetSecs is until when after the first failure another try may begin, in
	// seconds. Default 30; 0 means no limit, save that nobody waits for more than
	// five minutes.
	BudgetSecs int `toml:"budget_secs"`
	// ParameterReformatProvider is the provider that is asked once, when a call
	// does not fit its tool's schema, what was meant; as "name" or "name:model".
	// Default empty: none is.
	ParameterReformatProvider string `toml:"parameter_reformat_provider"`
}

// Bounds of the limits.
const (
	maxAttempts = 10
	maxWaitMS   = int(longest / time.Millisecond)
	maxBudget   = 3600
)

// Defaults gives the settings that hold where nothing else is said.
func Defaults() Config {
	return Config{MaxAttempts: 2, BaseMS: 500, MaxMS: 5000, BudgetSecs: 30}
}

// Validate tells for each wrong key what is wrong with it.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	for _, k := range []struct {
		name        string
		value, most int
	}{
		{"max_attempts", c.MaxAttempts, maxAttempts},
		{"base_ms", c.BaseMS, maxWaitMS},
		{"max_ms", c.MaxMS, maxWaitMS},
		{"budget_secs", c.BudgetSecs, maxBudget},
	} {
		if k.value < 0 || k.value > k.most {
			wrong[k.name] = fmt.Sprintf("must be from 0 to %d, is %d", k.most, k.value)
		}
	}
	if c.BaseMS > c.MaxMS && len(wrong) == 0 {
		wrong["max_ms"] = fmt.Sprintf("must not be less than base_ms (%d), is %d", c.BaseMS, c.MaxMS)
	}
	return wrong
}

// Tighten takes over fewer attempts and a smaller budget, and that nobody is
// asked to reformat. It returns the keys that the file set and that were not
// taken.
func (c Config) Tighten(repo Config, has func(key string) bool) (Config, []string) {
	var ignored []string
	take := func(key string, tighter bool, set func()) {
		switch {
		case !has(key):
		case tighter:
			set()
		default:
			ignored = append(ignored, key)
		}
	}
	take("max_attempts", repo.MaxAttempts <= c.MaxAttempts, func() { c.MaxAttempts = repo.MaxAttempts })
	take("base_ms", repo.BaseMS == c.BaseMS, func() {})
	take("max_ms", repo.MaxMS == c.MaxMS, func() {})
	take("budget_secs",
		repo.BudgetSecs == c.BudgetSecs || repo.BudgetSecs > 0 && (c.BudgetSecs == 0 || repo.BudgetSecs < c.BudgetSecs),
		func() { c.BudgetSecs = repo.BudgetSecs })
	take("parameter_reformat_provider", repo.ParameterReformatProvider == "" || repo.ParameterReformatProvider == c.ParameterReformatProvider,
		func() { c.ParameterReformatProvider = repo.ParameterReformatProvider })
	return c, ignored
}

func (c Config) base() time.Duration   { return time.Duration(c.BaseMS) * time.Millisecond }
func (c Config) max() time.Duration    { return time.Duration(c.MaxMS) * time.Millisecond }
func (c Config) budget() time.Duration { return time.Duration(c.BudgetSecs) * time.Second }

// ReformatTimeout is how long the provider may take to reformat.
func (c Config) ReformatTimeout() time.Duration {
	if c.BudgetSecs == 0 {
		return 30 * time.Second // no limit for waiting is none for a turn that hangs
	}
	return c.budget()
}
