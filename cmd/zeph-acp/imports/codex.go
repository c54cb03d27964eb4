package imports

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue"
	"github.com/zeph-acp/zeph-acp/executors/tools/mcp"
	"github.com/zeph-acp/zeph-acp/filter/text/setting"
	"github.com/zeph-acp/zeph-acp/session/agent/frontmatter"
	"github.com/zeph-acp/zeph-acp/session/agent/subagent"
)

// codexServer is one [mcp_servers.NAME]: https://developers.openai.com/codex/mcp
type codexServer struct {
	Command        string            `toml:"command"`
	Args           []string          `toml:"args"`
	Env            map[string]string `toml:"env"`
	EnvVars        []any             `toml:"env_vars"`
	URL            string            `toml:"url"`
	Bearer         string            `toml:"bearer_token_env_var"`
	Headers        map[string]string `toml:"http_headers"`
	EnvHeaders     map[string]string `toml:"env_http_headers"`
	Enabled        *bool             `toml:"enabled"`
	EnabledTools   []string          `toml:"enabled_tools"`
	DisabledTools  []string          `toml:"disabled_tools"`
	ToolTimeoutSec float64           `toml:"tool_timeout_sec"`
	Cwd            string            `toml:"cwd"`
}

// server returns the server in our form.
func (c codexServer) server(name string) mcp.Server {
	s := mcp.NewServer()
	s.Name, s.Command, s.Args, s.Env, s.URL = name, c.Command, c.Args, c.Env, c.URL
	s.EnabledTools, s.DisabledTools = c.EnabledTools, c.DisabledTools
	if c.Enabled != nil {
		s.Enabled = *c.Enabled
	}
	if c.ToolTimeoutSec >= 1 {
		s.TimeoutSecs = int(min(c.ToolTimeoutSec, 600))
	}
	for _, v := range c.EnvVars {
		if name, ok := v.(string); ok {
			s.EnvFrom = append(s.EnvFrom, name)
		}
	}
	if len(c.Headers)+len(c.EnvHeaders) > 0 || c.Bearer != "" {
		s.Headers = map[string]string{}
		maps.Copy(s.Headers, c.Headers)
		for header, variable := range c.EnvHeaders {
			s.Headers[header] = "${" + variable + "}"
		}
	}
	if c.Bearer != "" {
		s.Headers["Authorization"] = "Bearer ${" + c.Bearer + "}"
	}
	return s
}

// codexAdvice has words about settings that are not imported.
var codexAdvice = map[string]string{
	"model":           "llm.providers of the configuration select the model",
	"model_providers": "[[llm.providers]] with type = \"compatible\" and base_url",
	"approval_policy": "agent.mode and the rules in [tools.permissions] decide when you are asked",
	"sandbox_mode":    "[tools.sandbox] has other keys",
	"profiles":        "--config FILE selects another configuration",
	"notify":          "hooks of the event Stop can notify you",
	"projects":        "there are no trusted projects; you approve parts of a project one by one",
}

// codex reads the user's files of Codex: https://developers.openai.com/codex/config-reference
func (i *importer) codex() {
	dir := i.dirOf("CODEX_HOME", ".codex")
	file := filepath.Join(dir, "config.toml")
	var members map[string]any
	if i.readTOML(file, &members) {
		servers, _ := members["mcp_servers"].(map[string]any) // without servers, or with something else, there are none
		for _, name := range slices.Sorted(maps.Keys(servers)) {
			i.codexServer(file, name, servers[name])
		}
		if raw, err := json.Marshal(members["hooks"]); err == nil && members["hooks"] != nil {
			i.readHooks(file, withoutState(raw))
		}
		i.noteMembers(file, members, []string{"mcp_servers", "hooks"}, codexAdvice)
	}
	var hooksFile struct {
		Hooks json.RawMessage `json:"hooks"`
	}
	if hooks := filepath.Join(dir, "hooks.json"); i.readJSON(hooks, &hooksFile) {
		i.readHooks(hooks, hooksFile.Hooks)
	}
	i.commands(filepath.Join(dir, "prompts"))
	i.skills(filepath.Join(dir, "skills"))
	i.skills(filepath.Join(i.home, ".agents", "skills"))
	i.codexAgents(filepath.Join(dir, "agents"))
	rules, _ := filepath.Glob(filepath.Join(dir, "rules", "*.rules")) // the pattern is valid
	for _, file := range rules {
		i.note(leaves, i.shown(file), "its rules are a program; write them as [[tools.permissions.bash]]")
	}
	i.context(filepath.Join(dir, "AGENTS.md"))
}

// codexServer adds one MCP server.
func (i *importer) codexServer(file, name string, entry any) {
	var c codexServer
	text, err := toml.Marshal(entry)
	if err == nil {
		err = toml.Unmarshal(text, &c)
	}
	if err != nil { // it names types of this package
		i.note(unreads, "the MCP server "+name+" of "+i.shown(file), "one of its values has the wrong type")
		return
	}
	s := c.server(name)
	if wrong := firstOf(setting.Check(s)); wrong != "" {
		i.note(unreads, "the MCP server "+name+" of "+i.shown(file), "%s", wrong)
		return
	}
	i.addServer(file, s)
	if c.Cwd != "" {
		i.note(leaves, "cwd of the MCP server "+name, "servers run in the session's directory")
	}
}

// withoutState drops the member with which Codex remembers which hooks are trusted.
func withoutState(raw []byte) []byte {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return raw
	}
	delete(members, "state")
	out, err := json.Marshal(members)
	if err != nil { // it was JSON
		return raw
	}
	return out
}

// noteMembers is unknownKeys for TOML.
func (i *importer) noteMembers(file string, members map[string]any, known []string, advice map[string]string) {
	keys := map[string]json.RawMessage{}
	for key := range members {
		keys[key] = nil
	}
	i.unknownKeys(file, keys, known, advice)
}

// firstOf returns one of the messages about the keys of an entry.
func firstOf(wrong map[string]string) string {
	for _, key := range slices.Sorted(maps.Keys(wrong)) {
		return key + ": " + wrong[key]
	}
	return ""
}

// codexAgents adds the sub-agents of Codex, which are TOML files.
func (i *importer) codexAgents(dir string) {
	files, _ := filepath.Glob(filepath.Join(dir, "*.toml")) // the pattern is valid
	for _, file := range files {
		var in struct {
			Name         string `toml:"name"`
			Description  string `toml:"description"`
			Instructions string `toml:"developer_instructions"`
			Model        string `toml:"model"`
		}
		var members map[string]any
		if !i.readTOML(file, &in) || !i.readTOML(file, &members) {
			continue
		}
		t := subagent.Type{Name: in.Name, Description: in.Description, Prompt: strings.TrimSpace(in.Instructions)}
		if t.Name == "" {
			t.Name = strings.TrimSuffix(filepath.Base(file), ".toml")
		}
		if t.Prompt == "" {
			i.note(unreads, i.shown(file), "it has no developer_instructions")
			continue
		}
		var notes []string
		if in.Model != "" {
			notes = append(notes, "its model "+in.Model+" is left out, so it uses the session's")
		}
		if members["sandbox_mode"] == "read-only" {
			t.Tools, _ = frontmatter.Tools("Read", catalogue.Known())
			for _, name := range []string{"Grep", "Glob", "LS"} {
				more, _ := frontmatter.Tools(name, catalogue.Known())
				t.Tools = append(t.Tools, more...)
			}
			notes = append(notes, fmt.Sprintf("its sandbox is read-only, so it gets the tools %s", strings.Join(t.Tools, ", ")))
		}
		i.addAgent(file, t, notes)
	}
}

// codexProject reads the files of Codex in a project.
func (i *importer) codexProject() {
	if exists(filepath.Join(i.project, "AGENTS.md")) {
		i.note(there, "AGENTS.md", "read where it is")
	}
	i.inPlace(".agents/skills")
	i.leave(map[string]string{
		".codex/config.toml": "its servers belong to the project; put them into .mcp.json", ".codex/hooks.json": "copy its hooks to .zeph/hooks.json",
		".codex/rules": "its rules are programs", ".codex/agents": "write them as .zeph/agents/*.md", "AGENTS.override.md": "only AGENTS.md is read",
		".codex/skills": "move them to .agents/skills",
	})
}
