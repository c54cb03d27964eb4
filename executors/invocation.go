package executors

import (
	"fmt"
	"strings"
)

// Invocation is how a model without native tool calls calls a tool in the text of
// its answer. The zero value is a tool_call block, a JSON object with tool_id and
// params, which works for every tool.
type Invocation struct {
	Tag   string // the language of the fenced block; empty means a tool_call block
	Param string // the parameter whose value is the text of the block; empty means that the block is the JSON input
	// Example is a value of Param that does no harm: small models copy it.
	Example string
	// Also lists further languages of the fenced block, separated by spaces.
	Also string
}

// FencedBlock is the invocation by a fenced block of the tool's own tag, or of one of the languages also. The
// block is the parameter param, such as example, or the JSON input if param is empty.
func FencedBlock(tag, param, example string, also ...string) Invocation {
	return Invocation{Tag: tag, Param: param, Example: example, Also: strings.Join(also, " ")}
}

// String returns the invocation as written in Go.
func (i Invocation) String() string {
	if i.Tag == "" {
		return "ToolCall"
	}
	return fmt.Sprintf("FencedBlock(%s)", i.Tag)
}
