package ideproxy

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors/tools/mcp"
)

// User asks the user of the client on behalf of MCP servers; it is an mcp.User.
type User struct {
	Client  *acp.Client
	Session string
}

// Forms reports whether the client shows forms.
func (u *User) Forms() bool { return u.Client.Capabilities().ElicitForm }

// Pages reports whether the client opens pages.
func (u *User) Pages() bool { return u.Client.Capabilities().ElicitURL }

// Elicit sends the question. An error means that the client did not ask the user.
func (u *User) Elicit(ctx context.Context, e mcp.Elicitation) (mcp.Elicited, error) {
	r, err := u.Client.Elicit(ctx, acp.ElicitRequest{
		SessionID: u.Session, ToolCallID: e.Call, Message: e.Message, Schema: e.Schema, URL: e.Page, ElicitationID: e.ID,
	})
	if err != nil {
		return mcp.Elicited{}, err
	}
	out := mcp.Elicited{Action: mcp.Action(r.Action)}
	if len(r.Content) > 0 {
		if err := json.Unmarshal(r.Content, &out.Content); err != nil {
			return mcp.Elicited{}, fmt.Errorf("the client's answer: %w", err)
		}
	}
	return out, nil
}

// Completed sends elicitation/complete. A client that has disconnected needs none.
func (u *User) Completed(id string) { _ = u.Client.ElicitComplete(id) }
