package llm

import (
	"bytes"
	"slices"
)

// Cache is where a model keeps its own form of a conversation from one request to the next, so that
// each message is encoded once. It keeps the form for one model: the one that was asked last. The
// zero value is empty. A Cache is for one conversation, and for one request at a time.
//
// Messages and blocks may be replaced between two requests, since a model compares them.
// Calls, results and images are never changed in place.
type Cache struct {
	key  any // of the form: all else that it depends on
	form any // a pointer to the model's own type
}

// Recall returns the T that was kept under the key, which is comparable. Otherwise it
// returns a new T, which replaces the old one. A nil cache keeps nothing.
func Recall[T any](c *Cache, key any) *T {
	if c == nil {
		return new(T)
	}
	if form, ok := c.form.(*T); ok && c.key == key {
		return form
	}
	form := new(T)
	c.key, c.form = key, form
	return form
}

// Same reports whether both messages have the same role and equal blocks, so that their
// form for a provider is the same.
func (m Message) Same(other Message) bool {
	if m.Role != other.Role || len(m.Blocks) != len(other.Blocks) {
		return false
	}
	for i := range m.Blocks {
		if !m.Blocks[i].same(&other.Blocks[i]) {
			return false
		}
	}
	return true
}

// same reports whether two blocks are equal. They usually share their strings and
// pointers, so that comparing them is cheap.
func (b *Block) same(other *Block) bool {
	return *b == *other || b.Text == other.Text && b.Thought == other.Thought &&
		equalPointers(b.Opaque, other.Opaque, func(a, b Opaque) bool { return a.Provider == b.Provider && bytes.Equal(a.Data, b.Data) }) &&
		equalPointers(b.Image, other.Image, sameImage) &&
		equalPointers(b.Call, other.Call, func(a, b ToolCall) bool {
			return a.ID == b.ID && a.Name == b.Name && bytes.Equal(a.Input, b.Input)
		}) &&
		equalPointers(b.Result, other.Result, func(a, b ToolResult) bool {
			return a.ID == b.ID && a.Text == b.Text && a.Failed == b.Failed && slices.EqualFunc(a.Images, b.Images, sameImage)
		})
}

func sameImage(a, b Image) bool { return a.MIME == b.MIME && bytes.Equal(a.Data, b.Data) }

// equalPointers compares the values of two pointers, which may be nil.
func equalPointers[T any](a, b *T, same func(a, b T) bool) bool {
	return a == b || a != nil && b != nil && same(*a, *b)
}

// Same reports whether both tools have the same form for a provider.
func (t Tool) Same(other Tool) bool {
	return t.Name == other.Name && t.Description == other.Description && bytes.Equal(t.Schema, other.Schema)
}
