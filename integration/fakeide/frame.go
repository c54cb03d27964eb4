package fakeide

import (
	"context"
	"encoding/json"
	"errors"

	sdk "github.com/coder/acp-go-sdk"
)

// Answer answers a request whose params are JSON.
func (e *IDE) Answer(ctx context.Context, method string, params json.RawMessage) (any, error) {
	switch method {
	case "session/request_permission":
		return decoded(ctx, params, e.RequestPermission)
	case "fs/read_text_file":
		return decoded(ctx, params, e.ReadTextFile)
	case "fs/write_text_file":
		return decoded(ctx, params, e.WriteTextFile)
	case "terminal/create":
		return decoded(ctx, params, e.CreateTerminal)
	case "terminal/output":
		return decoded(ctx, params, e.TerminalOutput)
	case "terminal/wait_for_exit":
		return decoded(ctx, params, e.WaitForTerminalExit)
	case "terminal/kill":
		return decoded(ctx, params, e.KillTerminal)
	case "terminal/release":
		return decoded(ctx, params, e.ReleaseTerminal)
	}
	e.t.Errorf("the agent calls %s", method)
	return nil, &sdk.RequestError{Code: -32601, Message: "Method not found"}
}

// decoded calls does with decoded params.
func decoded[P, R any](ctx context.Context, params json.RawMessage, does func(context.Context, P) (R, error)) (any, error) {
	var p P
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, &sdk.RequestError{Code: -32602, Message: err.Error()}
	}
	return does(ctx, p)
}

// RefusalOf returns an error of Answer as a response carries it.
func RefusalOf(err error) *sdk.RequestError {
	if refused, ok := errors.AsType[*sdk.RequestError](err); ok {
		return refused
	}
	return &sdk.RequestError{Code: -32603, Message: err.Error()}
}
