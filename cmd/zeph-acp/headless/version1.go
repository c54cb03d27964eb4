package headless

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/zeph-acp/zeph-acp/acp"
)

// dialect is a version of the protocol as this client speaks it.
type dialect interface {
	// initialize returns the params of that request.
	initialize() any
	// opened follows the session that was opened, and returns the ids of its modes.
	opened(session string, state json.RawMessage) (modes []string, err error)
	// set sets the option acp.CategoryMode or acp.CategoryModel of the session.
	set(call Call, session, option, value string) error
	// begin sends a prompt. wait returns when its work has ended.
	begin(ctx context.Context, conn *jsonrpc2.Conn, session string, prompt []acp.ContentBlock) (wait func() (acp.StopReason, error), err error)
	// steer is a Steer for the session.
	steer(ctx context.Context, conn *jsonrpc2.Conn, session, text string) (outcome string, isPrompt bool)
	// update shows a session/update, whose params these are. It runs on the read goroutine.
	update(params json.RawMessage)
	// request returns the params of a request in the form of version 1. It runs on the read
	// goroutine.
	request(method string, params json.RawMessage) json.RawMessage
	// methods are the requests that the agent may send.
	methods() map[string]method
}

// version1 has buffers and terminals for the agent.
type version1 struct{ *client }

var methods1 = map[string]method{
	"fs/read_text_file":          typedMethod((*client).readTextFile),
	"fs/write_text_file":         typedMethod((*client).writeTextFile),
	"terminal/create":            typedMethod((*client).createTerminal),
	"terminal/output":            typedMethod((*client).terminalOutput),
	"terminal/wait_for_exit":     terminalMethod(terminal.wait),
	"terminal/kill":              terminalMethod(terminal.kill),
	"terminal/release":           typedMethod((*client).releaseTerminal),
	"session/request_permission": typedMethod((*client).requestPermission),
}

func (version1) methods() map[string]method { return methods1 }

func (v version1) initialize() any {
	return map[string]any{
		"protocolVersion":    acp.Version,
		"clientCapabilities": acp.ClientCapabilities{ReadTextFile: true, WriteTextFile: true, Terminal: true, OutputParts: true},
		"clientInfo":         v.info(),
	}
}

func (version1) opened(_ string, state json.RawMessage) (modes []string, err error) {
	var r acp.NewSessionResponse
	err = json.Unmarshal(state, &r)
	for _, m := range r.Modes.AvailableModes {
		modes = append(modes, m.ID)
	}
	return modes, err
}

func (version1) set(call Call, session, option, value string) error {
	return call("session/set_"+option, map[string]any{"sessionId": session, option + "Id": value}, nil)
}

func (version1) begin(ctx context.Context, conn *jsonrpc2.Conn, session string, prompt []acp.ContentBlock) (func() (acp.StopReason, error), error) {
	answer, err := conn.DispatchCall(ctx, "session/prompt", map[string]any{"sessionId": session, "prompt": prompt})
	return func() (acp.StopReason, error) {
		var response acp.PromptResponse
		err := answer.Wait(ctx, &response)
		return response.StopReason, err
	}, err
}

func (version1) steer(ctx context.Context, conn *jsonrpc2.Conn, session, text string) (outcome string, isPrompt bool) {
	var r acp.SteeringResponse
	err := conn.Call(ctx, "_session/steering", map[string]any{
		"sessionId": session, "prompt": []acp.ContentBlock{acp.TextBlock(text)},
		"_meta": map[string]any{"steering": map[string]any{"idleBehavior": acp.SteeringPromptRequired}},
	}, &r)
	switch {
	case err != nil:
		return fmt.Sprintf("Not added (%v)", err), false
	case r.Outcome == acp.SteeringInjected:
		return added, false
	case r.Outcome == acp.SteeringPromptRequired:
		return "Not added, since the turn takes no text now", true
	}
	return fmt.Sprintf("Not added (%s)", r.Reason), false
}

// added is the outcome of a text that the model will see.
const added = "Added to the turn"

func (v version1) update(params json.RawMessage) { v.View.Update(params) }

func (version1) request(_ string, params json.RawMessage) json.RawMessage { return params }
