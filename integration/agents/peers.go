package agents

import (
	"fmt"
	"strings"
)

// ours is zeph-acp.
var ours = Agent{
	Name: "zeph-acp", Program: "zeph-acp",
	Turn: func(prompt string) []string { return []string{"run", "--yes", prompt} },
	ACP:  []string{"zeph-acp"},
	Config: func(base string) (env []string, files map[string]string) {
		return []string{"ANTHROPIC_API_KEY=k", "ANTHROPIC_BASE_URL=" + base}, nil
	},
	Tools: map[Verb]Translation{
		Runs: {"bash", func(c Call, _ string) any { return Object{"command": c.Command} }},
		Reads: {"read", func(c Call, _ string) any {
			if c.To == 0 {
				return Object{"path": c.Path}
			}
			return Object{"path": c.Path, "offset": c.From - 1, "limit": c.To - c.From + 1}
		}},
		Edits:    {"edit", func(c Call, _ string) any { return Object{"path": c.Path, "old_string": c.Old, "new_string": c.New} }},
		Searches: {"grep", func(c Call, _ string) any { return Object{"path": c.Path, "pattern": c.Pattern} }},
	},
}

// peers are other agents, as their packages are installed by npm. Each speaks the protocol that
// its own documentation names first, with a model that it knows, so that no table of limits is
// missing.
var peers = []*Agent{
	{
		Name: "claude-code", Peer: true, Program: "claude",
		Turn: func(prompt string) []string { return []string{"-p", prompt, "--dangerously-skip-permissions"} },
		ACP:  []string{"claude-agent-acp"},
		Config: func(base string) (env []string, files map[string]string) {
			return []string{
				"ANTHROPIC_BASE_URL=" + base, "ANTHROPIC_API_KEY=k", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_AUTOUPDATER=1",
				"IS_SANDBOX=1", // root may skip permissions
			}, nil
		},
		Tools: map[Verb]Translation{
			Runs: {"Bash", func(c Call, _ string) any { return Object{"command": c.Command, "description": "Run a command"} }},
			Reads: {"Read", func(c Call, path string) any {
				if c.To == 0 {
					return Object{"file_path": path}
				}
				return Object{"file_path": path, "offset": c.From, "limit": c.To - c.From + 1}
			}},
			Edits: {"Edit", func(c Call, path string) any {
				return Object{"file_path": path, "old_string": c.Old, "new_string": c.New}
			}},
		},
	},
	{
		Name: "cline", Peer: true, Program: "cline",
		Turn: func(prompt string) []string { return []string{"-P", "openai-compatible", "-m", "gpt-5.4", prompt} },
		ACP:  []string{"cline", "--acp"},
		Config: func(base string) (env []string, files map[string]string) {
			return []string{"CLINE_SESSION_BACKEND_MODE=local", "CLINE_API_KEY=k", "CLINE_PROVIDER=openai-compatible", "CLINE_MODEL=gpt-5.4"}, map[string]string{
				".cline/data/settings/providers.json": encode(Object{
					"version": 1, "lastUsedProvider": "openai-compatible", "modes": Object{},
					"providers": Object{"openai-compatible": Object{
						"settings":  Object{"provider": "openai-compatible", "apiKey": "k", "model": "gpt-5.4", "baseUrl": base + "/v1"},
						"updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual",
					}},
				}),
			}
		},
		Tools: map[Verb]Translation{
			Runs: {"run_commands", func(c Call, _ string) any { return Object{"commands": []string{c.Command}} }},
			Reads: {"read_files", func(c Call, path string) any {
				if c.To == 0 {
					return Object{"files": []any{Object{"path": path}}}
				}
				return Object{"files": []any{Object{"path": path, "start_line": c.From, "end_line": c.To}}}
			}},
			Edits:    {"apply_patch", func(c Call, _ string) any { return Object{"input": c.patch()} }},
			Searches: {"search_codebase", func(c Call, _ string) any { return Object{"queries": []string{c.Pattern}} }},
		},
	},
	{
		Name: "copilot", Peer: true, Program: "copilot",
		Turn: func(prompt string) []string { return []string{"-p", prompt, "--allow-all", "--no-color"} },
		ACP:  []string{"copilot", "--acp"},
		Config: func(base string) (env []string, files map[string]string) {
			return []string{
				"COPILOT_PROVIDER_BASE_URL=" + base, "COPILOT_PROVIDER_TYPE=anthropic", "COPILOT_PROVIDER_API_KEY=k", "COPILOT_MODEL=claude-sonnet-4.5",
				"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false",
			}, nil
		},
		Tools: map[Verb]Translation{
			Runs: {"bash", func(c Call, _ string) any { return Object{"command": c.Command, "description": "Run a command"} }},
			Reads: {"view", func(c Call, path string) any {
				if c.To == 0 {
					return Object{"path": path}
				}
				return Object{"path": path, "view_range": []int{c.From, c.To}}
			}},
			Edits: {"edit", func(c Call, path string) any { return Object{"path": path, "old_str": c.Old, "new_str": c.New} }},
			Searches: {"grep", func(c Call, path string) any {
				return Object{"pattern": c.Pattern, "paths": path, "output_mode": "content", "-n": true}
			}},
		},
	},
	{
		Name: "codex", Peer: true, Program: "codex",
		Turn: func(prompt string) []string {
			return []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", prompt}
		},
		ACP: []string{"codex-acp"},
		Config: func(base string) (env []string, files map[string]string) {
			const config = "model = \"gpt-5.4\"\nmodel_provider = \"fake\"\n" +
				"[model_providers.fake]\nname = \"fake\"\nbase_url = %q\nwire_api = \"responses\"\nenv_key = \"FAKE_KEY\"\n"
			return []string{"FAKE_KEY=k"}, map[string]string{".codex/config.toml": fmt.Sprintf(config, base+"/v1")}
		},
		Tools: map[Verb]Translation{
			Runs:  {"exec_command", func(c Call, _ string) any { return Object{"cmd": c.Command} }},
			Edits: {"exec_command", func(c Call, _ string) any { return Object{"cmd": "apply_patch <<'EOF'\n" + c.patch() + "EOF"} }},
		},
	},
	{
		Name: "gemini-cli", Peer: true, Program: "gemini",
		Turn: func(prompt string) []string { return []string{"-y", "-m", "gemini-2.5-pro", "-p", prompt} },
		ACP:  []string{"gemini", "--acp", "-m", "gemini-2.5-pro"},
		Config: func(base string) (env []string, files map[string]string) {
			return []string{
					"GEMINI_API_KEY=k", "GOOGLE_GEMINI_BASE_URL=" + base, "GEMINI_CLI_TRUST_WORKSPACE=true",
				}, map[string]string{".gemini/settings.json": encode(Object{
					"security": Object{"auth": Object{"selectedType": "gemini-api-key"}},
					"privacy":  Object{"usageStatisticsEnabled": false}, "general": Object{"enableAutoUpdate": false, "disableAutoUpdate": true},
				})}
		},
		Tools: map[Verb]Translation{
			Runs: {"run_shell_command", func(c Call, _ string) any { return Object{"command": c.Command, "description": "Run a command"} }},
			Reads: {"read_file", func(c Call, path string) any {
				if c.To == 0 {
					return Object{"file_path": path}
				}
				return Object{"file_path": path, "start_line": c.From, "end_line": c.To}
			}},
			Edits: {"replace", func(c Call, path string) any {
				return Object{"file_path": path, "old_string": c.Old, "new_string": c.New, "instruction": "Change these lines"}
			}},
			Searches: {"grep_search", func(c Call, path string) any { return Object{"pattern": c.Pattern, "dir_path": path} }},
		},
	},
	{
		Name: "opencode", Peer: true, Program: "opencode",
		Turn: func(prompt string) []string { return []string{"run", prompt} },
		ACP:  []string{"opencode", "acp"},
		Config: func(base string) (env []string, files map[string]string) {
			return []string{"OPENCODE_DISABLE_AUTOUPDATE=1", "OPENCODE_DISABLE_MODELS_FETCH=1"}, map[string]string{".config/opencode/opencode.json": encode(Object{
				"provider": Object{"fake": Object{
					"npm": "@ai-sdk/openai-compatible", "options": Object{"baseURL": base + "/v1", "apiKey": "k"},
					"models": Object{"m": Object{"limit": Object{"context": 200000, "output": 32000}}},
				}},
				"model": "fake/m", "small_model": "fake/m", "autoupdate": false, "share": "disabled",
			})}
		},
		Tools: map[Verb]Translation{
			Runs: {"bash", func(c Call, _ string) any { return Object{"command": c.Command} }},
			Reads: {"read", func(c Call, path string) any {
				if c.To == 0 {
					return Object{"filePath": path}
				}
				return Object{"filePath": path, "offset": c.From, "limit": c.To - c.From + 1}
			}},
			Edits:    {"edit", func(c Call, path string) any { return Object{"filePath": path, "oldString": c.Old, "newString": c.New} }},
			Searches: {"grep", func(c Call, path string) any { return Object{"pattern": c.Pattern, "path": path} }},
		},
	},
}

// patch returns an edit in the form of apply_patch.
func (c Call) patch() string {
	var b strings.Builder
	b.WriteString("*** Begin Patch\n*** Update File: " + c.Path + "\n@@\n")
	for _, side := range []struct{ mark, text string }{{"-", c.Old}, {"+", c.New}} {
		for line := range strings.Lines(side.text) {
			b.WriteString(side.mark + line)
		}
	}
	b.WriteString("*** End Patch\n")
	return b.String()
}
