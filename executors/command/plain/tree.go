package plain

import (
	"strings"
	"sync"
	"sync/atomic"

	"mvdan.cc/sh/v3/syntax"
)

// Tree is the syntax tree of a bash script. It is parsed at its first use, and once. Any goroutine
// may use it.
type Tree struct {
	Text string

	once sync.Once
	file *syntax.File
	err  error
}

// NewTree returns the tree of a script.
func NewTree(script string) *Tree { return &Tree{Text: script} }

// File returns the root of the tree, with its comments. Callers must not change it. The error
// means that the text is not a script.
func (t *Tree) File() (*syntax.File, error) {
	t.once.Do(func() {
		if watch := onParse.Load(); watch != nil {
			(*watch)(t.Text)
		}
		parser := syntax.NewParser(syntax.Variant(syntax.LangBash), syntax.KeepComments(strings.Contains(t.Text, "#")))
		t.file, t.err = parser.Parse(strings.NewReader(t.Text), "")
	})
	return t.file, t.err
}

var onParse atomic.Pointer[func(string)]

// WatchParses calls watch with each script that this process parses from now on. It is for tests,
// which count how often a call is parsed.
func WatchParses(watch func(script string)) { onParse.Store(&watch) }
