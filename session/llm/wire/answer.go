package wire

import (
	"iter"
	"strconv"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// answer turns what a server sends into Events.
type Answer interface {
	// take reads one chunk. Done means that nothing is to be read any more: the
	// answer is complete, or emit gave false.
	Take(chunk []byte, emit func(llm.Event) bool) (done bool, err error)
	// end is called where the server ends the stream before take is done. It
	// completes the answer, or gives errBrokenOff.
	End(emit func(llm.Event) bool) error
	// arguments counts the bytes of the arguments of calls so far, which are kept
	// until a call is whole.
	Arguments() int
}

// argumentCount is the count of an answer.
type ArgumentCount int

func (n *ArgumentCount) Arguments() int { return int(*n) }

// add counts a piece.
func (n *ArgumentCount) Add(bytes int) { *n += ArgumentCount(bytes) }

// readAnswer reads chunks to the end of an answer. Grew is called when there is more
// of the arguments of a call, of which nothing is emitted before they are whole.
func readAnswer(chunks iter.Seq2[[]byte, error], a Answer, emit func(llm.Event) bool, grew func()) error {
	before := 0
	for chunk, err := range chunks {
		if err != nil {
			return err
		}
		done, err := a.Take(chunk, emit)
		switch n := a.Arguments(); {
		case n > maxArguments:
			return tooMuch{maxArguments, " of arguments for its tool calls"}
		case done || err != nil:
			return err
		case n > before:
			before = n
			grew()
		}
	}
	return a.End(emit)
}

// maxArguments bounds the arguments of all calls of one answer, in bytes: no model
// writes as much.
const maxArguments = 16 << 20

// tokenCount is a number of tokens as a server tells it. One that cannot be is 0, or
// mostCounted: an answer is worth more than its count.
type TokenCount int

// mostCounted is more than any window has, and leaves room for sums.
const mostCounted = 1 << 40

// UnmarshalJSON takes any number; anything else is 0.
func (n *TokenCount) UnmarshalJSON(data []byte) error {
	*n = 0
	if f, _ := strconv.ParseFloat(string(data), 64); f > 0 { // infinite if it is too large
		*n = TokenCount(min(f, mostCounted))
	}
	return nil
}

// stopReasons translates the reasons that APIs and the servers that speak them give
// for the end of an answer, in lower case; others mean StopEnd, or StopTools.
var StopReasons = map[string]llm.StopReason{
	"length": llm.StopMaxTokens, "max_tokens": llm.StopMaxTokens, "max_output_tokens": llm.StopMaxTokens, "model_length": llm.StopMaxTokens,
	"model_context_window_exceeded": llm.StopMaxTokens,
	"refusal":                       llm.StopRefusal, "content_filter": llm.StopRefusal, "safety": llm.StopRefusal, "sensitive": llm.StopRefusal,
}
