package llmtest

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// Conversation returns a history of n messages: a prompt, then calls of a tool and
// their results of 2 KB in turn.
func Conversation(n int) []llm.Message {
	result := strings.Repeat("\tif err != nil {\n\t\treturn fmt.Errorf(\"read %q: %w\", path, err)\n\t}\n", 28)
	history := []llm.Message{UserText("Find the bug.")}
	for i := 1; i < n; i++ {
		id := fmt.Sprintf("call_%d", (i+1)/2)
		if i%2 == 1 {
			call := &llm.ToolCall{ID: id, Name: "read", Input: json.RawMessage(fmt.Sprintf(`{"path":"file%d.go"}`, i))}
			history = append(history, llm.Message{Role: llm.Assistant, Blocks: []llm.Block{{Text: "I read the next file."}, {Call: call}}})
		} else {
			history = append(history, llm.Message{Role: llm.User, Blocks: []llm.Block{{Result: &llm.ToolResult{ID: id, Text: result}}}})
		}
	}
	return history
}
