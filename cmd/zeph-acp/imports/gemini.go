package imports

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/permissions"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/plugin/bundle"
)

// geminiAdvice has words about settings that are not imported.
var geminiAdvice = map[string]string{
	"hooks":        "its hooks have other events, input and output; write them as hooks.json",
	"tools":        "write allowed and excluded tools as [tools.permissions]",
	"coreTools":    "write allowed and excluded tools as [tools.permissions]",
	"allowedTools": "write allowed and excluded tools as [tools.permissions]",
	"excludeTools": "write excluded tools as rules that deny, in [tools.permissions]",
	"security":     "keys and logins are not copied; \"zeph-acp login\" saves a key",
	"context":      "AGENTS.md and CLAUDE.md are read; --project copies GEMINI.md",
}

// gemini reads the user's files of Gemini CLI: https://geminicli.com/docs/reference/configuration
func (i *importer) gemini() {
	dir := filepath.Join(i.home, ".gemini")
	file := filepath.Join(dir, "settings.json")
	var members map[string]json.RawMessage
	if i.readJSON(file, &members) {
		i.geminiServers(file, members["mcpServers"])
		i.unknownKeys(file, members, []string{"mcpServers"}, geminiAdvice)
	}
	policies, _ := filepath.Glob(filepath.Join(dir, "policies", "*.toml")) // the pattern is valid
	for _, file := range policies {
		if data := i.read(file); data != nil {
			i.addPermissions(file, func() (*permissions.Import, error) { return permissions.Gemini(data, catalogue.Known()) }, false)
		}
	}
	i.geminiCommands(filepath.Join(dir, "commands"))
	i.skills(filepath.Join(dir, "skills"))
	i.agents(filepath.Join(dir, "agents"))
	i.context(filepath.Join(dir, "GEMINI.md"))
	extensions, _ := filepath.Glob(filepath.Join(dir, "extensions", "*", "gemini-extension.json"))
	for _, file := range extensions {
		i.note(leaves, "the extension "+filepath.Base(filepath.Dir(file)), "zeph-acp plugin add %s adds it", i.shown(filepath.Dir(file)))
	}
}

// geminiServers adds MCP servers of settings.json.
func (i *importer) geminiServers(file string, raw json.RawMessage) {
	if len(raw) == 0 {
		return
	}
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(raw, &entries); err != nil {
		i.unread(file, errors.New("mcpServers is not an object"))
		return
	}
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		out, dropped, err := bundle.FromGeminiServer(entries[name])
		if err != nil {
			i.note(unreads, "the MCP server "+name, "%v", err)
			delete(entries, name)
			continue
		}
		entries[name] = out
		if len(dropped) > 0 {
			i.note(leaves, "the MCP server "+name, "%s", strings.Join(dropped, ", "))
		}
	}
	servers, err := json.Marshal(entries)
	if err != nil { // it was JSON
		i.unread(file, err)
		return
	}
	i.addServers(file, serversFile(servers))
}

// geminiCommands adds commands in TOML as Markdown files.
func (i *importer) geminiCommands(dir string) {
	if !exists(dir) {
		return
	}
	files := 0
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() || filepath.Ext(name) != ".toml":
			return nil
		}
		if files++; files > 500 {
			return errors.New("more than 500 commands")
		}
		file := filepath.Join(dir, filepath.FromSlash(name))
		data := i.read(file)
		if data == nil {
			return nil
		}
		text, err := bundle.FromGeminiCommand(data)
		if err != nil {
			i.unread(file, err)
			return nil
		}
		i.command(strings.ReplaceAll(strings.TrimSuffix(name, ".toml"), "/", ":"), file, text)
		return nil
	})
	if err != nil {
		i.unread(dir, err)
	}
}

// geminiProject reads the files of Gemini CLI in a project.
func (i *importer) geminiProject() {
	i.rule("GEMINI.md", "gemini.md")
	if exists(filepath.Join(i.project, "AGENTS.md")) {
		i.note(there, "AGENTS.md", "read where it is")
	}
	i.inPlace(".agents/skills")
	i.leave(map[string]string{
		".gemini/settings.json": "its servers belong to the project; put them into .mcp.json", ".gemini/commands": "write them as .zeph/commands/*.md",
		".gemini/skills": "move them to .agents/skills", ".gemini/agents": "move them to .zeph/agents",
	})
}

// rule adds a file of rules of the project to the rules that sessions read.
func (i *importer) rule(name, to string) {
	if !exists(filepath.Join(i.project, name)) {
		return
	}
	if text := i.projectFile(name); text != nil {
		i.addFile("the rules "+name, filepath.Join(i.project, name), i.project, filepath.Join(".zeph", "rules", to), text)
	}
}
