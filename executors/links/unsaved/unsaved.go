// Package unsaved keeps calls from changing a file on the disk while the editor has newer text of it.
//
// It is for clients whose buffers the tools cannot see. What is known of a buffer is the text that the client embeds in
// a prompt. If the file lacks that text, the buffer has unsaved changes, and a change of the file would conflict with
// them: put [Files.Middleware] around the tools, and tell each embedded text to [Files.Attached]. Once the file changes,
// somebody has saved it, and calls may change it again.
package unsaved

import (
	"context"
	"crypto/sha256"
	"fmt"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/executors"
)

// Files are the files with unsaved changes. They may be used concurrently.
type Files struct {
	// Read reads a file from the disk; an error means that nothing is known of it.
	Read func(ctx context.Context, path string) (text string, err error)

	mu   sync.Mutex
	seen map[string][sha256.Size]byte // the content of the file on the disk when it was older than the buffer, by path
}

// Attached compares an embedded text with the file at an absolute path. A part of the file counts as saved.
func (f *Files) Attached(ctx context.Context, path, text string) {
	saved, err := f.Read(ctx, path)
	f.mu.Lock()
	defer f.mu.Unlock()
	if err != nil || strings.Contains(unified(saved), strings.TrimSpace(unified(text))) {
		delete(f.seen, path)
		return
	}
	if f.seen == nil {
		f.seen = map[string][sha256.Size]byte{}
	}
	f.seen[path] = sha256.Sum256([]byte(saved))
}

// unified returns a text with the line ends of Unix.
func unified(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// isUnsaved reports whether the editor has newer text of a file.
func (f *Files) isUnsaved(ctx context.Context, path string) bool {
	f.mu.Lock()
	then, ok := f.seen[path]
	f.mu.Unlock()
	if !ok {
		return false
	}
	saved, err := f.Read(ctx, path)
	if err == nil && sha256.Sum256([]byte(saved)) == then {
		return true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.seen[path] == then { // no newer prompt has embedded the file
		delete(f.seen, path)
	}
	return false
}

// Middleware returns the link that checks the calls of file tools.
func (f *Files) Middleware(next executors.Executor) executors.Executor { return link{next, f} }

type link struct {
	executors.Executor
	files *Files
}

func (l link) Execute(ctx context.Context, call *executors.Call) (executors.Result, error) {
	var path string
	for _, p := range call.Card.Paths {
		if l.files.isUnsaved(ctx, p) {
			path = p
			break
		}
	}
	switch {
	case path == "":
	case call.Card.Kind == executors.KindEdit, call.Card.Kind == executors.KindDelete, call.Card.Kind == executors.KindMove:
		return executors.Failuref(executors.PermanentFailure, "%s has unsaved changes in the editor, so it was not changed", path).
			Hint("Ask the user to save the file. The newest text of it is in the prompt.").Result(), nil
	case call.Card.Kind == executors.KindRead:
		res, err := l.Executor.Execute(ctx, call)
		res.Below(fmt.Sprintf("[%s has unsaved changes in the editor; the prompt has its newer text]", path))
		return res, err
	}
	return l.Executor.Execute(ctx, call)
}
