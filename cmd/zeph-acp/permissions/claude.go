package permissions

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
)

// Claude translates the member "permissions" of a settings.json of Claude Code:
// https://code.claude.com/docs/en/permissions
func Claude(data []byte, known []executors.Tool) (*Import, error) {
	var file struct {
		Permissions map[string]json.RawMessage `json:"permissions"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	c := &claude{known: known}
	lists := map[string]executors.Decision{"deny": executors.Deny, "ask": executors.Ask, "allow": executors.Allow}
	for _, key := range []string{"deny", "ask", "allow"} {
		var list []string
		if raw := file.Permissions[key]; raw == nil {
			continue
		} else if err := json.Unmarshal(raw, &list); err != nil {
			return nil, fmt.Errorf("permissions.%s: %w", key, err)
		}
		for _, rule := range list {
			c.rule(strings.TrimSpace(rule), lists[key])
		}
	}
	for _, key := range slices.Sorted(maps.Keys(file.Permissions)) {
		if lists[key] == "" {
			c.leaveOut(key+" = "+string(file.Permissions[key]), "%s", claudeSettings(key))
		}
	}
	return c.finish(), nil
}

// claudeSettings returns advice about a member that is not a list of rules.
func claudeSettings(key string) string {
	switch key {
	case "defaultMode":
		return "it is not a rule; agent.mode sets the mode"
	case "additionalDirectories":
		return "it is not a rule; the editor names further directories, or tools.file.allowed_paths and tools.shell.allowed_paths"
	}
	return "it is not a rule, and has no equivalent"
}

// claude is the translation of one file.
type claude struct {
	Import
	known []executors.Tool
}

// claudeEditors are the names of tools that change files. A rule for one of them covers all.
var claudeEditors = []string{"Edit", "Write", "MultiEdit"}

// tools returns the names of our tools that a rule for a tool of Claude Code covers. A rule that
// denies or asks about a tool that changes files covers all tools that do, and one that allows covers
// only the tools that do the same.
func (c *claude) tools(name string, action executors.Decision) []string {
	editor := slices.Contains(claudeEditors, name)
	return namesOf(c.known, func(t executors.Tool) bool {
		switch {
		case editor && action != executors.Allow:
			return t.ChangesFiles()
		case editor:
			return slices.ContainsFunc(claudeEditors, func(name string) bool { return executors.Lists(t.Names.Claude, name) })
		case name == "Read":
			return t.ReadsFiles()
		}
		// A tool without a subject has no rules for parts of its calls, which Claude Code's may have.
		return t.Subject.Of != executors.OtherSubject && t.Subject.Of != executors.SkillSubject && executors.Lists(t.Names.Claude, name)
	})
}

// rule translates "Tool" or "Tool(specifier)".
func (c *claude) rule(rule string, action executors.Decision) {
	name, spec, hasSpec := strings.Cut(rule, "(")
	if hasSpec {
		spec = strings.TrimSuffix(spec, ")")
	}
	if server, ok := strings.CutPrefix(name, "mcp__"); ok {
		c.mcp(rule, server, action)
		return
	}
	tools := c.tools(name, action)
	switch {
	case tools == nil:
		c.leaveOut(rule, "there is no such tool")
	case name == "Read" && action == executors.Allow:
		c.leaveOut(rule, "reading in the session's directories needs no rule; tools.file.allow_read opens files elsewhere")
	case !hasSpec || spec == "" || spec == "*":
		c.addAll(rule, action, tools, "*")
	case name == "Bash":
		c.bash(rule, spec, action, tools)
	case name == "WebFetch":
		c.web(rule, spec, action, tools)
	case name == "Read" || slices.Contains(claudeEditors, name):
		c.paths(rule, name, spec, action, tools)
	default:
		c.leaveOutRestricting(rule, action, tools, errors.New("the tool has no rules for parts of its calls"))
	}
}

// leaveOutRestricting leaves out a rule about tools. If it denies or asks, the rules that allow
// calls of these tools are left out, too.
func (c *claude) leaveOutRestricting(rule string, action executors.Decision, tools []string, err error) {
	c.leaveOut(rule, "%v", err)
	if action != executors.Allow {
		c.restricted = append(c.restricted, tools...)
	}
}

// mcp translates "mcp__SERVER" and "mcp__SERVER__TOOL".
func (c *claude) mcp(rule, name string, action executors.Decision) {
	name, _, _ = strings.Cut(name, "(")
	server, tool, _ := strings.Cut(name, "__")
	if tool == "" {
		tool = "*"
	}
	c.add(rule, action, server+"__"+tool, "*")
}

// web translates "domain:HOST".
func (c *claude) web(rule, spec string, action executors.Decision, tools []string) {
	host, ok := strings.CutPrefix(spec, "domain:")
	if !ok || strings.ContainsAny(host, "/?[") || host == "" {
		c.leaveOutRestricting(rule, action, tools, errors.New("it names no domain"))
		return
	}
	c.addAll(rule, action, tools, host)
}

// bash translates a pattern for commands, in which "*" matches any text.
func (c *claude) bash(rule, spec string, action executors.Decision, tools []string) {
	if base, ok := strings.CutSuffix(spec, ":*"); ok {
		spec = base + " *"
	}
	switch {
	case strings.TrimLeft(spec, " *") == "":
		c.leaveOutRestricting(rule, action, tools, errors.New("it names no command"))
		return
	case strings.ContainsAny(spec, `"'\$`+"`"):
		c.leaveOutRestricting(rule, action, tools, errors.New("commands are matched without quotes and escapes"))
		return
	case strings.ContainsAny(spec, "|&;<>()\n"):
		c.leaveOutRestricting(rule, action, tools, errors.New("each simple command is matched on its own"))
		return
	}
	spec = strings.NewReplacer("?", "[?]", "[", "[[]").Replace(spec)
	if base, ok := strings.CutSuffix(spec, " *"); ok { // a word ends before the space
		c.addAll(rule, action, tools, base)
	}
	c.addAll(rule, action, tools, spec)
}

// paths translates a pattern for files in the syntax of gitignore.
func (c *claude) paths(rule, name, spec string, action executors.Decision, tools []string) {
	p, err := parseIgnore(spec)
	if err != nil {
		c.leaveOutRestricting(rule, action, tools, err)
		return
	}
	if action == executors.Allow {
		patterns, err := p.subset()
		if err != nil {
			c.leaveOut(rule, "%v", err)
			return
		}
		c.addAll(rule, action, tools, patterns...)
		return
	}
	if name == "Read" && action == executors.Deny { // holds for commands too, and for edits
		c.DenyRead = append(c.DenyRead, p.denyRead())
		tools = c.tools("Edit", executors.Allow)
	}
	c.addAll(rule, action, tools, p.superset()...)
}
