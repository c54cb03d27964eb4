// Package config is the configuration of zeph-acp: the values of the file, the
// environment and the command line, checked, with the origin of each key.
//
// Start with [Load]; [Tighten] applies the file of a workspace. A configuration
// with mistakes is never used. Every mistake names file, line and key. A
// workspace never allows more than its user does. Each part of [Config] belongs
// to the package that it configures.
package config

import (
	"slices"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/audit"
	"github.com/zeph-acp/zeph-acp/executors/gates/adversarial"
	"github.com/zeph-acp/zeph-acp/executors/gates/anomaly"
	"github.com/zeph-acp/zeph-acp/executors/gates/flow"
	"github.com/zeph-acp/zeph-acp/executors/gates/hooks"
	"github.com/zeph-acp/zeph-acp/executors/gates/judge"
	"github.com/zeph-acp/zeph-acp/executors/gates/rules"
	"github.com/zeph-acp/zeph-acp/executors/gates/trust"
	"github.com/zeph-acp/zeph-acp/executors/gates/utility"
	"github.com/zeph-acp/zeph-acp/executors/links/cache"
	"github.com/zeph-acp/zeph-acp/executors/links/overflow"
	"github.com/zeph-acp/zeph-acp/executors/links/quota"
	"github.com/zeph-acp/zeph-acp/executors/links/retry"
	"github.com/zeph-acp/zeph-acp/executors/permission"
	"github.com/zeph-acp/zeph-acp/executors/sandbox"
	"github.com/zeph-acp/zeph-acp/executors/tools/diagnostics"
	"github.com/zeph-acp/zeph-acp/executors/tools/files"
	"github.com/zeph-acp/zeph-acp/executors/tools/lsp"
	"github.com/zeph-acp/zeph-acp/executors/tools/mcp"
	"github.com/zeph-acp/zeph-acp/executors/tools/memory"
	"github.com/zeph-acp/zeph-acp/executors/tools/schedule"
	"github.com/zeph-acp/zeph-acp/executors/tools/shell"
	"github.com/zeph-acp/zeph-acp/executors/tools/web"
	"github.com/zeph-acp/zeph-acp/executors/tools/websearch"
	"github.com/zeph-acp/zeph-acp/executors/undo"
	"github.com/zeph-acp/zeph-acp/executors/undo/rewind"
	"github.com/zeph-acp/zeph-acp/filter"
	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/agent/question"
	"github.com/zeph-acp/zeph-acp/session/agent/skills"
	"github.com/zeph-acp/zeph-acp/session/agent/subagent"
	"github.com/zeph-acp/zeph-acp/session/agent/toolset"
	"github.com/zeph-acp/zeph-acp/session/goal"
	"github.com/zeph-acp/zeph-acp/session/llm/provider"
)

// Config is the whole configuration. Each package owns its part; this struct
// only puts them together.
type Config struct {
	Agent  Agent           `toml:"agent"`
	Agents subagent.Types  `toml:"agents"`
	LLM    provider.Config `toml:"llm" tighten:"-"`
	Tools  Tools           `toml:"tools"`
	MCP    mcp.Config      `toml:"mcp"`
	LSP    lsp.Entries     `toml:"lsp"`
	ACP    acp.Config      `toml:"acp"`
	Audit  audit.Config    `toml:"audit"`
	Log    LogConfig       `toml:"log"`
	Chat   ChatConfig      `toml:"chat"`
}

// Agent is the table [agent].
type Agent struct {
	agent.Config
	Goal       goal.Bounds    `toml:"goal"`
	ToolFilter toolset.Filter `toml:"tool_filter"`
}

// Tools is the table [tools].
type Tools struct {
	Shell             Shell                `toml:"shell"`
	File              files.Config         `toml:"file"`
	Scrape            web.Config           `toml:"scrape"`
	WebSearch         websearch.Config     `toml:"web_search"`
	Diagnostics       diagnostics.Config   `toml:"diagnostics"`
	LSP               lsp.Config           `toml:"lsp"`
	Sandbox           sandbox.Config       `toml:"sandbox"`
	Filters           filter.Config        `toml:"filters"`
	Overflow          overflow.Config      `toml:"overflow"`
	Memory            memory.Config        `toml:"memory"`
	ResultCache       cache.Config         `toml:"result_cache"`
	Retry             retry.Config         `toml:"retry"`
	Rewind            rewind.Config        `toml:"rewind"`
	Undo              undo.Limits          `toml:"undo"`
	TAFC              toolset.TAFC         `toml:"tafc"`
	Dependencies      toolset.Dependencies `toml:"dependencies"`
	Hooks             hooks.Config         `toml:"hooks"`
	Policy            rules.Config         `toml:"policy"`
	Authorization     rules.Authorization  `toml:"authorization"`
	InformationFlow   flow.Config          `toml:"information_flow"`
	Adversarial       adversarial.Config   `toml:"adversarial_policy"`
	Judge             judge.AutoConfig     `toml:"judge"`
	Trust             trust.Config         `toml:"trust"`
	Anomaly           anomaly.Config       `toml:"anomaly"`
	Utility           utility.Config       `toml:"utility"`
	Skills            skills.Config        `toml:"skills"`
	SubAgent          subagent.Config      `toml:"sub_agent"`
	Scheduler         schedule.Config      `toml:"scheduler"`
	AskUser           question.Config      `toml:"ask_user"`
	Offer                                  // enabled, summarize_output, summarize_provider, max_output_chars, result_budget
	quota.Limits                           // max_tool_calls_per_session
	permission.Config                      // [[tools.permissions.TOOL]]
}

// KeyVariables returns the variables of the keys that the configuration names. No command and no
// result may show them.
func (c Config) KeyVariables() []string {
	var names []string
	for _, p := range c.LLM.Providers {
		names = append(names, p.APIKeyEnv)
	}
	names = append(names, c.Tools.WebSearch.KeyVariable())
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// Shell is the table [tools.shell]: how commands run, and which commands may
// run.
type Shell struct {
	shell.Config
	permission.ShellRules
}

// LogConfig is the table [log].
type LogConfig struct {
	// Level is error since some editors show every line as an error.
	Level string `toml:"level" default:"error" oneof:"debug,info,warn,error" doc:"for stderr"`
	// File always gets the warnings. A leading ~/ is the home directory.
	File string `toml:"file" format:"file" doc:"a file for the same lines and all warnings; made 0600"`
}

// ChatConfig is the table [chat].
type ChatConfig struct {
	Keys   string `toml:"keys" default:"emacs" oneof:"emacs,vi" doc:"the keys that edit a prompt"`
	Notify string `toml:"notify" default:"bell" oneof:"off,bell,osc9,osc777" doc:"how the terminal tells you, while you are elsewhere, that a turn has ended or asks"`
	Mouse  bool   `toml:"mouse" default:"true" doc:"the wheel scrolls and a click unfolds; false: the mouse is the terminal's, to select text"`
}
