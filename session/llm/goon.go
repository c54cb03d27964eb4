package llm

import (
	"slices"
	"strings"
)

// goOnPrompt asks a model to continue its answer. It is a message of the user, since
// newer models refuse a request that ends with the beginning of their own answer.
const goOnPrompt = "[The connection broke off here. Go on exactly where your answer stopped, without repeating any of it. " +
	"Tool calls in it were not run: make them again.]"

// GoOn returns the history that asks a model to continue an answer that broke off after
// these blocks. The text stays. Thoughts are useless without their end, and calls were
// not run. Without any text, GoOn returns the history unchanged.
func GoOn(history []Message, said []Block) []Message {
	if said = textBlocks(said); len(said) == 0 {
		return history
	}
	return append(slices.Clip(history), Message{Role: Assistant, Blocks: said}, Message{Role: User, Blocks: []Block{{Text: goOnPrompt}}})
}

// NoGoOn removes the request of GoOn from the end of a history, if it is there.
func NoGoOn(history []Message) []Message {
	if n := len(history); n > 0 && IsGoOn(history[n-1]) {
		return history[:n-1]
	}
	return history
}

// IsGoOn reports whether a message is the request of GoOn, which the user did not
// write.
func IsGoOn(m Message) bool {
	return m.Role == User && len(m.Blocks) == 1 && m.Blocks[0].Text == goOnPrompt
}

// textBlocks returns the blocks with text; providers refuse blank ones.
func textBlocks(blocks []Block) []Block {
	return filterBlocks(blocks, func(b Block) bool { return strings.TrimSpace(b.Text) != "" })
}
