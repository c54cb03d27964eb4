package imports

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/permissions"
	"github.com/zeph-acp/zeph-acp/executors"
)

// dirOf returns the user's directory of an agent: the value of a variable, or a directory of the home directory.
func (i *importer) dirOf(variable, name string) string {
	if dir := i.getenv(variable); filepath.IsAbs(dir) {
		return filepath.Clean(dir)
	}
	return filepath.Join(i.home, name)
}

// exists reports whether there is a file or a directory.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// inPlace notes a part of the project that sessions read where it is.
func (i *importer) inPlace(names ...string) {
	for _, name := range names {
		if exists(filepath.Join(i.project, name)) {
			i.note(there, name, "read where it is; you are asked to approve it in a session")
		}
	}
}

// context notes the user's file of rules, which has no counterpart.
func (i *importer) context(file string) {
	if exists(file) {
		i.note(leaves, i.shown(file), "there is no file of rules for all projects; put it into AGENTS.md of a project, or use run --system-append")
	}
}

// claudeAdvice has words about settings that are not imported.
var claudeAdvice = map[string]string{
	"env":               "variables and keys are not copied; \"zeph-acp login\" saves a key",
	"apiKeyHelper":      "api_key_cmd of [[llm.providers]] runs a command that prints a key",
	"model":             "\"zeph-acp config show\" lists llm.providers, which select the model",
	"statusLine":        "custom status lines are not supported",
	"outputStyle":       "output styles are not supported",
	"disableAllHooks":   "enabled = false in [tools.hooks] does the same",
	"sandbox":           "[tools.sandbox] has other keys",
	"cleanupPeriodDays": "sessions are kept until you delete them",
}

// claude reads the user's files of Claude Code: https://code.claude.com/docs/en/settings
func (i *importer) claude() {
	dir := i.dirOf("CLAUDE_CONFIG_DIR", ".claude")
	for _, name := range []string{"settings.json", "settings.local.json"} {
		i.claudeSettings(filepath.Join(dir, name), dir, false)
	}
	state := filepath.Join(i.home, ".claude.json")
	if i.getenv("CLAUDE_CONFIG_DIR") != "" {
		state = filepath.Join(dir, ".claude.json")
	}
	var file struct {
		Servers  json.RawMessage `json:"mcpServers"`
		Projects map[string]struct {
			Servers json.RawMessage `json:"mcpServers"`
		} `json:"projects"`
	}
	if i.readJSON(state, &file) {
		i.addServers(state, serversFile(file.Servers))
		for _, path := range slices.Sorted(maps.Keys(file.Projects)) {
			if names := membersOf(file.Projects[path].Servers); len(names) > 0 {
				i.note(leaves, "the MCP servers "+strings.Join(names, ", "), "they belong to the project %s; put them into its .mcp.json", i.shown(path))
			}
		}
	}
	i.commands(filepath.Join(dir, "commands"))
	i.agents(filepath.Join(dir, "agents"))
	i.skills(filepath.Join(dir, "skills"))
	i.context(filepath.Join(dir, "CLAUDE.md"))
	if exists(filepath.Join(dir, "rules")) {
		i.note(leaves, i.shown(filepath.Join(dir, "rules")), "there are no rules for all projects; .zeph/rules/*.md of a project are read")
	}
}

// serversFile returns a file of servers with this member.
func serversFile(servers json.RawMessage) []byte {
	if len(servers) == 0 {
		servers = json.RawMessage("{}")
	}
	data, err := json.Marshal(map[string]json.RawMessage{"mcpServers": servers})
	if err != nil { // it was JSON
		return []byte("{}")
	}
	return data
}

// membersOf returns the names of an object's members, sorted.
func membersOf(raw json.RawMessage) []string {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(members))
}

// claudeSettings reads a settings.json.
func (i *importer) claudeSettings(file, dir string, project bool) {
	var members map[string]json.RawMessage
	if !i.readJSON(file, &members) {
		return
	}
	if raw := members["permissions"]; raw != nil {
		i.addPermissions(file, func() (*permissions.Import, error) {
			data, err := json.Marshal(map[string]json.RawMessage{"permissions": raw})
			if err != nil {
				return nil, err
			}
			return permissions.Claude(data, catalogue.Known())
		}, project)
	}
	switch raw := members["hooks"]; {
	case raw == nil:
	case !project:
		i.readHooks(file, raw)
	case filepath.Base(file) == "settings.json":
		i.note(there, "hooks of "+i.shown(file), "read where they are; you are asked to approve them in a session")
	default:
		i.note(leaves, "hooks of "+i.shown(file), "only .claude/settings.json and .zeph/hooks.json of a project are read")
	}
	i.claudePlugins(members["enabledPlugins"], dir)
	i.unknownKeys(file, members, []string{"permissions", "hooks", "enabledPlugins", "extraKnownMarketplaces"}, claudeAdvice)
}

// claudePlugins notes the plug-ins, with the commands that add them.
func (i *importer) claudePlugins(raw json.RawMessage, dir string) {
	var enabled map[string]bool
	if json.Unmarshal(raw, &enabled) != nil {
		return
	}
	var places map[string]struct {
		Source struct{ Source, Repo, URL, Path string } `json:"source"`
	}
	i.readJSON(filepath.Join(dir, "plugins", "known_marketplaces.json"), &places)
	for _, full := range slices.Sorted(maps.Keys(enabled)) {
		name, market, _ := strings.Cut(full, "@")
		source := places[market].Source
		address := source.URL + source.Path
		if source.Repo != "" {
			address = "https://github.com/" + source.Repo
		}
		switch {
		case !enabled[full]:
		case address == "":
			i.note(leaves, "the plug-in "+full, "zeph-acp plugin add MARKETPLACE %s adds it", executors.OneLine(name))
		default:
			i.note(leaves, "the plug-in "+full, "zeph-acp plugin add %s %s adds it", executors.OneLine(address), executors.OneLine(name))
		}
	}
}

// claudeProject reads the files of Claude Code in a project.
func (i *importer) claudeProject() {
	dir := filepath.Join(i.project, ".claude")
	for _, name := range []string{"settings.json", "settings.local.json"} {
		i.claudeSettings(filepath.Join(dir, name), dir, true)
	}
	i.inPlace(".mcp.json", ".claude/commands", ".claude/agents", ".claude/skills")
	for _, name := range []string{"CLAUDE.md", "AGENTS.md"} {
		if exists(filepath.Join(i.project, name)) {
			i.note(there, name, "read where it is")
		}
	}
	i.leave(map[string]string{"CLAUDE.local.md": "only CLAUDE.md, AGENTS.md and .zeph/rules/*.md are read"})
}
