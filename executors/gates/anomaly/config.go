package anomaly

import (
	"fmt"

	"github.com/zeph-acp/zeph-acp/executors/workspace/tighten"
)

// Config is the table [tools.anomaly].
type Config struct {
	// Enabled watches how often the calls of each tool fail. Default true.
	Enabled bool `toml:"enabled"`
	// WindowSize is the number of calls of one tool that count. Default 20; 3 to
	// 1000. A tool is judged when they are complete, or from half of them on (at least
	// three) while all have failed.
	WindowSize int `toml:"window_size"`
	// FailureThreshold is the share of failed calls above which a tool fails
	// unusually often. Default 0.7; from 0 to 1.
	FailureThreshold float64 `toml:"failure_threshold"`
	// AutoBlock blocks such a tool until /trust reset. Default true; false only warns.
	AutoBlock bool `toml:"auto_block"`
}

const (
	minWindow = 3
	maxWindow = 1000
)

// Defaults returns the default settings.
func Defaults() Config {
	return Config{Enabled: true, WindowSize: 20, FailureThreshold: 0.7, AutoBlock: true}
}

// minCalls returns the number of calls after which a tool is judged that has always failed.
func (c Config) minCalls() int { return max(minWindow, c.WindowSize/2) }

// Validate returns a message for each wrong key.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	if c.WindowSize < minWindow || c.WindowSize > maxWindow {
		wrong["window_size"] = fmt.Sprintf("must be from %d to %d, is %d", minWindow, maxWindow, c.WindowSize)
	}
	if !(c.FailureThreshold >= 0 && c.FailureThreshold <= 1) { // also not a NaN
		wrong["failure_threshold"] = fmt.Sprintf("must be from 0 to 1, is %v", c.FailureThreshold)
	}
	return wrong
}

// Tighten adopts a lower threshold, and can switch the gate and its block on.
func (c Config) Tighten(repo Config, keys *tighten.Keys) Config {
	keys.Enable("enabled", &c.Enabled, repo.Enabled)
	keys.Adopt("window_size", repo.WindowSize == c.WindowSize, func() {})
	tighten.Lower(keys, "failure_threshold", &c.FailureThreshold, repo.FailureThreshold)
	keys.Enable("auto_block", &c.AutoBlock, repo.AutoBlock)
	return c
}
