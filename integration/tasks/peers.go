package main

import (
	"fmt"
	"strings"
)

// peers are other agents, as their packages are installed by npm. Each speaks the protocol that
// its own documentation names first, with a model that it knows, so that no table of limits is
// missing.
var peers = []*agent{
	{
		name: "cline", peer: true, program: "cline",
		start: func(base, prompt string) (args, env []string, files map[string]string) {
			return []string{"-P", "openai-compatible", "-m", "gpt-5.4", prompt}, []string{"CLINE_SESSION_BACKEND_MODE=local"}, map[string]string{
				".cline/data/settings/providers.json": encode(object{
					"version": 1, "lastUsedProvider": "openai-compatible", "modes": object{},
					"providers": object{"openai-compatible": object{
						"settings":  object{"provider": "openai-compatible", "apiKey": "k", "model": "gpt-5.4", "baseUrl": base + "/v1"},
						"updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual",
					}},
				}),
			}
		},
		tools: map[verb]translation{
			runs: {"run_commands", func(c call, _ string) any { return object{"commands": []string{c.command}} }},
			reads: {"read_files", func(c call, path string) any {
				if c.to == 0 {
					return object{"files": []any{object{"path": path}}}
				}
				return object{"files": []any{object{"path": path, "start_line": c.from, "end_line": c.to}}}
			}},
			edits:    {"apply_patch", func(c call, _ string) any { return object{"input": c.patch()} }},
			searches: {"search_codebase", func(c call, _ string) any { return object{"queries": []string{c.pattern}} }},
		},
	},
	{
		name: "copilot", peer: true, program: "copilot",
		start: func(base, prompt string) (args, env []string, files map[string]string) {
			return []string{"-p", prompt, "--allow-all", "--no-color"}, []string{
				"COPILOT_PROVIDER_BASE_URL=" + base, "COPILOT_PROVIDER_TYPE=anthropic", "COPILOT_PROVIDER_API_KEY=k", "COPILOT_MODEL=claude-sonnet-4.5",
				"COPILOT_OFFLINE=true", "COPILOT_AUTO_UPDATE=false",
			}, nil
		},
		tools: map[verb]translation{
			runs: {"bash", func(c call, _ string) any { return object{"command": c.command, "description": "Run a command"} }},
			reads: {"view", func(c call, path string) any {
				if c.to == 0 {
					return object{"path": path}
				}
				return object{"path": path, "view_range": []int{c.from, c.to}}
			}},
			edits: {"edit", func(c call, path string) any { return object{"path": path, "old_str": c.old, "new_str": c.new} }},
			searches: {"grep", func(c call, path string) any {
				return object{"pattern": c.pattern, "paths": path, "output_mode": "content", "-n": true}
			}},
		},
	},
	{
		name: "codex", peer: true, program: "codex",
		start: func(base, prompt string) (args, env []string, files map[string]string) {
			set := func(key, value string) { args = append(args, "-c", key+"="+value) }
			args = []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "-m", "gpt-5.4"}
			set("model_provider", `"fake"`)
			set("model_providers.fake", fmt.Sprintf(`{name="fake",base_url=%q,wire_api="responses",env_key="FAKE_KEY"}`, base+"/v1"))
			return append(args, prompt), []string{"FAKE_KEY=k"}, nil
		},
		tools: map[verb]translation{
			runs:  {"exec_command", func(c call, _ string) any { return object{"cmd": c.command} }},
			edits: {"exec_command", func(c call, _ string) any { return object{"cmd": "apply_patch <<'EOF'\n" + c.patch() + "EOF"} }},
		},
	},
	{
		name: "gemini-cli", peer: true, program: "gemini",
		start: func(base, prompt string) (args, env []string, files map[string]string) {
			return []string{"-y", "-m", "gemini-2.5-pro", "-p", prompt}, []string{
					"GEMINI_API_KEY=k", "GOOGLE_GEMINI_BASE_URL=" + base, "GEMINI_CLI_TRUST_WORKSPACE=true",
				}, map[string]string{".gemini/settings.json": encode(object{
					"security": object{"auth": object{"selectedType": "gemini-api-key"}},
					"privacy":  object{"usageStatisticsEnabled": false}, "general": object{"enableAutoUpdate": false, "disableAutoUpdate": true},
				})}
		},
		tools: map[verb]translation{
			runs: {"run_shell_command", func(c call, _ string) any { return object{"command": c.command, "description": "Run a command"} }},
			reads: {"read_file", func(c call, path string) any {
				if c.to == 0 {
					return object{"file_path": path}
				}
				return object{"file_path": path, "start_line": c.from, "end_line": c.to}
			}},
			edits: {"replace", func(c call, path string) any {
				return object{"file_path": path, "old_string": c.old, "new_string": c.new, "instruction": "Change these lines"}
			}},
			searches: {"grep_search", func(c call, path string) any { return object{"pattern": c.pattern, "dir_path": path} }},
		},
	},
	{
		name: "opencode", peer: true, program: "opencode",
		start: func(base, prompt string) (args, env []string, files map[string]string) {
			return []string{"run", prompt}, []string{"OPENCODE_DISABLE_AUTOUPDATE=1"}, map[string]string{".config/opencode/opencode.json": encode(object{
				"provider": object{"fake": object{
					"npm": "@ai-sdk/openai-compatible", "options": object{"baseURL": base + "/v1", "apiKey": "k"},
					"models": object{"m": object{"limit": object{"context": 200000, "output": 32000}}},
				}},
				"model": "fake/m", "small_model": "fake/m", "autoupdate": false, "share": "disabled",
			})}
		},
		tools: map[verb]translation{
			runs: {"bash", func(c call, _ string) any { return object{"command": c.command} }},
			reads: {"read", func(c call, path string) any {
				if c.to == 0 {
					return object{"filePath": path}
				}
				return object{"filePath": path, "offset": c.from, "limit": c.to - c.from + 1}
			}},
			edits:    {"edit", func(c call, path string) any { return object{"filePath": path, "oldString": c.old, "newString": c.new} }},
			searches: {"grep", func(c call, path string) any { return object{"pattern": c.pattern, "path": path} }},
		},
	},
}

// patch returns an edit in the form of apply_patch.
func (c call) patch() string {
	var b strings.Builder
	b.WriteString("*** Begin Patch\n*** Update File: " + c.path + "\n@@\n")
	for _, side := range []struct{ mark, text string }{{"-", c.old}, {"+", c.new}} {
		for line := range strings.Lines(side.text) {
			b.WriteString(side.mark + line)
		}
	}
	b.WriteString("*** End Patch\n")
	return b.String()
}
