package wire

import (
	"slices"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// Encoding is a conversation in an adapter's form, in which each message is encoded once. F is the
// form of one message. S is the adapter's state from one message to the next, such as its [IDs]. An
// Encoding is kept in the [llm.Cache] of the request. Its key there contains everything else that
// the forms depend on.
//
// Forms are not changed once they are made, so that a body that is still being sent does not
// change. A marker that moves with the conversation is added when the parts of the body are joined.
//
// Why are messages compared, and not marked when they change? Compactions, refusals and answers
// that broke off replace messages in many places. A comparison takes less than 10 µs for 300
// messages, and cannot be forgotten in one of these places.
type Encoding[S, F any] struct {
	catalogue
	seen  messages // those that have a form
	forms []F      // one for each message of seen
	state S
}

// messages and catalogue are types of their own since their code is the same for all S and F.
type (
	messages  []llm.Message
	catalogue struct {
		tools   []llm.Tool
		encoded []byte // nil before the first call of Tools
	}
)

// Messages returns the encoded form of each message. If history begins with the previous
// call's history, only the new messages are encoded, in order. Otherwise begin makes a new
// state and all messages are encoded. The caller must not change the result.
func (e *Encoding[S, F]) Messages(history []llm.Message, begin func() S, encode func(*S, llm.Message) F) []F {
	if !e.seen.beginOf(history) {
		e.seen, e.forms, e.state = nil, nil, begin()
	}
	for _, m := range history[len(e.seen):] {
		e.seen.add(m)
		e.forms = append(e.forms, encode(&e.state, m))
	}
	return e.forms
}

// beginOf reports whether there are messages, and the history begins with them.
func (m messages) beginOf(history []llm.Message) bool {
	n := len(m)
	return n > 0 && n <= len(history) && slices.EqualFunc(m, history[:n], llm.Message.Same)
}

func (m *messages) add(one llm.Message) {
	one.Blocks = slices.Clone(one.Blocks)
	*m = append(*m, one)
}

// Tools returns the catalogue of the tools as encode returns it, made once for the same
// tools.
func (c *catalogue) Tools(tools []llm.Tool, encode func([]llm.Tool) []byte) []byte {
	if c.encoded == nil || !slices.EqualFunc(c.tools, tools, llm.Tool.Same) {
		c.tools, c.encoded = slices.Clone(tools), encode(tools)
	}
	return c.encoded
}
