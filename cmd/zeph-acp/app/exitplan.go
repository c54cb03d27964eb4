package app

import (
	"context"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/ideproxy"
	"github.com/zeph-acp/zeph-acp/session/agent/native"
)

// exitPlan returns the tool with which a model asks the user to approve its plan. Without
// a user it is never offered.
func (b *sessionBuilder) exitPlan() *native.ExitPlan {
	e := &native.ExitPlan{Mode: b.session.Mode, SetMode: b.session.SetMode}
	for _, m := range b.app.modes() {
		e.Modes = append(e.Modes, m.ID)
	}
	if !b.app.NoUser {
		ask := (&ideproxy.Approver{Client: b.session.Client, Session: b.session.ID}).AskAbout
		e.Ask = func(ctx context.Context, call *executors.Call, options []native.Option) (string, error) {
			var offered []acp.PermissionOption
			for _, o := range options {
				offered = append(offered, acp.PermissionOption{OptionID: o.Kind, Kind: o.Kind, Name: o.Name})
			}
			return ask(ctx, call, acp.ToolCall{
				ToolCallID: call.ID, Name: call.Tool, Title: call.Card.Title, Kind: string(call.Card.Kind), Status: acp.ToolPending,
			}, offered)
		}
	}
	return e
}
