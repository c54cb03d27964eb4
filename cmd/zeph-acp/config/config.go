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
	"github.com/zeph-acp/zeph-acp/executors/adversarial"
	"github.com/zeph-acp/zeph-acp/executors/anomaly"
	"github.com/zeph-acp/zeph-acp/executors/authorize"
	"github.com/zeph-acp/zeph-acp/executors/cache"
	"github.com/zeph-acp/zeph-acp/executors/diagnostics"
	"github.com/zeph-acp/zeph-acp/executors/files"
	"github.com/zeph-acp/zeph-acp/executors/hooks"
	"github.com/zeph-acp/zeph-acp/executors/infoflow"
	"github.com/zeph-acp/zeph-acp/executors/judge"
	"github.com/zeph-acp/zeph-acp/executors/lsp"
	"github.com/zeph-acp/zeph-acp/executors/mcp"
	"github.com/zeph-acp/zeph-acp/executors/memory"
	"github.com/zeph-acp/zeph-acp/executors/overflow"
	"github.com/zeph-acp/zeph-acp/executors/policy"
	"github.com/zeph-acp/zeph-acp/executors/quota"
	"github.com/zeph-acp/zeph-acp/executors/retry"
	"github.com/zeph-acp/zeph-acp/executors/rewind"
	"github.com/zeph-acp/zeph-acp/executors/schedule"
	"github.com/zeph-acp/zeph-acp/executors/shell"
	"github.com/zeph-acp/zeph-acp/executors/shell/sandbox"
	"github.com/zeph-acp/zeph-acp/executors/tighten"
	"github.com/zeph-acp/zeph-acp/executors/trust"
	"github.com/zeph-acp/zeph-acp/executors/utility"
	"github.com/zeph-acp/zeph-acp/executors/web"
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
	Shell           Shell                   `toml:"shell"`
	File            files.Config            `toml:"file"`
	Scrape          web.Config              `toml:"scrape"`
	Diagnostics     diagnostics.Config      `toml:"diagnostics"`
	LSP             lsp.Config              `toml:"lsp"`
	Sandbox         sandbox.Config          `toml:"sandbox"`
	Filters         filter.Config           `toml:"filters"`
	Overflow        overflow.Config         `toml:"overflow"`
	Memory          memory.Config           `toml:"memory"`
	ResultCache     cache.Config            `toml:"result_cache"`
	Retry           retry.Config            `toml:"retry"`
	Rewind          rewind.Config           `toml:"rewind"`
	TAFC            toolset.TAFC            `toml:"tafc"`
	Dependencies    toolset.Dependencies    `toml:"dependencies"`
	Hooks           hooks.Config            `toml:"hooks"`
	Policy          authorize.Config        `toml:"policy"`
	Authorization   authorize.Authorization `toml:"authorization"`
	InformationFlow infoflow.Config         `toml:"information_flow"`
	Adversarial     adversarial.Config      `toml:"adversarial_policy"`
	Judge           judge.AutoConfig        `toml:"judge"`
	Trust           trust.Config            `toml:"trust"`
	Anomaly         anomaly.Config          `toml:"anomaly"`
	Utility         utility.Config          `toml:"utility"`
	Skills          skills.Config           `toml:"skills"`
	SubAgent        subagent.Config         `toml:"sub_agent"`
	Scheduler       schedule.Config         `toml:"scheduler"`
	AskUser         question.Config         `toml:"ask_user"`
	Offer                                   // enabled, summarize_output, summarize_provider
	quota.Limits                            // max_tool_calls_per_session
	policy.Config                           // [[tools.permissions.TOOL]]
}

// Shell is the table [tools.shell]: how commands run, and which commands may
// run.
type Shell struct {
	shell.Config
	policy.ShellRules
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
			Policy:          authorize.Defaults(),
			Authorization:   authorize.AuthorizationDefaults(),
			Filters:         filter.Defaults(),
			Overflow:        overflow.Defaults(),
			Memory:          memory.Defaults(),
			ResultCache:     cache.Defaults(),
			Retry:           retry.Defaults(),
			Rewind:          rewind.Defaults(),
			TAFC:            toolset.TAFCDefaults(),
			Dependencies:    toolset.DependenciesDefaults(),
			Hooks:           hooks.Defaults(),
			InformationFlow: infoflow.Defaults(),
			Adversarial:     adversarial.Defaults(),
			Judge:           judge.AutoDefaults(),
			Trust:           trust.Defaults(),
			Anomaly:         anomaly.Defaults(),
			Utility:         utility.Defaults(),
			Skills:          skills.Defaults(),
			SubAgent:        subagent.Defaults(),
			Scheduler:       schedule.Defaults(),
			AskUser:         question.Defaults(),
			Offer:           Offer{Enabled: true},
			Limits:          quota.Defaults(),
			Config:          policy.Defaults(),
			Shell:           Shell{shell.Defaults(), policy.ShellDefaults()},
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
	// validate returns the mistakes, by key.
	validate func(*Config) map[string]string
	// tighten adopts the keys of a repository's file that make c stricter; nil adopts no key.
	tighten func(c, repo *Config, keys *tighten.Keys)
}

// sections returns the sections of Config. Only the user can set a key that the section's
// tighten does not ask for.
func sections() []section {
	return []section{
		sharedSection("agent", func(c *Config) *agent.Config { return &c.Agent.Config }),
		ownSection("", func(c *Config) *subagent.Types { return &c.Agents }),
		sharedSection("tools.sub_agent", func(c *Config) *subagent.Config { return &c.Tools.SubAgent }),
		sharedSection("tools.ask_user", func(c *Config) *question.Config { return &c.Tools.AskUser }),
		ownSection("agent.tool_filter", func(c *Config) *toolset.Filter { return &c.Agent.ToolFilter }),
		ownSection("llm", func(c *Config) *provider.Config { return &c.LLM }),
		sharedSection("tools", func(c *Config) *policy.Config { return &c.Tools.Config }),
		sharedSection("tools.shell", func(c *Config) *shell.Config { return &c.Tools.Shell.Config }),
		sharedSection("tools.shell", func(c *Config) *policy.ShellRules { return &c.Tools.Shell.ShellRules }),
		sharedSection("tools.file", func(c *Config) *files.Config { return &c.Tools.File }),
		sharedSection("tools.scrape", func(c *Config) *web.Config { return &c.Tools.Scrape }),
		sharedSection("tools", func(c *Config) *Offer { return &c.Tools.Offer }),
		sharedSection("tools", func(c *Config) *quota.Limits { return &c.Tools.Limits }),
		sharedSection("tools.diagnostics", func(c *Config) *diagnostics.Config { return &c.Tools.Diagnostics }),
		sharedSection("tools.lsp", func(c *Config) *lsp.Config { return &c.Tools.LSP }),
		sharedSection("tools.sandbox", func(c *Config) *sandbox.Config { return &c.Tools.Sandbox }),
		sharedSection("tools.policy", func(c *Config) *authorize.Config { return &c.Tools.Policy }),
		sharedSection("tools.authorization", func(c *Config) *authorize.Authorization { return &c.Tools.Authorization }),
		sharedSection("tools.filters", func(c *Config) *filter.Config { return &c.Tools.Filters }),
		sharedSection("tools.overflow", func(c *Config) *overflow.Config { return &c.Tools.Overflow }),
		sharedSection("tools.memory", func(c *Config) *memory.Config { return &c.Tools.Memory }),
		sharedSection("tools.result_cache", func(c *Config) *cache.Config { return &c.Tools.ResultCache }),
		sharedSection("tools.retry", func(c *Config) *retry.Config { return &c.Tools.Retry }),
		sharedSection("tools.rewind", func(c *Config) *rewind.Config { return &c.Tools.Rewind }),
		ownSection("tools.tafc", func(c *Config) *toolset.TAFC { return &c.Tools.TAFC }),
		ownSection("tools.dependencies", func(c *Config) *toolset.Dependencies { return &c.Tools.Dependencies }),
		sharedSection("tools.trust", func(c *Config) *trust.Config { return &c.Tools.Trust }),
		sharedSection("tools.anomaly", func(c *Config) *anomaly.Config { return &c.Tools.Anomaly }),
		ownSection("tools.hooks", func(c *Config) *hooks.Config { return &c.Tools.Hooks }),
		sharedSection("tools.scheduler", func(c *Config) *schedule.Config { return &c.Tools.Scheduler }),
		ownSection("tools.utility", func(c *Config) *utility.Config { return &c.Tools.Utility }),
		sharedSection("tools.skills", func(c *Config) *skills.Config { return &c.Tools.Skills }),
		sharedSection("tools.information_flow", func(c *Config) *infoflow.Config { return &c.Tools.InformationFlow }),
		ownSection("tools.adversarial_policy", func(c *Config) *adversarial.Config { return &c.Tools.Adversarial }),
		ownSection("tools.judge", func(c *Config) *judge.AutoConfig { return &c.Tools.Judge }),
		ownSection("", func(c *Config) *lsp.Entries { return &c.LSP }),
		ownSection("mcp", func(c *Config) *mcp.Config { return &c.MCP }),
		sharedSection("acp", func(c *Config) *acp.Config { return &c.ACP }),
		ownSection("audit", func(c *Config) *audit.Config { return &c.Audit }),
		ownSection("log", func(c *Config) *LogConfig { return &c.Log }),
	}
}

// key returns the path of a key of the section.
func (s section) key(name string) string { return strings.TrimPrefix(s.path+"."+name, ".") }

// settings is the interface of each package's Config.
type settings interface {
	Validate() map[string]string
}

// sharedSettings are settings that a repository's file can make stricter. Tighten returns
// them with the keys of repo that do so.
type sharedSettings[T any] interface {
	settings
	Tighten(repo T, keys *tighten.Keys) T
}

// ownSection returns the section for the part of Config that of returns. A repository's file
// changes none of its keys.
func ownSection[T settings](path string, of func(*Config) *T) section {
	return section{
		path:     path,
		validate: func(c *Config) map[string]string { return (*of(c)).Validate() },
	}
}

// sharedSection returns the section for the part of Config that of returns. A repository's
// file can make it stricter.
func sharedSection[T sharedSettings[T]](path string, of func(*Config) *T) section {
	s := ownSection(path, of)
	s.tighten = func(c, repo *Config, keys *tighten.Keys) { *of(c) = (*of(c)).Tighten(*of(repo), keys) }
	return s
}

// validate returns the mistakes in the values of c, by path.
func (c *Config) validate() map[string]string {
	wrong := map[string]string{}
	for _, s := range sections() {
		for key, text := range s.validate(c) {
			wrong[s.key(key)] = text
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
