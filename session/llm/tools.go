package llm

import (
	"slices"
)

func FindTool(tools []Tool, name string) (Tool, bool) {
	i := slices.IndexFunc(tools, func(t Tool) bool { return t.Name == name })
	if i < 0 {
		return Tool{}, false
	}
	return tools[i], true
}

// Invocation is how a tool is called in a text. The zero value is by a tool_call
// block, by which every tool can be called.
type Invocation struct {
	Tag   string // the language of a fenced block that is a call of the tool
	Param string // the parameter that the block is, word for word; empty means that the block is the JSON input
}
