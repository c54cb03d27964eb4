package agent

import (
	"fmt"

	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// The session modes with the fewest questions.
const (
	ModeAuto      = "auto"
	ModeAutoJudge = "auto-judge" // a model answers most questions
)

// Config is the table [agent].
type Config struct {
	// MaxToolIterations ends the turn if no one can answer.
	MaxToolIterations int `toml:"max_tool_iterations" default:"10" range:"1..10000" tighten:"lower" unit:"rounds" doc:"of tool calls before you are asked whether to continue"`
	// MaxToolIterationsHard is twice max_tool_iterations if only that is set, and is more.
	MaxToolIterationsHard int     `toml:"max_tool_iterations_hard" default:"200" range:"1..10000" unit:"rounds" doc:"after which a turn always ends; at least max_tool_iterations"`
	ContextBudgetTokens   int     `toml:"context_budget_tokens" default:"0" range:"0.." zero:"the model's window" tighten:"limit" unit:"tokens" doc:"that a turn may fill"`
	CompactAt             float64 `toml:"compact_at" default:"0.75" range:"0|0.1..0.8" zero:"never automatically" doc:"share of that budget at which older messages are summarized"`
	ShrinkAfter           int     `toml:"shrink_after" default:"3" range:"0..1000" zero:"as long as there is room" unit:"requests" doc:"that have a long result whole before it may become a reference; see sessions.md"`
	CompressProvider      string  `toml:"compress_provider" format:"model" zero:"the session's model" doc:"the model that writes the summary, provider or provider:model"`
	Mode                  string  `toml:"mode" default:"code" oneof:"ask,architect,code,auto,auto-judge" tighten:"earlier" doc:"mode of new sessions"`
	// HallucinationDetection warns in the log, in /status and in the audit log.
	HallucinationDetection  bool   `toml:"hallucination_detection" default:"false" tighten:"on" doc:"true: warn when a reasoning model names things that do not exist; see instructions.md"`
	ReasoningModelDetection string `toml:"reasoning_model_detection" default:"auto" oneof:"auto,always,never" doc:"which models are reasoning models, auto by name or thoughts"`
	Budget                  Budget `toml:"budget"`
	MaxRulesBytes           int    `toml:"max_rules_bytes" default:"32KiB" range:"0..1MiB" zero:"none" tighten:"lower" unit:"bytes" doc:"of AGENTS.md, CLAUDE.md and .zeph/rules/*.md in the system prompt; see instructions.md"`
}

// defaultHardCap is the default of MaxToolIterationsHard.
const defaultHardCap = 200

// hardCap returns the number of rounds at which a turn ends.
func (c Config) hardCap() int {
	if c.MaxToolIterationsHard < c.MaxToolIterations { // only the default can be
		return 2 * c.MaxToolIterations
	}
	return c.MaxToolIterationsHard
}

// Validate returns a message if the two limits on rounds disagree.
func (c Config) Validate() map[string]string {
	if hard := c.MaxToolIterationsHard; hard < c.MaxToolIterations && hard != defaultHardCap {
		return map[string]string{"max_tool_iterations_hard": fmt.Sprintf("%d is less than max_tool_iterations, %d", hard, c.MaxToolIterations)}
	}
	return nil
}

// Tighten adopts a lower limit on rounds. Both configurations must be valid.
func (c *Config) Tighten(repo any, keys *setting.Keys) {
	hard := repo.(Config).MaxToolIterationsHard
	keys.Adopt("max_tool_iterations_hard", hard <= c.hardCap(), func() {
		c.MaxToolIterationsHard = hard
		c.MaxToolIterations = min(c.MaxToolIterations, hard)
	})
}
