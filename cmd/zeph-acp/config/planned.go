package config

import (
	"cmp"
	"fmt"
	glob "path"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config/toml"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
)

// plannedKeys are tables and keys that other documents describe and this version
// does not implement. A configuration that sets one loads with a warning. In a
// path "*" matches any text; array indexes are left out.
var plannedKeys = []string{
	// Gates and records of tool calls.
	"tools.audit", "tools.egress", "tools.speculative", "tools.compression",
	"hooks", "security", "execution",
	// Servers of tools, and their tools, prompts and resources.
	"tools.mcp", "acp.lsp",
	// Memory, and search in code.
	"memory", "skills", "session", "index",
	"tools.search_code",
	"agent.instructions",
	"orchestration", "experiments", "cost", "gateway", "tui", "telemetry",
	// Keys of tables that this version has.
	"tools.shell.background_timeout_secs", "tools.shell.max_background_runs", "tools.shell.risk_chain_threshold",
	"tools.shell.checkpoints_enabled", "tools.shell.max_checkpoints",
	"tools.sandbox.profile", "tools.sandbox.allow_read", "tools.sandbox.allow_write", "tools.sandbox.strict", "tools.sandbox.backend",
	"tools.sandbox.denied_domains", "tools.sandbox.fail_if_unavailable",
	"llm.tool_use",
	"acp.enabled", "acp.agent_name", "acp.agent_version", "acp.max_sessions", "acp.session_idle_timeout_secs", "acp.permission_file",
	"acp.available_models", "acp.transport", "acp.http_bind", "acp.auth_token", "acp.auth_bearer_token", "acp.discovery_enabled",
	"acp.additional_directories", "acp.auth_methods", "acp.message_ids_enabled", "acp.elicitation_enabled", "acp.timeouts",
	"acp.model_config",
}

// plannedWarning is the warning about a key of [plannedKeys].
const plannedWarning = "is not supported by this version and has no effect"

// newDecoder returns a decoder with hints for renamed and misplaced keys, and warnings
// for planned ones and for old ones that the document has and that are still read.
func newDecoder(document *toml.Node) *toml.Decoder {
	d := toml.NewDecoder()
	readOldKeys(d, document)
	d.Unknown = func(path string, n *toml.Node) (hint, warning string) {
		if hint = renamed(path, n); hint == "" && isPlanned(path) {
			return "", plannedWarning
		}
		return cmp.Or(hint, misplaced(path)), ""
	}
	return d
}

// misplaced returns the hint for a key or table that exists in one other table; "" if there is no
// such table, or if there are several. It is also "" if the key's own table has the name without
// its last word: timeout for timeout_secs.
func misplaced(path string) string {
	name := path[strings.LastIndex(path, ".")+1:]
	short := path[:max(strings.LastIndex(path, "_"), 0)]
	all := setting.Paths[Config]()
	found := slices.DeleteFunc(slices.Clone(all), func(known string) bool {
		return known != name && !strings.HasSuffix(known, "."+name)
	})
	if len(found) != 1 || slices.Contains(all, short) {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", found[0])
}

// isPlanned reports whether the key at a path matches [plannedKeys].
func isPlanned(key string) bool {
	key = toml.Unindexed(key, "")
	return slices.ContainsFunc(plannedKeys, func(pattern string) bool {
		ok, _ := glob.Match(pattern, key) // the patterns are constants
		return ok
	})
}
