package acp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sourcegraph/jsonrpc2"
)

// Client is the other side of the connection: the editor. Its methods may be
// called concurrently. A method that sends a request fails with a
// [*ClientError] if the client refuses, and with ctx's cause if ctx ends first.
// A late answer is ignored; sendCancel says when the client is notified.
type Client struct {
	stream      *stream
	conn        *jsonrpc2.Conn
	dialect     dialect                                 // set before any session is open
	fitV1       func(Implementation, ToolCall) ToolCall // see Server.Fit; may be nil
	initialized atomic.Pointer[InitializeRequest]       // the latest; nil before initialize

	sending sync.Mutex // held while a call is written, so that their ids are in order

	familiesMu sync.Mutex
	families   map[string]*family // by the id of the root; nil before the first
}

// Capabilities returns the client's capabilities from initialize; none before
// that.
func (c *Client) Capabilities() ClientCapabilities {
	if hello := c.initialized.Load(); hello != nil {
		return hello.ClientCapabilities
	}
	return ClientCapabilities{}
}

// Info returns the client's name and version; empty if initialize had none.
func (c *Client) Info() Implementation {
	if hello := c.initialized.Load(); hello != nil {
		return hello.ClientInfo
	}
	return Implementation{}
}

// notification is a frame that expects no answer.
type notification struct {
	JSONRPC string `json:"jsonrpc"`
	Method  string `json:"method"`
	Params  any    `json:"params"`
}

type sessionNotification struct {
	SessionID string        `json:"sessionId"`
	Update    SessionUpdate `json:"update"`
}

// Update sends a session/update in the form that the client reads, without images from the net in its
// Markdown. An update that the client cannot read is left out. If too much output is queued, it first waits
// until there is room or ctx ends. The update is sent in both cases. It calls ctx.Done only if it has
// to wait.
func (c *Client) Update(ctx context.Context, sessionID string, u SessionUpdate) error {
	c.stream.out.waitForRoom(ctx.Done)
	return c.family(sessionID).show(c, sessionID, withoutImages(u))
}

// ShowPrompt shows that a prompt is part of the conversation, under the id of its message. It does not wait.
func (c *Client) ShowPrompt(sessionID, messageID string, content []ContentBlock) {
	_ = c.family(sessionID).show(c, sessionID, UserMessage{messageID, content}) // a closed connection ends the turn by itself
}

// Closed ends the updates of a session: it was closed, and nothing is kept about it.
func (c *Client) Closed(sessionID string) {
	c.dialect.closed(sessionID)
	c.familiesMu.Lock()
	defer c.familiesMu.Unlock()
	delete(c.families, sessionID)
}

// fit adapts a tool call to a client of version 1.
func (c *Client) fit(call ToolCall) ToolCall {
	if _, ok := c.dialect.(version1); !ok || c.fitV1 == nil {
		return call
	}
	return c.fitV1(c.Info(), call)
}

// call sends a request and decodes its result into result.
func (c *Client) call(ctx context.Context, method string, params, result any) error {
	call, err := c.send(ctx, method, params)
	if err != nil {
		return err
	}
	if err = call.await(ctx, result); ctx.Err() != nil && err == context.Cause(ctx) {
		call.ignoreAnswer()
		c.sendCancel(call.id, err)
	}
	return err
}

// openCall is a request that was sent.
type openCall struct {
	client   *Client
	id       uint64
	method   string
	answered <-chan answer
}

// await waits for the answer to the request and decodes its result into result.
func (o openCall) await(ctx context.Context, result any) error {
	select {
	case a := <-o.answered:
		return o.decode(a, result)
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-o.client.conn.DisconnectNotify():
	}
	select {
	case a := <-o.answered: // it was the last frame
		return o.decode(a, result)
	default:
		return ErrClosed
	}
}

// decode decodes the result of an answer.
func (o openCall) decode(a answer, result any) error {
	if a.fault != nil {
		// Some libraries, such as sourcegraph/jsonrpc2, send 0 for errors without a code.
		code := cmp.Or(a.fault.Code, jsonrpc2.CodeInternalError)
		return &ClientError{Method: o.method, Code: code, Message: reasonOf(a.fault)}
	}
	if string(a.result) == "null" || isEmpty(a.result) { // null is documented for results that are empty objects
		a.result = json.RawMessage("{}")
	}
	if err := json.Unmarshal(a.result, result); err != nil {
		return &ClientError{Method: o.method, Message: "malformed result: " + wrongType(err).Error()}
	}
	return nil
}

// reasonOf returns the reason of a client's error. Clients of the TypeScript SDK answer
// each of their exceptions with "Internal error", and name the cause in data.details.
func reasonOf(fault *jsonrpc2.Error) string {
	var details string
	if fault.Data != nil {
		_ = json.Unmarshal(member(*fault.Data, "details"), &details) // otherwise it stays empty
	}
	switch {
	case fault.Message == "":
		return cmp.Or(details, fmt.Sprintf("error %d", fault.Code))
	case details == "" || strings.Contains(fault.Message, details):
		return fault.Message
	}
	return fault.Message + ": " + details
}

// ignoreAnswer ignores the answer, which may still arrive.
func (o openCall) ignoreAnswer() { o.client.stream.calls.forget(o.id) }

// sendCancel sends $/cancel_request for a request whose answer is no longer needed, if the dialect
// has it for that cause.
func (c *Client) sendCancel(id uint64, cause error) {
	if !c.dialect.withdraws(c, cause) {
		return
	}
	_ = c.stream.write(notification{"2.0", "$/cancel_request", map[string]uint64{"requestId": id}})
}

// send writes a request.
func (c *Client) send(ctx context.Context, method string, params any) (openCall, error) {
	if ctx.Err() != nil {
		return openCall{}, context.Cause(ctx)
	}
	select {
	case <-c.conn.DisconnectNotify():
		return openCall{}, ErrClosed
	default:
	}
	c.sending.Lock()
	defer c.sending.Unlock()
	call := openCall{client: c, method: method}
	call.id, call.answered = c.stream.calls.add()
	err := c.stream.write(message{JSONRPC: "2.0", ID: call.id, Method: method, Params: params})
	if err != nil {
		call.ignoreAnswer()
	}
	return call, err
}

// workEnded reports whether ctx was cancelled together with all the work that it belongs to, and not with a
// single call.
func workEnded(ctx context.Context) bool {
	cause := context.Cause(ctx)
	return errors.Is(cause, ErrTurnCancelled) || errors.Is(cause, ErrClosed)
}

// RequestPermission asks the user. A cancelled outcome is not an error here;
// see [PermissionOutcome].
func (c *Client) RequestPermission(ctx context.Context, p RequestPermissionRequest) (PermissionOutcome, error) {
	var o PermissionOutcome
	done, err := c.asking(ctx, p.SessionID, p.ToolCall.ToolCallID)
	if err != nil {
		return o, err
	}
	defer done()
	p.ToolCall = c.fit(p.ToolCall)
	err = c.call(ctx, "session/request_permission", c.dialect.question(p.shown()), &o)
	return o, err
}

// asking notes a question to the user about a tool call, whose id may be empty, until done is called. The
// question waits for the end of a replay, which may announce the call.
func (c *Client) asking(ctx context.Context, session, call string) (done func(), err error) {
	f := c.family(session)
	var answered func(ended bool)
	if err := f.live(ctx, func() { answered = c.dialect.asking(c, session, call) }); err != nil {
		return nil, err
	}
	return func() { _ = f.live(context.Background(), func() { answered(workEnded(ctx)) }) }, nil
}

// ReadTextFile returns the text of a file in the editor, unsaved changes
// included.
func (c *Client) ReadTextFile(ctx context.Context, sessionID, path string) (string, error) {
	var r struct {
		Content *string `json:"content"`
	}
	const method = "fs/read_text_file"
	if err := c.call(ctx, method, fileRequest{SessionID: sessionID, Path: path}, &r); err != nil {
		return "", err
	}
	if r.Content == nil {
		return "", &ClientError{Method: method, Message: "malformed result: no content"}
	}
	return *r.Content, nil
}

// WriteTextFile writes a whole file through the editor's buffer, which creates
// it if missing.
func (c *Client) WriteTextFile(ctx context.Context, sessionID, path, content string) error {
	return c.call(ctx, "fs/write_text_file", fileRequest{SessionID: sessionID, Path: path, Content: &content}, &emptyResult{})
}

// emptyResult is a result without members.
type emptyResult struct{}

// UnmarshalJSON fails for any other value, such as an error message.
func (*emptyResult) UnmarshalJSON(b []byte) error {
	if jsonKind(b) != "object" {
		return fmt.Errorf("%s instead of an object", b)
	}
	return nil
}

type fileRequest struct {
	SessionID string  `json:"sessionId"`
	Path      string  `json:"path" texts:"-"` // absolute
	Content   *string `json:"content,omitempty" texts:"-"`
}

// Terminal is a terminal of the client. It must be released.
type Terminal struct {
	ID      string
	client  *Client
	session string
}

// CreateTerminal starts a command in a terminal of the client.
func (c *Client) CreateTerminal(ctx context.Context, p CreateTerminalRequest) (*Terminal, error) {
	const method = "terminal/create"
	call, err := c.send(ctx, method, p)
	if err != nil {
		return nil, err
	}
	var r struct {
		TerminalID string `json:"terminalId"`
	}
	err = call.await(ctx, &r)
	if ctx.Err() != nil && err == context.Cause(ctx) {
		c.sendCancel(call.id, err)
		go func() { // release a terminal that arrives late, which would otherwise keep running
			if err := call.await(context.WithoutCancel(ctx), &r); err == nil && r.TerminalID != "" {
				(&Terminal{r.TerminalID, c, p.SessionID}).Release()
			}
		}()
		return nil, err
	}
	if err == nil && r.TerminalID == "" {
		err = &ClientError{Method: method, Message: "malformed result: no terminalId"}
	}
	return &Terminal{r.TerminalID, c, p.SessionID}, err
}

type terminalRequest struct {
	SessionID  string      `json:"sessionId"`
	TerminalID string      `json:"terminalId"`
	Meta       *OutputPart `json:"_meta,omitempty"`
}

// Output returns the terminal's output: only the tail if it exceeded the limit.
func (t *Terminal) Output(ctx context.Context) (TerminalOutput, error) { return t.output(ctx, nil) }

// OutputFrom returns the next part of the output from an offset on, and the offset after it in Meta. The
// last part is empty. The client must have [ClientCapabilities.OutputParts].
func (t *Terminal) OutputFrom(ctx context.Context, offset int64) (TerminalOutput, error) {
	r, err := t.output(ctx, &OutputPart{offset})
	if err == nil && r.Output != "" && (r.Meta == nil || r.Meta.From <= offset) {
		err = &ClientError{Method: "terminal/output", Message: "malformed result: no offset of the next part"}
	}
	return r, err
}

func (t *Terminal) output(ctx context.Context, part *OutputPart) (TerminalOutput, error) {
	var r TerminalOutput
	if err := t.client.call(ctx, "terminal/output", terminalRequest{t.session, t.ID, part}, &r); err != nil {
		return TerminalOutput{}, err // a malformed answer may be decoded in part
	}
	return r, nil
}

// Wait waits until the command has ended.
func (t *Terminal) Wait(ctx context.Context) (ExitStatus, error) {
	var r ExitStatus
	if err := t.client.call(ctx, "terminal/wait_for_exit", terminalRequest{SessionID: t.session, TerminalID: t.ID}, &r); err != nil {
		return ExitStatus{}, err // a malformed answer may be decoded in part
	}
	return r, nil
}

// Kill ends the command. The output remains.
func (t *Terminal) Kill(ctx context.Context) error {
	return t.client.call(ctx, "terminal/kill", terminalRequest{SessionID: t.session, TerminalID: t.ID}, &struct{}{})
}

// Release frees the terminal, which kills a command that still runs. It
// does not wait for the client's answer.
func (t *Terminal) Release() {
	call, err := t.client.send(context.Background(), "terminal/release", terminalRequest{SessionID: t.session, TerminalID: t.ID})
	if err != nil { // the client and its terminals no longer exist
		return
	}
	call.ignoreAnswer() // a refusal has no remedy
}
