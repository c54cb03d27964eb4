package llm

import (
	"slices"
	"strings"
)

// goOn asks a model to go on. It is a message of the user's, since newer models
// refuse a request that ends with the beginning of their own answer.
const goOnPrompt = "[The connection broke off here. Go on exactly where your answer stopped, without repeating any of it. " +
	"Tool calls in it were not run: make them again.]"

// GoOn gives the history with which a model is asked to go on after an answer
// that broke off, of which it said these blocks. Its text stays, its thoughts
// are of no use without the end, and its calls were not run. If there is no text,
// that is the history as it was.
func GoOn(history []Message, said []Block) []Message {
	if said = texts(said); len(said) == 0 {
		return history
	}
	return append(slices.Clip(history), Message{Role: Assistant, Blocks: said}, Message{Role: User, Blocks: []Block{{Text: goOnPrompt}}})
}

// NoGoOn takes the message of GoOn from the end of a history: the model never
// went on.
func NoGoOn(history []Message) []Message {
	if n := len(history); n > 0 && IsGoOn(history[n-1]) {
		return history[:n-1]
	}
	return history
}

// IsGoOn reports whether a message is that of GoOn, and not the user's.
func IsGoOn(m Message) bool {
	return m.Role == User && len(m.Blocks) == 1 && m.Blocks[0].Text == goOnPrompt
}

// texts are the blocks of text that are not blank, which providers refuse.
func texts(blocks []Block) []Block {
	return only(blocks, func(b Block) bool { return strings.TrimSpace(b.Text) != "" })
}
