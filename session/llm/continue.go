package llm

import (
	"slices"
	"strings"
)

// continueRequest asks a model to continue its answer. It is a message of the user, since
// newer models refuse a request that ends with the beginning of their own answer.
const continueRequest = "[The connection broke off here. Go on exactly where your answer stopped, without repeating any of it. " +
	"Tool calls in it were not run: make them again.]"

// AskToContinue returns the history that asks a model to continue an answer that broke off after
// these blocks. The text stays. Thoughts are useless without their end, and calls were
// not run. Without any text, AskToContinue returns the history unchanged.
func AskToContinue(history []Message, blocks []Block) []Message {
	if blocks = textBlocks(blocks); len(blocks) == 0 {
		return history
	}
	return append(slices.Clip(history),
		Message{Role: Assistant, Blocks: blocks},
		Message{Role: User, Blocks: []Block{{Text: continueRequest}}})
}

// WithoutContinueRequest removes the request of AskToContinue from the end of a history,
// if it is there.
func WithoutContinueRequest(history []Message) []Message {
	if n := len(history); n > 0 && IsContinueRequest(history[n-1]) {
		return history[:n-1]
	}
	return history
}

// IsContinueRequest reports whether a message is the request of AskToContinue, which the
// user did not write.
func IsContinueRequest(m Message) bool {
	return m.Role == User && len(m.Blocks) == 1 && m.Blocks[0].Text == continueRequest
}

// textBlocks returns the blocks with text; providers refuse blank ones.
func textBlocks(blocks []Block) []Block {
	return filterBlocks(blocks, func(b Block) bool { return strings.TrimSpace(b.Text) != "" })
}
