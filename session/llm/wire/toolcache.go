package wire

import (
	"slices"
	"sync/atomic"

	"github.com/zeph-acp/zeph-acp/session/llm"
)

// ToolCache keeps a value made from the tools of the last request to a model, since most
// conversations offer the same ones. It is kept in a [Memory]. The zero value is empty
// and ready for use, even concurrently.
type ToolCache[T any] struct{ made atomic.Pointer[cachedFor[T]] }

type cachedFor[T any] struct {
	key   string
	tools []llm.Tool
	value T
}

// Get returns the result of encode for the tools, which the caller does not change. The key
// contains everything else that the result depends on.
func (l *ToolCache[T]) Get(key string, tools []llm.Tool, encode func([]llm.Tool) T) T {
	if last := l.made.Load(); last != nil && last.key == key && slices.EqualFunc(last.tools, tools, llm.Tool.Same) {
		return last.value
	}
	now := &cachedFor[T]{key, slices.Clone(tools), encode(tools)}
	l.made.Store(now)
	return now.value
}
