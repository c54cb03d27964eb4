package utility

import (
	"fmt"
	"math"
	"slices"
)

// Config is the table [tools.utility].
type Config struct {
	// Enabled skips calls with a low score. Default false.
	Enabled bool `toml:"enabled"`
	// Threshold is the score below which a call is skipped. Default 0.
	Threshold float64 `toml:"threshold"`
	// GainWeight is the weight of the expected gain. Default 1.
	GainWeight float64 `toml:"gain_weight"`
	// CostWeight is the weight of the estimated tokens. Default 0.5.
	CostWeight float64 `toml:"cost_weight"`
	// RedundancyWeight is the weight of a repeated call. Default 0.3.
	RedundancyWeight float64 `toml:"redundancy_weight"`
	// UncertaintyBonus is the weight of a tool that was not used lately. Default 0.2.
	UncertaintyBonus float64 `toml:"uncertainty_bonus"`
	// ExemptTools are never skipped; invoke_skill and load_skill are so in any case.
	// Default these two.
	ExemptTools []string `toml:"exempt_tools"`
	// HighGainTools have the gain of tools such as edit. Default none.
	HighGainTools []string `toml:"high_gain_tools"`
}

// alwaysExempt are the tools without which a turn with skills would stall.
var alwaysExempt = []string{"invoke_skill", "load_skill"}

// Defaults returns the default settings.
func Defaults() Config {
	return Config{GainWeight: 1, CostWeight: 0.5, RedundancyWeight: 0.3, UncertaintyBonus: 0.2, ExemptTools: slices.Clone(alwaysExempt)}
}

// Validate returns a message for each wrong key.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	if math.IsNaN(c.Threshold) || math.IsInf(c.Threshold, 0) {
		wrong["threshold"] = "must be a number"
	}
	for key, weight := range map[string]float64{
		"gain_weight": c.GainWeight, "cost_weight": c.CostWeight, "redundancy_weight": c.RedundancyWeight,
		"uncertainty_bonus": c.UncertaintyBonus,
	} {
		if !(weight >= 0) || math.IsInf(weight, 0) { // also a NaN
			wrong[key] = fmt.Sprintf("must be at least 0, is %v", weight)
		}
	}
	return wrong
}
