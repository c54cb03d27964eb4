package llm

import (
	"slices"
	"strings"

	"github.com/zeph-acp/zeph-acp/filter/text/lazyregexp"
)

// FindTool returns the tool of that name.
func FindTool(tools []Tool, name string) (Tool, bool) {
	i := slices.IndexFunc(tools, func(t Tool) bool { return t.Name == name })
	if i < 0 {
		return Tool{}, false
	}
	return tools[i], true
}

// toolNamespaces match what models and servers put in front of a tool's name: the namespaces of
// gpt-oss and Gemini, and our own as an MCP server.
var toolNamespaces = lazyregexp.New(`^((functions?|default_api|tools?|multi_tool_use|repo_browser|zeph(-acp)?)(\.|::?|/)|mcp__zeph(-acp)?__)`)

// toolLeftovers match what follows a tool's name in the wrong names of models: the number of the call, or a
// special token with the rest of the line.
var toolLeftovers = lazyregexp.New(`(?s)(:\d+|[<＜].*|\(\))$`)

// MeantTool returns the one tool that a model means by a name: its own, the same one in another spelling or
// in a namespace, or one of its Aliases. ok is false if there is no such tool, or more than one.
func MeantTool(tools []Tool, name string) (tool Tool, ok bool) {
	if t, ok := SpelledTool(tools, name); ok {
		return t, true
	}
	name = bareName(name)
	return onlyTool(tools, func(t Tool) bool {
		return slices.ContainsFunc(strings.Fields(t.Aliases), func(alias string) bool { return foldName(alias) == foldName(name) })
	})
}

// SpelledTool is MeantTool without the Aliases.
func SpelledTool(tools []Tool, name string) (tool Tool, ok bool) {
	if t, ok := FindTool(tools, name); ok {
		return t, true
	}
	name = bareName(name)
	if t, ok := FindTool(tools, name); ok {
		return t, true
	}
	return onlyTool(tools, func(t Tool) bool { return foldName(t.Name) == foldName(name) })
}

// maxWrongName bounds the names that are compared, in bytes.
const maxWrongName = 256

// bareName removes from a name what is around it.
func bareName(name string) string {
	name = strings.Trim(name[:min(len(name), maxWrongName)], " \t\r\n\"'`")
	if at := toolLeftovers.FindStringIndex(name); at != nil {
		name = strings.TrimSpace(name[:at[0]])
	}
	if at := toolNamespaces.FindStringIndex(name); at != nil {
		name = name[at[1]:]
	}
	return name
}

// foldName returns a name without its case and its separators.
func foldName(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}

// onlyTool returns the tool that fits, if only one does.
func onlyTool(tools []Tool, fits func(Tool) bool) (tool Tool, ok bool) {
	for _, t := range tools {
		if fits(t) {
			if ok {
				return Tool{}, false
			}
			tool, ok = t, true
		}
	}
	return tool, ok
}

// Invocation says how a tool is called in a text. The zero value means a tool_call
// block, which can call every tool.
type Invocation struct {
	Tag   string // the language of a fenced block that calls the tool
	Param string // the parameter whose value is the text of the block; empty means that the block is the JSON input
	// Example is a value of Param that does no harm: small models copy it.
	Example string
	// Also lists further languages of the block, separated by spaces.
	Also string
}

// IsBlock reports whether blocks of a language call the tool.
func (i Invocation) IsBlock(lang string) bool {
	return i.Tag != "" && (lang == i.Tag || slices.Contains(strings.Fields(i.Also), lang))
}

// AddNote adds a line to the note of a call.
func (c *ToolCall) AddNote(line string) {
	if c.Note != "" {
		c.Note += "\n"
	}
	c.Note += line
}
