package wire

import (
	"slices"
	"sync/atomic"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// Last keeps a value that was made of the tools of the last request to a model, since
// most conversations offer the same ones. It is kept in a [Memory]. The zero value is
// ready, and may be used concurrently.
type Last[T any] struct{ made atomic.Pointer[madeOf[T]] }

type madeOf[T any] struct {
	key   string
	tools []llm.Tool
	value T
}

// Of returns the result of make for the tools, which nobody may change. The key holds all
// else that the result depends on.
func (l *Last[T]) Of(key string, tools []llm.Tool, make func([]llm.Tool) T) T {
	if last := l.made.Load(); last != nil && last.key == key && slices.EqualFunc(last.tools, tools, llm.Tool.Same) {
		return last.value
	}
	now := &madeOf[T]{key, slices.Clone(tools), make(tools)}
	l.made.Store(now)
	return now.value
}
