package executors

import "fmt"

// Invocation is how a model that has no tools of its own calls a tool in the
// text of its answer. The zero value is [ToolCall].
type Invocation struct {
	Tag   string // the language of a fenced block that is a call; empty means a tool_call block
	Param string // the parameter that the block is, word for word; empty means that the block is the JSON input
}

// ToolCall is the invocation by a tool_call block, a JSON object with tool_id
// and params, which every tool can be called by.
var ToolCall Invocation

// FencedBlock is the invocation by a fenced block of the tool's own tag. The
// block is the parameter param, or the JSON input if param is empty.
func FencedBlock(tag, param string) Invocation { return Invocation{Tag: tag, Param: param} }

// String gives the invocation in the words of the source.
func (i Invocation) String() string {
	if i.Tag == "" {
		return "ToolCall"
	}
	return fmt.Sprintf("FencedBlock(%s)", i.Tag)
}
