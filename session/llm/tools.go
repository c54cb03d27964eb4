package llm

import (
	"slices"
)

// FindTool returns the tool of that name.
func FindTool(tools []Tool, name string) (Tool, bool) {
	i := slices.IndexFunc(tools, func(t Tool) bool { return t.Name == name })
	if i < 0 {
		return Tool{}, false
	}
	return tools[i], true
}

// Invocation says how a tool is called in a text. The zero value means a tool_call
// block, which can call every tool.
type Invocation struct {
	Tag   string // the language of a fenced block that calls the tool
	Param string // the parameter whose value is the text of the block; empty means that the block is the JSON input
}
