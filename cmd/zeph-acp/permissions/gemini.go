package permissions

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/zeph-acp/zeph-acp/executors"
)

// geminiRule is one [[rule]] of a policy.
type geminiRule struct {
	ToolName        any            `toml:"toolName"` // a string or a list
	MCPName         string         `toml:"mcpName"`
	Subagent        string         `toml:"subagent"`
	ToolAnnotations map[string]any `toml:"toolAnnotations"`
	ArgsPattern     string         `toml:"argsPattern"`
	CommandPrefix   any            `toml:"commandPrefix"` // a string or a list
	CommandRegex    string         `toml:"commandRegex"`
	Decision        string         `toml:"decision"`
	Priority        float64        `toml:"priority"`
	Modes           []string       `toml:"modes"`
	Interactive     *bool          `toml:"interactive"`
}

// geminiDecisions are the decisions of a rule.
var geminiDecisions = map[string]executors.Decision{"allow": executors.Allow, "ask_user": executors.Ask, "deny": executors.Deny}

// Gemini translates the rules of a policy of Gemini CLI:
// https://geminicli.com/docs/reference/policy-engine
func Gemini(data []byte, known []executors.Tool) (*Import, error) {
	var file struct {
		Rule []geminiRule `toml:"rule"`
	}
	if err := toml.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	rank := map[string]int{"deny": 0, "ask_user": 1, "allow": 2}
	slices.SortStableFunc(file.Rule, func(a, b geminiRule) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), rank[a.Decision]-rank[b.Decision])
	})
	out := &Import{}
	for _, r := range file.Rule {
		tools, err := r.translate(out, known)
		if err != nil {
			out.leaveOut(r.source(), "%v", err)
			if geminiDecisions[r.Decision] != executors.Allow {
				out.restricted = append(out.restricted, tools...)
			}
		}
	}
	out.tighten()
	return out, nil
}

// translate adds the rule. With an error it returns the tools that the rule is about.
func (r geminiRule) translate(out *Import, known []executors.Tool) (tools []string, err error) {
	names, ok := stringsOf(r.ToolName)
	prefix, okPrefix := stringsOf(r.CommandPrefix)
	if len(names) == 0 && (len(prefix) > 0 || r.CommandRegex != "") {
		names = []string{"run_shell_command"}
	}
	if len(names) == 0 {
		names = []string{"*"}
	}
	for _, n := range names {
		tools = append(tools, r.tools(n, known)...)
	}
	if len(r.Modes) > 0 && !slices.Contains(r.Modes, "default") {
		return nil, errors.New("it holds in other modes only")
	}
	action := geminiDecisions[r.Decision]
	switch {
	case !ok || !okPrefix:
		return []string{"*"}, errors.New("a name is not a string")
	case action == "":
		return tools, fmt.Errorf("its decision is %q", r.Decision)
	case len(tools) == 0:
		return nil, errors.New("there is no such tool")
	case r.ArgsPattern != "" || r.CommandRegex != "":
		return tools, errors.New("it has a regular expression for the input")
	case r.Subagent != "" || len(r.ToolAnnotations) > 0 || r.Interactive != nil:
		return tools, errors.New("it depends on more than tool and input")
	case action == executors.Allow && slices.Contains(tools, "*"):
		return tools, errors.New("no rule allows all tools")
	}
	for _, p := range prefix {
		if strings.ContainsAny(p, "\"'\\$`|&;<>()\n") {
			return tools, errors.New("commands are matched one at a time, without quotes and escapes")
		}
	}
	for _, t := range tools {
		if len(prefix) == 0 {
			out.add(r.source(), action, t, "*")
		}
		for _, p := range prefix {
			p = literal.Replace(strings.TrimSpace(p))
			if action == executors.Allow {
				out.add(r.source(), action, t, p, p+" *")
			} else { // the original need not end with a word
				out.add(r.source(), action, t, p+"*")
			}
		}
	}
	return tools, nil
}

// tools returns the tools that a name stands for.
func (r geminiRule) tools(name string, known []executors.Tool) []string {
	server, ok := strings.CutPrefix(name, "mcp_")
	switch {
	case r.MCPName != "":
		return []string{r.MCPName + "__" + name}
	case name == "mcp_*":
		return []string{"*__*"}
	case ok:
		server, tool, _ := strings.Cut(server, "_")
		return []string{server + "__" + tool}
	}
	if name == "*" {
		return []string{name}
	}
	return namesOf(known, func(t executors.Tool) bool { return executors.Lists(t.Names.Gemini, name) })
}

// source describes the rule on one line.
func (r geminiRule) source() string {
	var parts []string
	for _, part := range []struct {
		key   string
		value any
	}{
		{"toolName", r.ToolName},
		{"mcpName", r.MCPName},
		{"commandPrefix", r.CommandPrefix},
		{"commandRegex", r.CommandRegex},
		{"argsPattern", r.ArgsPattern},
		{"decision", r.Decision},
		{"priority", r.Priority},
	} {
		if part.value != nil && part.value != "" {
			parts = append(parts, fmt.Sprintf("%s = %v", part.key, part.value))
		}
	}
	return strings.Join(parts, ", ")
}

// stringsOf returns a string or a list of strings. It reports false for other values.
func stringsOf(v any) ([]string, bool) {
	switch v := v.(type) {
	case nil:
		return nil, true
	case string:
		return []string{v}, true
	case []any:
		var out []string
		for _, item := range v {
			s, ok := item.(string)
			if !ok {
				return nil, false
			}
			out = append(out, s)
		}
		return out, true
	}
	return nil, false
}
