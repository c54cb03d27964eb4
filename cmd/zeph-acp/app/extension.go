package app

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/catalogue"
	"github.com/zeph-acp/zeph-acp/session"
)

// extensions returns the methods beyond the protocol; docs/client-authors.md describes
// them.
func extensions(sessions *session.Sessions) map[string]acp.Extension {
	return map[string]acp.Extension{
		"_session/rewind":        rewindMethod(sessions),
		"_session/rewind_points": sessionExtension(sessions, rewindPoints),
		"_zeph/tools":            extension(func(context.Context, struct{}) (any, error) { return tools(), nil }),
		"_zeph/mcp":              sessionExtension(sessions, servers),
		"_zeph/session/export":   sessionExtension(sessions, export),
		"_zeph/session/import":   extension(func(ctx context.Context, p importParams) (any, error) { return p.store(ctx, sessions) }),
	}
}

// extension adapts a method to [acp.Extension] by decoding its params.
func extension[P any](method func(context.Context, P) (any, error)) acp.Extension {
	return func(ctx context.Context, _ *acp.Client, raw json.RawMessage) (func() (any, error), error) {
		return func() (any, error) {
			var p P
			if err := acp.DecodeParams(raw, &p); err != nil {
				return nil, err
			}
			return method(ctx, p)
		}, nil
	}
}

// sessionExtension adapts a method about one session, whose id is the only param.
func sessionExtension(
	sessions *session.Sessions, method func(ctx context.Context, sessions *session.Sessions, id string) (any, error),
) acp.Extension {
	type params struct {
		SessionID *string `json:"sessionId"`
	}
	return extension(func(ctx context.Context, p params) (any, error) {
		if p.SessionID == nil {
			return nil, missingParam("sessionId")
		}
		return method(ctx, sessions, *p.SessionID)
	})
}

// missingParam returns the error about a required param that is missing.
func missingParam(field string) error { return &acp.ParamsError{Field: field, Reason: "is required"} }

// toolEntry is one tool in the answer to _zeph/tools.
type toolEntry struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Kind        string          `json:"kind"`
}

// tools answers _zeph/tools.
func tools() any {
	out := []toolEntry{}
	for _, t := range catalogue.Tools() {
		out = append(out, toolEntry{t.Name, t.Description, t.Offered(), string(t.Kind)})
	}
	return map[string]any{"tools": out}
}

// export answers _zeph/session/export.
func export(ctx context.Context, sessions *session.Sessions, id string) (any, error) {
	doc, err := sessions.Export(ctx, id)
	return map[string]any{"session": doc}, err
}

type importParams struct {
	Session *session.Export `json:"session"`
}

// store answers _zeph/session/import.
func (p importParams) store(ctx context.Context, sessions *session.Sessions) (any, error) {
	if p.Session == nil {
		return nil, missingParam("session")
	}
	id, err := sessions.Import(ctx, *p.Session)
	if wrong, ok := errors.AsType[*acp.ParamsError](err); ok {
		err = &acp.ParamsError{Field: "session." + wrong.Field, Reason: wrong.Reason}
	}
	return map[string]any{"sessionId": id}, err
}
