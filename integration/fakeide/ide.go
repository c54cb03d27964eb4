// Package fakeide is a fake editor: the client's side of the protocol for tests
// of the built binary.
//
// [IDE] answers the typed requests of coder/acp-go-sdk, a client library from
// outside of this project; [IDE.Answer] answers requests at the level of frames.
package fakeide

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/coder/acp-go-sdk"
)

// CanAll returns the capabilities of a client with buffers and terminals.
func CanAll() sdk.ClientCapabilities {
	return sdk.ClientCapabilities{Terminal: true, Fs: sdk.FileSystemCapabilities{ReadTextFile: true, WriteTextFile: true}}
}

// IDE has the buffers, terminals and dialogs of an editor, and keeps every
// update. It implements [sdk.Client]. Call Start before its first use.
type IDE struct {
	// Before, if not nil, sees each request of the agent first. It may wait,
	// and an error is the answer.
	Before func(ctx context.Context, method string) error
	// Permit returns the kind of option to choose; nil allows once.
	Permit func(sdk.RequestPermissionRequest) sdk.PermissionOptionKind
	// Spawn, if not nil, returns the process of a terminal: editors start programs on other machines,
	// in containers, or through a shell.
	Spawn func(program string, args []string) *exec.Cmd
	// Saves makes each write of the agent reach the disk, instead of a buffer.
	Saves bool

	t         testing.TB
	mu        sync.Mutex        // guards the fields below
	buffers   map[string]string // unsaved text by absolute path
	terminals map[string]*terminal
	made      int
	updates   []sdk.SessionNotification
	asked     []sdk.RequestPermissionRequest
}

// Start prepares the editor for requests of the agent. Wrong requests are errors
// of t.
func (e *IDE) Start(t testing.TB) {
	e.t, e.buffers, e.terminals = t, map[string]string{}, map[string]*terminal{}
}

// Stop kills the terminals that the agent has not released, and returns their
// IDs.
func (e *IDE) Stop() (left []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, term := range e.terminals {
		left = append(left, id)
		term.kill()
	}
	clear(e.terminals)
	return left
}

// Text returns the text of all messages of the agent in a session.
func (e *IDE) Text(session sdk.SessionId) string {
	var b strings.Builder
	for _, u := range e.Seen(session) {
		if c := u.AgentMessageChunk; c != nil && c.Content.Text != nil {
			b.WriteString(c.Content.Text.Text)
		}
	}
	return b.String()
}

// Seen returns the updates of a session so far.
func (e *IDE) Seen(session sdk.SessionId) []sdk.SessionUpdate {
	e.mu.Lock()
	defer e.mu.Unlock()
	var us []sdk.SessionUpdate
	for _, u := range e.updates {
		if u.SessionId == session {
			us = append(us, u.Update)
		}
	}
	return us
}

// Results returns the final updates of all tool calls, in order.
func (e *IDE) Results(session sdk.SessionId) []sdk.SessionToolCallUpdate {
	var us []sdk.SessionToolCallUpdate
	for _, u := range e.Seen(session) {
		if c := u.ToolCallUpdate; c != nil && c.Status != nil && (*c.Status == sdk.ToolCallStatusCompleted || *c.Status == sdk.ToolCallStatusFailed) {
			us = append(us, *c)
		}
	}
	return us
}

// ShownText returns the text of the content that a client shows for a call.
func ShownText(content []sdk.ToolCallContent) string {
	var b strings.Builder
	for _, c := range content {
		if c.Content != nil && c.Content.Content.Text != nil {
			b.WriteString(c.Content.Content.Text.Text)
		}
	}
	return b.String()
}

// SetBuffer changes the unsaved text of a file.
func (e *IDE) SetBuffer(path, text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.buffers[path] = text
}

// Buffer returns the unsaved text of a file.
func (e *IDE) Buffer(path string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.buffers[path]
}

// Questions returns the permission requests so far.
func (e *IDE) Questions() []sdk.RequestPermissionRequest {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.asked)
}

// SessionUpdate keeps the update.
func (e *IDE) SessionUpdate(_ context.Context, p sdk.SessionNotification) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.updates = append(e.updates, p)
	return nil
}

// called passes a request to Before.
func (e *IDE) called(ctx context.Context, method string) error {
	if e.Before == nil {
		return nil
	}
	return e.Before(ctx, method)
}

// ReadTextFile returns the text of the buffer, or of the file if no buffer holds
// it.
func (e *IDE) ReadTextFile(ctx context.Context, p sdk.ReadTextFileRequest) (sdk.ReadTextFileResponse, error) {
	if err := e.called(ctx, "fs/read_text_file"); err != nil {
		return sdk.ReadTextFileResponse{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if text, ok := e.buffers[p.Path]; ok {
		return sdk.ReadTextFileResponse{Content: text}, nil
	}
	b, err := os.ReadFile(p.Path) // an editor opens the file then
	if errors.Is(err, os.ErrNotExist) {
		return sdk.ReadTextFileResponse{}, &sdk.RequestError{Code: -32002, Message: "no such file"}
	}
	return sdk.ReadTextFileResponse{Content: string(b)}, err
}

// WriteTextFile changes the buffer, or the file if the editor saves.
func (e *IDE) WriteTextFile(ctx context.Context, p sdk.WriteTextFileRequest) (sdk.WriteTextFileResponse, error) {
	if err := e.called(ctx, "fs/write_text_file"); err != nil {
		return sdk.WriteTextFileResponse{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.Saves {
		return sdk.WriteTextFileResponse{}, os.WriteFile(p.Path, []byte(p.Content), 0o600)
	}
	e.buffers[p.Path] = p.Content
	return sdk.WriteTextFileResponse{}, nil
}

// RequestPermission keeps the question and chooses the option of the kind that
// Permit returns.
func (e *IDE) RequestPermission(ctx context.Context, p sdk.RequestPermissionRequest) (sdk.RequestPermissionResponse, error) {
	e.mu.Lock()
	e.asked = append(e.asked, p)
	e.mu.Unlock()
	if err := e.called(ctx, "session/request_permission"); err != nil {
		return sdk.RequestPermissionResponse{}, err
	}
	kind := sdk.PermissionOptionKindAllowOnce
	if e.Permit != nil {
		kind = e.Permit(p)
	}
	for _, o := range p.Options {
		if o.Kind == kind {
			return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeSelected(o.OptionId)}, nil
		}
	}
	return sdk.RequestPermissionResponse{Outcome: sdk.NewRequestPermissionOutcomeCancelled()}, nil
}

// Refusing returns a function for Before that answers one method with an error.
func Refusing(method string, code int, message string) func(context.Context, string) error {
	return func(_ context.Context, m string) error {
		if m == method {
			return &sdk.RequestError{Code: code, Message: message}
		}
		return nil
	}
}
