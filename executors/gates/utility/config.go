package utility

// Config is the table [tools.utility].
type Config struct {
	Enabled          bool     `toml:"enabled" default:"false" doc:"true: skip reading calls of the model that would add little"`
	Threshold        float64  `toml:"threshold" default:"0" range:"-1000..1000" doc:"score below which a call is skipped"`
	GainWeight       float64  `toml:"gain_weight" default:"1" range:"0.." doc:"weight of the expected gain of the tool"`
	CostWeight       float64  `toml:"cost_weight" default:"0.5" range:"0.." doc:"weight of the estimated tokens of the result"`
	RedundancyWeight float64  `toml:"redundancy_weight" default:"0.3" range:"0.." doc:"weight of a repetition of a call of this turn"`
	UncertaintyBonus float64  `toml:"uncertainty_bonus" default:"0.2" range:"0.." doc:"weight of a tool that was not used lately"`
	ExemptTools      []string `toml:"exempt_tools" doc:"tools whose calls are never skipped, besides the tools that load skills"`
	HighGainTools    []string `toml:"high_gain_tools" doc:"more tools that have a high gain"`
}
