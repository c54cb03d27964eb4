package wire

import (
	"errors"
	"iter"
	"strconv"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// Answer reads one answer from a server's chunks and emits its events.
type Answer interface {
	// ReadChunk reads one chunk. Done means that reading ends: the answer is complete, or
	// emit returned false.
	ReadChunk(chunk []byte, emit func(llm.Event) bool) (done bool, err error)
	// End is called when the server ends the stream before ReadChunk is done. It completes
	// the answer, or returns ErrBrokenOff.
	End(emit func(llm.Event) bool) error
	// Arguments returns the number of bytes of call arguments read so far. They are
	// kept in memory until a call is complete. Endless means that they repeat themselves
	// without end.
	Arguments() (bytes int, endless bool)
}

// ArgumentCount implements Arguments for an Answer.
type ArgumentCount struct {
	bytes   int
	endless bool
	text    llm.Repetition
}

func (n *ArgumentCount) Arguments() (bytes int, endless bool) { return n.bytes, n.endless }

// Add counts bytes of arguments.
func (n *ArgumentCount) Add(bytes int) { n.bytes += bytes }

// AddPiece counts a piece of arguments.
func (n *ArgumentCount) AddPiece(piece string) {
	n.bytes += len(piece)
	n.endless = n.endless || n.text.Add(piece)
}

// errEndless is the failure of a model that repeats itself in the arguments of a call.
var errEndless = errors.New("the model repeats the same text without end in the arguments of a tool call, so its answer was stopped")

// readAnswer reads chunks to the end of an answer. It calls onArguments when arguments of
// a call arrive, since no event shows them before the call is complete.
func readAnswer(chunks iter.Seq2[[]byte, error], a Answer, emit func(llm.Event) bool, onArguments func()) error {
	before := 0
	for chunk, err := range chunks {
		if err != nil {
			return err
		}
		done, err := a.ReadChunk(chunk, emit)
		switch n, endless := a.Arguments(); {
		case endless:
			return errEndless
		case n > maxArguments:
			return &tooLarge{maxArguments, " of arguments for its tool calls"}
		case done || err != nil:
			return err
		case n > before:
			before = n
			onArguments()
		}
	}
	return a.End(emit)
}

// maxArguments bounds the arguments of all calls of one answer, in bytes. No model writes
// as much.
const maxArguments = 16 << 20

// TokenCount is a number of tokens that a server reports. Impossible values become 0 or
// maxTokenCount, since an answer is worth more than its count.
type TokenCount int

// maxTokenCount is more than any window, and leaves room for sums.
const maxTokenCount = 1 << 40

// UnmarshalJSON accepts any number; other values become 0.
func (n *TokenCount) UnmarshalJSON(data []byte) error {
	*n = 0
	if f, _ := strconv.ParseFloat(string(data), 64); f > 0 { // infinite if it is too large
		*n = TokenCount(min(f, maxTokenCount))
	}
	return nil
}

// AnswerTokens returns the limit of an answer, in tokens, that a request of an estimated size leaves of a window. The estimate
// may be a quarter too low.
func AnswerTokens(window, size int) int { return max(window-size*5/4, window/16) }

// StopReasons translates the reasons of servers for the end of an answer, in lower
// case. Others mean StopEnd, or StopTools after calls.
var StopReasons = map[string]llm.StopReason{
	"length":                        llm.StopMaxTokens,
	"max_tokens":                    llm.StopMaxTokens,
	"max_output_tokens":             llm.StopMaxTokens,
	"model_length":                  llm.StopMaxTokens,
	"model_context_window_exceeded": llm.StopMaxTokens,
	"refusal":                       llm.StopRefusal,
	"content_filter":                llm.StopRefusal,
	"safety":                        llm.StopRefusal,
	"sensitive":                     llm.StopRefusal,
}
