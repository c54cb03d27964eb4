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
func Claude(data []byte) (*Import, error) {
	var file struct {
		Permissions map[string]json.RawMessage `json:"permissions"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	c := &claude{}
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
type claude struct{ Import }

// claudeTools are the tools of the same name or duty.
var claudeTools = map[string][]string{
	"Bash":      {"bash"},
	"Glob":      {"find_path"},
	"Grep":      {"grep", "search_code"},
	"LS":        {"list_directory"},
	"Read":      readers,
	"Edit":      writers,
	"Write":     writers,
	"MultiEdit": writers,
	"WebFetch":  {"fetch", "web_scrape"},
}

var (
	readers = []string{"read", "grep", "search_code", "find_path", "list_directory"}
	writers = []string{"edit", "write"}
	// changers are all tools that change files, for rules that deny or ask.
	changers = []string{"edit", "write", "create_directory", "delete_path", "move_path", "copy_path"}
)

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
	tools := claudeTools[name]
	if action != executors.Allow && slices.Equal(tools, writers) {
		tools = changers
	}
	switch {
	case tools == nil:
		c.leaveOut(rule, "there is no such tool")
	case name == "Read" && action == executors.Allow:
		c.leaveOut(rule, "reading in the session's directories needs no rule; tools.file.allow_read opens files elsewhere")
	case !hasSpec || spec == "" || spec == "*":
		for _, t := range tools {
			c.add(rule, action, t, "*")
		}
	case name == "Bash":
		c.bash(rule, spec, action)
	case name == "WebFetch":
		c.web(rule, spec, action)
	case name == "Read" || slices.Equal(claudeTools[name], writers):
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
func (c *claude) web(rule, spec string, action executors.Decision) {
	host, ok := strings.CutPrefix(spec, "domain:")
	if !ok || strings.ContainsAny(host, "/?[") || host == "" {
		c.leaveOutRestricting(rule, action, claudeTools["WebFetch"], errors.New("it names no domain"))
		return
	}
	for _, t := range claudeTools["WebFetch"] {
		c.add(rule, action, t, host)
	}
}

// bash translates a pattern for commands, in which "*" matches any text.
func (c *claude) bash(rule, spec string, action executors.Decision) {
	if base, ok := strings.CutSuffix(spec, ":*"); ok {
		spec = base + " *"
	}
	switch {
	case strings.TrimLeft(spec, " *") == "":
		c.leaveOutRestricting(rule, action, claudeTools["Bash"], errors.New("it names no command"))
		return
	case strings.ContainsAny(spec, `"'\$`+"`"):
		c.leaveOutRestricting(rule, action, claudeTools["Bash"], errors.New("commands are matched without quotes and escapes"))
		return
	case strings.ContainsAny(spec, "|&;<>()\n"):
		c.leaveOutRestricting(rule, action, claudeTools["Bash"], errors.New("each simple command is matched on its own"))
		return
	}
	spec = strings.NewReplacer("?", "[?]", "[", "[[]").Replace(spec)
	if base, ok := strings.CutSuffix(spec, " *"); ok { // a word ends before the space
		c.add(rule, action, "bash", base)
	}
	c.add(rule, action, "bash", spec)
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
		for _, t := range tools {
			c.add(rule, action, t, patterns...)
		}
		return
	}
	if name == "Read" && action == executors.Deny { // holds for commands too, and for edits
		c.DenyRead = append(c.DenyRead, p.denyRead())
		tools = writers
	}
	for _, t := range tools {
		c.add(rule, action, t, p.superset()...)
	}
}
