// Package config is the configuration of zeph-acp: the values of the file, the
// environment and the command line, checked, with the origin of each key.
//
// Start with [Load]; [Tighten] applies the file of a workspace. A configuration
// with mistakes is never used. Every mistake names file, line and key. A
// workspace never allows more than its user does. Each part of [Config] belongs
// to the package that it configures.
package config

import (
	"fmt"
	"slices"
	"strings"

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
	"github.com/zeph-acp/zeph-acp/executors/undo/rewind"
	"github.com/zeph-acp/zeph-acp/filter"
	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/agent/question"
	"github.com/zeph-acp/zeph-acp/session/agent/skills"
	"github.com/zeph-acp/zeph-acp/session/agent/subagent"
	"github.com/zeph-acp/zeph-acp/session/agent/toolset"
	"github.com/zeph-acp/zeph-acp/session/llm/provider"
)

// Config is the whole configuration. Each package owns its part; this struct
// only puts them together.
type Config struct {
	Agent  Agent           `toml:"agent"`
	Agents subagent.Types  `toml:"agents"`
	LLM    provider.Config `toml:"llm"`
	Tools  Tools           `toml:"tools"`
	MCP    mcp.Config      `toml:"mcp"`
	LSP    lsp.Entries     `toml:"lsp"`
	ACP    acp.Config      `toml:"acp"`
	Audit  audit.Config    `toml:"audit"`
	Log    LogConfig       `toml:"log"`
}

// Agent is the table [agent].
type Agent struct {
	agent.Config
	ToolFilter toolset.Filter `toml:"tool_filter"`
}

// Tools is the table [tools].
type Tools struct {
	Shell             Shell                `toml:"shell"`
	File              files.Config         `toml:"file"`
	Scrape            web.Config           `toml:"scrape"`
	Diagnostics       diagnostics.Config   `toml:"diagnostics"`
	LSP               lsp.Config           `toml:"lsp"`
	Sandbox           sandbox.Config       `toml:"sandbox"`
	Filters           filter.Config        `toml:"filters"`
	Overflow          overflow.Config      `toml:"overflow"`
	Memory            memory.Config        `toml:"memory"`
	ResultCache       cache.Config         `toml:"result_cache"`
	Retry             retry.Config         `toml:"retry"`
	Rewind            rewind.Config        `toml:"rewind"`
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
	Offer                                  // enabled, summarize_output, summarize_provider, max_output_chars
	quota.Limits                           // max_tool_calls_per_session
	permission.Config                      // [[tools.permissions.TOOL]]
}

// Shell is the table [tools.shell]: how commands run, and which commands may
// run.
type Shell struct {
	shell.Config
	permission.ShellRules
}

// Defaults returns the default configuration.
func Defaults() Config {
	return Config{
		Agent: Agent{agent.Defaults(), toolset.FilterDefaults()},
		LLM:   provider.Defaults(),
		Tools: Tools{
			File:            files.Defaults(),
			Scrape:          web.Defaults(),
			Diagnostics:     diagnostics.Defaults(),
			LSP:             lsp.Defaults(),
			Sandbox:         sandbox.Defaults(),
			Policy:          rules.Defaults(),
			Authorization:   rules.AuthorizationDefaults(),
			Filters:         filter.Defaults(),
			Overflow:        overflow.Defaults(),
			Memory:          memory.Defaults(),
			ResultCache:     cache.Defaults(),
			Retry:           retry.Defaults(),
			Rewind:          rewind.Defaults(),
			TAFC:            toolset.TAFCDefaults(),
			Dependencies:    toolset.DependenciesDefaults(),
			Hooks:           hooks.Defaults(),
			InformationFlow: flow.Defaults(),
			Adversarial:     adversarial.Defaults(),
			Judge:           judge.AutoDefaults(),
			Trust:           trust.Defaults(),
			Anomaly:         anomaly.Defaults(),
			Utility:         utility.Defaults(),
			Skills:          skills.Defaults(),
			SubAgent:        subagent.Defaults(),
			Scheduler:       schedule.Defaults(),
			AskUser:         question.Defaults(),
			Offer:           Offer{Enabled: true, MaxOutputChars: defaultOutputChars},
			Limits:          quota.Defaults(),
			Config:          permission.Defaults(),
			Shell:           Shell{shell.Defaults(), permission.ShellDefaults()},
		},
		MCP:   mcp.Defaults(),
		ACP:   acp.Defaults(),
		Audit: audit.Defaults(),
		Log:   LogConfig{Level: "error"},
	}
}

// section is the part of the configuration that one package owns.
type section struct {
	path string // of its table; empty for the whole file
	settings
}

// settings is the interface of each package's Config.
type settings interface {
	// Validate returns the mistakes, by key.
	Validate() map[string]string
}

// sections returns the sections of c.
func (c *Config) sections() []section {
	return []section{
		{"agent", &c.Agent.Config},
		{"", &c.Agents},
		{"tools.sub_agent", &c.Tools.SubAgent},
		{"tools.ask_user", &c.Tools.AskUser},
		{"agent.tool_filter", &c.Agent.ToolFilter},
		{"llm", &c.LLM},
		{"tools", &c.Tools.Config},
		{"tools.shell", &c.Tools.Shell.Config},
		{"tools.shell", &c.Tools.Shell.ShellRules},
		{"tools.file", &c.Tools.File},
		{"tools.scrape", &c.Tools.Scrape},
		{"tools", &c.Tools.Offer},
		{"tools", &c.Tools.Limits},
		{"tools.diagnostics", &c.Tools.Diagnostics},
		{"tools.lsp", &c.Tools.LSP},
		{"tools.sandbox", &c.Tools.Sandbox},
		{"tools.policy", &c.Tools.Policy},
		{"tools.authorization", &c.Tools.Authorization},
		{"tools.filters", &c.Tools.Filters},
		{"tools.overflow", &c.Tools.Overflow},
		{"tools.memory", &c.Tools.Memory},
		{"tools.result_cache", &c.Tools.ResultCache},
		{"tools.retry", &c.Tools.Retry},
		{"tools.rewind", &c.Tools.Rewind},
		{"tools.tafc", &c.Tools.TAFC},
		{"tools.dependencies", &c.Tools.Dependencies},
		{"tools.trust", &c.Tools.Trust},
		{"tools.anomaly", &c.Tools.Anomaly},
		{"tools.hooks", &c.Tools.Hooks},
		{"tools.scheduler", &c.Tools.Scheduler},
		{"tools.utility", &c.Tools.Utility},
		{"tools.skills", &c.Tools.Skills},
		{"tools.information_flow", &c.Tools.InformationFlow},
		{"tools.adversarial_policy", &c.Tools.Adversarial},
		{"tools.judge", &c.Tools.Judge},
		{"", &c.LSP},
		{"mcp", &c.MCP},
		{"acp", &c.ACP},
		{"audit", &c.Audit},
		{"log", &c.Log},
	}
}

// keyPath returns the path of a key of a section.
func keyPath(section, key string) string { return strings.TrimPrefix(section+"."+key, ".") }

// validate returns the mistakes in the values of c, by path.
func (c *Config) validate() map[string]string {
	wrong := map[string]string{}
	for _, s := range c.sections() {
		for key, text := range s.Validate() {
			wrong[keyPath(s.path, key)] = text
		}
	}
	return wrong
}

// LogConfig is the table [log].
type LogConfig struct {
	// Level is the lowest level that is logged to stderr: debug, info, warn or
	// error. Default error, since some editors show every line as an error.
	Level string `toml:"level"`
	// File is a file that also receives the log, always including warnings. A
	// leading ~/ is the home directory. Default empty: no file.
	File string `toml:"file"`
}

// logLevels are the names of the levels, the most verbose first.
var logLevels = []string{"debug", "info", "warn", "error"}

// Validate returns the mistakes, by key.
func (c LogConfig) Validate() map[string]string {
	wrong := map[string]string{}
	if !slices.Contains(logLevels, c.Level) {
		wrong["level"] = fmt.Sprintf("%q is not one of %s", c.Level, strings.Join(logLevels, ", "))
	}
	if strings.ContainsRune(c.File, 0) {
		wrong["file"] = "a file name cannot contain NUL"
	}
	return wrong
}
