package agent

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors/workspace/tighten"
)

// The session modes with the fewest questions.
const (
	ModeAuto      = "auto"
	ModeAutoJudge = "auto-judge" // a model answers most questions
)

// sessionModes are the session modes, the most restrictive first.
var sessionModes = []string{"ask", "architect", "code", ModeAuto, ModeAutoJudge}

// Config is the table [agent].
type Config struct {
	// MaxToolIterations is the number of rounds of tool calls after which the
	// user is asked whether the turn continues. If no one can answer, the turn
	// ends. Default 10, from 1 to 10,000.
	MaxToolIterations int `toml:"max_tool_iterations"`
	// MaxToolIterationsHard is the number of rounds after which a turn ends in
	// any case. Default 200, from max_tool_iterations to 10,000. If only
	// max_tool_iterations is set, and is more than 200, the default is twice
	// that.
	MaxToolIterationsHard int `toml:"max_tool_iterations_hard"`
	// ContextBudgetTokens is the size of the context that a turn may fill, in
	// tokens. Default 0: the model's own window.
	ContextBudgetTokens int `toml:"context_budget_tokens"`
	// CompactAt is the share of the context at which the conversation is
	// compacted before the next request. Default 0.75, from 0.1 to 0.8; 0
	// disables automatic compaction.
	CompactAt float64 `toml:"compact_at"`
	// CompressProvider is the provider, "name" or "name:model", whose model
	// summarizes compacted messages. Default empty: the session's model.
	CompressProvider string `toml:"compress_provider"`
	// Mode is the initial mode of a session: ask, architect, code, auto or
	// auto-judge.
	// Default code.
	Mode string `toml:"mode"`
	// MaxRulesBytes limits the project's own rules (AGENTS.md, CLAUDE.md,
	// .zeph/rules/*.md) in the system prompt, in bytes. Default 32768; 0: no
	// rules are read.
	MaxRulesBytes int `toml:"max_rules_bytes"`
	// HallucinationDetection warns of calls by reasoning models that name paths or things
	// that do not exist and were not mentioned. The warnings are in the log, in /status
	// and in the audit log. Default false.
	HallucinationDetection bool `toml:"hallucination_detection"`
	// ReasoningModelDetection decides which models are reasoning models: auto
	// (by name or by thoughts), always or never. Default auto.
	ReasoningModelDetection string `toml:"reasoning_model_detection"`
}

const (
	maxIterations  = 10_000 // for both limits on rounds
	defaultHardCap = 200    // rounds
)

// hardCap returns the number of rounds at which a turn ends.
func (c Config) hardCap() int {
	if c.MaxToolIterationsHard < c.MaxToolIterations { // only the default can be
		return 2 * c.MaxToolIterations
	}
	return c.MaxToolIterationsHard
}

// maxRulesBytes limits the project's files in every request.
const maxRulesBytes = 1 << 20

// Defaults returns the defaults of the configuration.
func Defaults() Config {
	return Config{
		MaxToolIterations:       10,
		MaxToolIterationsHard:   defaultHardCap,
		CompactAt:               defaultCompactAt,
		Mode:                    "code",
		MaxRulesBytes:           32 << 10,
		ReasoningModelDetection: reasoningAuto,
	}
}

// Validate returns the mistakes, by key.
func (c Config) Validate() map[string]string {
	wrong := map[string]string{}
	if c.MaxToolIterations < 1 || c.MaxToolIterations > maxIterations {
		wrong["max_tool_iterations"] = fmt.Sprintf("%d is not from 1 to %d", c.MaxToolIterations, maxIterations)
	}
	switch hard := c.MaxToolIterationsHard; {
	case hard < 1 || hard > maxIterations:
		wrong["max_tool_iterations_hard"] = fmt.Sprintf("%d is not from 1 to %d", hard, maxIterations)
	case hard < c.MaxToolIterations && hard != defaultHardCap:
		wrong["max_tool_iterations_hard"] = fmt.Sprintf("%d is less than max_tool_iterations, %d", hard, c.MaxToolIterations)
	}
	if c.ContextBudgetTokens < 0 {
		wrong["context_budget_tokens"] = fmt.Sprintf("%d is less than 0", c.ContextBudgetTokens)
	}
	if c.MaxRulesBytes < 0 || c.MaxRulesBytes > maxRulesBytes {
		wrong["max_rules_bytes"] = fmt.Sprintf("%d is not from 0 to %d", c.MaxRulesBytes, maxRulesBytes)
	}
	if c.CompactAt != 0 && !(c.CompactAt >= 0.1 && c.CompactAt <= budgetPercent/100.0) { // NaN is neither
		wrong["compact_at"] = fmt.Sprintf("%g is neither 0 nor from 0.1 to 0.8", c.CompactAt)
	}
	if !slices.Contains(reasoningModes, c.ReasoningModelDetection) {
		wrong["reasoning_model_detection"] = fmt.Sprintf("%q is not one of %s", c.ReasoningModelDetection, strings.Join(reasoningModes, ", "))
	}
	if !slices.Contains(sessionModes, c.Mode) {
		wrong["mode"] = fmt.Sprintf("%q is not one of %s", c.Mode, strings.Join(sessionModes, ", "))
	}
	return wrong
}

// Tighten adopts lower limits of the repository's file, and a more restrictive
// mode. Both configurations must be valid.
func (c Config) Tighten(repo Config, keys *tighten.Keys) Config {
	tighten.Lower(keys, "max_tool_iterations", &c.MaxToolIterations, repo.MaxToolIterations)
	keys.Adopt("max_tool_iterations_hard", repo.MaxToolIterationsHard <= c.hardCap(), func() {
		c.MaxToolIterationsHard = repo.MaxToolIterationsHard
		c.MaxToolIterations = min(c.MaxToolIterations, c.MaxToolIterationsHard)
	})
	tighten.LowerOptional(keys, "context_budget_tokens", &c.ContextBudgetTokens, repo.ContextBudgetTokens)
	tighten.Lower(keys, "max_rules_bytes", &c.MaxRulesBytes, repo.MaxRulesBytes)
	keys.Enable("hallucination_detection", &c.HallucinationDetection, repo.HallucinationDetection)
	keys.Adopt("mode", slices.Index(sessionModes, repo.Mode) <= slices.Index(sessionModes, c.Mode),
		func() { c.Mode = repo.Mode })
	return c
}
