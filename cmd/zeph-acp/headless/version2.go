package headless

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/zeph-acp/zeph-acp/acp"
)

// version2 follows the states of the session: a prompt is answered when it is a part of the conversation, and
// its work ends with an idle state.
type version2 struct {
	*client

	// Of the read goroutine.
	calls    map[string]acp.ToolCall // open tool calls by id, those of child sessions too
	shown    map[string]bool         // the calls that the view knows, by id
	children map[string]*child2      // child sessions by id

	mu         sync.Mutex
	mode       string        // the id of the last one
	unanswered int           // prompts that have no response
	working    bool          // a prompt was inserted after the last idle state
	ended      *ending       // how the last work ended; nil if none has since the prompt
	done       chan struct{} // closed when all work has ended; nil if no one waits
}

// ending is how work ended.
type ending struct {
	stop acp.StopReason
	err  error
}

func newVersion2(c *client) *version2 {
	return &version2{
		client: c, calls: map[string]acp.ToolCall{}, shown: map[string]bool{}, children: map[string]*child2{},
	}
}

var methods2 = map[string]method{
	"session/request_permission": typedMethod((*client).requestPermission),
	"elicitation/create":         typedMethod((*client).elicit),
}

func (*version2) methods() map[string]method { return methods2 }

func (v *version2) initialize() any {
	capabilities := map[string]any{}
	if v.Elicitor != nil {
		capabilities["elicitation"] = map[string]any{"form": struct{}{}, "url": struct{}{}}
	}
	return map[string]any{"protocolVersion": 2, "info": v.info(), "capabilities": capabilities}
}

// opened shows the commands too, since no update repeats them.
func (v *version2) opened(session string, state json.RawMessage) (modes []string, err error) {
	var r struct {
		Options  []option2       `json:"configOptions"`
		Commands json.RawMessage `json:"availableCommands"`
	}
	if err := json.Unmarshal(state, &r); err != nil {
		return nil, err
	}
	for _, o := range r.Options {
		if o.ID == acp.CategoryMode {
			v.changedMode(o.value())
			for _, choice := range o.Options {
				modes = append(modes, choice.Value)
			}
		}
	}
	v.show(session, commandsOf(r.Commands))
	return modes, nil
}

// changedMode reports whether a mode is another one than before.
func (v *version2) changedMode(mode string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	before := v.mode
	v.mode = mode
	return before != mode
}

func (v *version2) set(call Call, session, option, value string) error {
	return call("session/set_config_option", map[string]any{"sessionId": session, "configId": option, "type": "id", "value": value}, nil)
}

func (v *version2) begin(ctx context.Context, conn *jsonrpc2.Conn, session string, prompt []acp.ContentBlock) (func() (acp.StopReason, error), error) {
	done := make(chan struct{})
	v.mu.Lock()
	v.ended, v.done = nil, done
	v.unanswered++
	v.mu.Unlock()
	answer, err := conn.DispatchCall(ctx, "session/prompt", map[string]any{"sessionId": session, "prompt": prompt})
	return func() (acp.StopReason, error) {
		err := answer.Wait(ctx, nil)
		v.answered()
		if refused, ok := errors.AsType[*jsonrpc2.Error](err); ok && refused.Code == codeCancelled {
			return acp.StopCancelled, nil
		}
		if err != nil {
			return "", err
		}
		select {
		case <-done:
			v.mu.Lock()
			defer v.mu.Unlock()
			return v.ended.stop, v.ended.err
		case <-conn.DisconnectNotify():
			return "", jsonrpc2.ErrClosed
		}
	}, err
}

// steer sends a second prompt. If the work has just ended, it is work of its own, which the turn waits for.
func (v *version2) steer(ctx context.Context, conn *jsonrpc2.Conn, session, text string) (outcome string, isPrompt bool) {
	v.mu.Lock()
	v.unanswered++
	v.mu.Unlock()
	defer v.answered()
	err := conn.Call(ctx, "session/prompt", map[string]any{"sessionId": session, "prompt": []acp.ContentBlock{acp.TextBlock(text)}}, nil)
	if err != nil {
		return fmt.Sprintf("Not added (%v)", err), false
	}
	return added, false
}

// answered notes the response to a prompt.
func (v *version2) answered() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.unanswered--
	v.settle()
}

// settle ends the wait if no work is left. The caller holds mu.
func (v *version2) settle() {
	if v.done != nil && v.ended != nil && !v.working && v.unanswered == 0 {
		close(v.done)
		v.done = nil
	}
}

// inserted notes that a prompt is a part of the conversation.
func (v *version2) inserted() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.working = true
}

// state2 is a state_update.
type state2 struct {
	State      string          `json:"state"`
	StopReason acp.StopReason  `json:"stopReason"`
	Error      *jsonrpc2.Error `json:"error"`
}

// state notes a state of the session. Only the idle state after work has a stop reason.
func (v *version2) state(s state2) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if s.State != acp.SubagentIdle || s.StopReason == "" || !v.working {
		return
	}
	v.working, v.ended = false, &ending{stop: s.StopReason}
	if s.Error != nil {
		v.ended = &ending{err: s.Error}
	}
	v.settle()
}

// request returns the params of a permission request in the form of version 1. The subject is only what the
// question adds to the call, so the rest is from the updates before. The view is shown the call of a child session
// as a call of the session itself.
func (v *version2) request(name string, params json.RawMessage) json.RawMessage {
	if name != "session/request_permission" {
		return params
	}
	var p struct {
		Session     string                 `json:"sessionId"`
		Title       string                 `json:"title"`
		Description string                 `json:"description"`
		Options     []acp.PermissionOption `json:"options"`
		Subject     struct {
			ToolCall call2 `json:"toolCall"`
		} `json:"subject"`
	}
	if json.Unmarshal(params, &p) != nil {
		return params
	}
	session := v.root(p.Session)
	known, announced := v.calls[p.Subject.ToolCall.ID]
	call := p.Subject.ToolCall.patch(known)
	if announced && !v.shown[call.ToolCallID] {
		v.showCall(session, call)
	}
	call.Title, call.Update, call.Status = p.Title, "", acp.ToolPending
	if p.Description != "" {
		call.Content = append(call.Content[:len(call.Content):len(call.Content)], acp.BlockContent(acp.TextBlock(p.Description)))
	}
	return encoded(acp.RequestPermissionRequest{SessionID: session, ToolCall: call, Options: p.Options})
}

// elicitRequest is an acp.ElicitRequest on the wire.
type elicitRequest struct {
	ToolCallID string          `json:"toolCallId"`
	Message    string          `json:"message"`
	Mode       string          `json:"mode"`
	Schema     json.RawMessage `json:"requestedSchema"`
	URL        string          `json:"url"`
}

// elicit asks the user. A question of an unknown mode is cancelled.
func (c *client) elicit(ctx context.Context, p elicitRequest) (any, error) {
	if c.Elicitor == nil || p.Mode != "form" && p.Mode != "url" {
		return map[string]any{"action": acp.ElicitCancel}, nil
	}
	ctx, stop := c.untilCancelled(ctx)
	defer stop()
	r := c.Elicitor.Elicit(ctx, acp.ElicitRequest{ToolCallID: p.ToolCallID, Message: p.Message, Schema: p.Schema, URL: p.URL})
	answer := map[string]any{"action": r.Action}
	if r.Content != nil {
		answer["content"] = r.Content
	}
	return answer, nil
}
