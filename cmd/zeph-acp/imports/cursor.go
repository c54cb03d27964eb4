package imports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/keys"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/permissions"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/session/agent/frontmatter"
)

// cursor reads the user's files of Cursor: https://cursor.com/docs/cli/reference/configuration
func (i *importer) cursor() {
	dir := filepath.Join(i.home, ".cursor")
	if file := filepath.Join(dir, "mcp.json"); exists(file) {
		var members map[string]json.RawMessage
		if i.readJSON(file, &members) {
			i.addServers(file, serversFile(members["mcpServers"]))
		}
	}
	i.cursorPermissions(filepath.Join(dir, "cli-config.json"), false)
	if exists(filepath.Join(dir, "permissions.json")) {
		i.note(leaves, i.shown(filepath.Join(dir, "permissions.json")), "its lists allow commands by prefix; write them as [[tools.permissions.bash]]")
	}
	i.commands(filepath.Join(dir, "commands"))
	i.skills(filepath.Join(dir, "skills"))
	i.agents(filepath.Join(dir, "agents"))
	if exists(filepath.Join(dir, "hooks.json")) {
		i.note(leaves, i.shown(filepath.Join(dir, "hooks.json")), "its hooks have other events, input and output; write them as hooks.json")
	}
}

// cursorPermissions translates the permissions of a cli-config.json by way of the notation of Claude Code:
// https://cursor.com/docs/cli/reference/permissions
func (i *importer) cursorPermissions(file string, project bool) {
	var members map[string]json.RawMessage
	if !i.readJSON(file, &members) {
		return
	}
	var lists map[string][]string
	if raw := members["permissions"]; raw != nil {
		if err := json.Unmarshal(raw, &lists); err != nil {
			i.unread(file, fmt.Errorf("permissions: %w", err))
		}
	}
	out := map[string][]string{}
	restricted := false
	for _, list := range []string{"deny", "allow"} {
		for _, rule := range lists[list] {
			translated, err := cursorRule(rule)
			if err != nil {
				i.note(leaves, "the permission "+rule, "%v", err)
				restricted = restricted || list == "deny"
				continue
			}
			out[list] = append(out[list], translated)
		}
	}
	if restricted && len(out["allow"]) > 0 {
		i.note(leaves, "the permissions that allow", "a rule that denies was not translated: %s", strings.Join(out["allow"], ", "))
		delete(out, "allow")
	}
	if len(out) > 0 {
		i.addPermissions(file, func() (*permissions.Import, error) {
			data, err := json.Marshal(map[string]any{"permissions": out})
			if err != nil {
				return nil, err
			}
			return permissions.Claude(data, catalogue.Known())
		}, project)
	}
	i.unknownKeys(file, members, []string{"permissions", "version"}, map[string]string{
		"model": "llm.providers of the configuration select the model", "approvalMode": "agent.mode and the rules decide when you are asked",
	})
}

// cursorRule returns a rule in the notation of Claude Code. It covers the same calls or, for a rule that denies, more.
func cursorRule(rule string) (string, error) {
	name, spec, ok := strings.Cut(strings.TrimSuffix(rule, ")"), "(")
	if !ok || !strings.HasSuffix(rule, ")") || spec == "" {
		return "", fmt.Errorf("it is not of the form Tool(pattern)")
	}
	switch name {
	case "Shell":
		command, args, has := strings.Cut(spec, ":")
		if strings.ContainsAny(command, "*?[") {
			return "", fmt.Errorf("its command is a pattern")
		}
		if has && strings.Trim(args, "*") != "" {
			return "Bash(" + command + " " + args + ")", nil
		}
		return "Bash(" + command + ":*)", nil
	case "Read":
		return "Read(" + spec + ")", nil
	case "Write":
		return "Edit(" + spec + ")", nil
	case "WebFetch":
		return "WebFetch(domain:" + spec + ")", nil
	case "Mcp":
		server, tool, has := strings.Cut(strings.ReplaceAll(spec, " ", ""), ":")
		if !has {
			server, tool, _ = strings.Cut(server, ",")
		}
		if server == "" || strings.ContainsAny(server, "*?[") || strings.ContainsAny(tool, "*?[") && tool != "*" {
			return "", fmt.Errorf("it is a pattern of servers or tools")
		}
		return strings.TrimSuffix("mcp__"+server+"__"+strings.Trim(tool, "*"), "__"), nil
	}
	return "", fmt.Errorf("there is no such tool")
}

// cursorProject reads the files of Cursor in a project. Its rules become rules that sessions read.
func (i *importer) cursorProject() {
	i.rule(".cursorrules", "cursorrules.md")
	rules, _ := filepath.Glob(filepath.Join(i.project, ".cursor", "rules", "*.mdc")) // the pattern is valid
	for _, file := range rules {
		name := ".cursor/rules/" + filepath.Base(file)
		if text := i.projectFile(name); text != nil {
			i.cursorRules(name, text)
		}
	}
	if exists(filepath.Join(i.project, ".cursor", "cli.json")) {
		i.cursorPermissions(filepath.Join(i.project, ".cursor", "cli.json"), true)
	}
	for _, name := range []string{"AGENTS.md", "CLAUDE.md"} {
		if exists(filepath.Join(i.project, name)) {
			i.note(there, name, "read where it is")
		}
	}
	i.leave(map[string]string{
		".cursor/mcp.json": "its servers belong to the project; put them into .mcp.json", ".cursor/commands": "move them to .zeph/commands",
		".cursor/hooks.json": "its hooks have other events, input and output; write them as .zeph/hooks.json",
	})
}

// cursorRules adds a file of rules in the form of Cursor. Rules for some files name them, and the others hold always.
func (i *importer) cursorRules(name string, data []byte) {
	head, body, err := frontmatter.Split(strings.ToValidUTF8(string(data), "\uFFFD"))
	body = strings.TrimSpace(body)
	switch {
	case err != nil:
		i.note(unreads, name, "%v", err)
		return
	case body == "":
		i.note(leaves, name, "it has no text")
		return
	}
	if globs := head["globs"].List(); len(globs) > 0 && head["alwaysApply"].Text() != "true" {
		body = "These rules are for files that match " + executors.OneLine(strings.Join(globs, ", ")) + ".\n\n" + body
	} else if about := head["description"].Text(); about != "" && head["alwaysApply"].Text() != "true" {
		body = "These rules are for: " + about + ".\n\n" + body
	}
	base := strings.TrimSuffix(path.Base(name), ".mdc") + ".md"
	i.addFile("the rules "+name, filepath.Join(i.project, name), i.project, filepath.Join(".zeph", "rules", base), []byte(body+"\n"))
}

// projectFile reads a file of the project, which must not lead out of it; nil if it cannot be read.
func (i *importer) projectFile(name string) []byte {
	f, err := keys.OpenBelow(i.project, filepath.FromSlash(name))
	var data []byte
	if err == nil {
		defer f.Close()
		data, err = keys.ReadBounded(f)
	}
	if err == nil && slices.Contains(data, 0) {
		err = fmt.Errorf("it is not text")
	}
	if err != nil {
		i.note(unreads, name, "%v", err)
		return nil
	}
	return bytes.ToValidUTF8(append(data, []byte{}...), []byte("\uFFFD"))
}
