package app

import (
	"context"
	"encoding/json"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/executors/gates/anomaly"
	"github.com/zeph-acp/zeph-acp/executors/gates/flow"
	"github.com/zeph-acp/zeph-acp/executors/gates/trust"
	"github.com/zeph-acp/zeph-acp/executors/gates/utility"
	"github.com/zeph-acp/zeph-acp/executors/tools/mcp"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// gates are the gates of one session that keep state. Those that are off have no
// link.
type gates struct {
	trust   *trust.Trust
	flow    *flow.Flow
	anomaly *anomaly.Detector
	utility *utility.Gate
}

// newGates makes the gates of a session and connects those that depend on each other.
func (b *sessionBuilder) newGates(servers *mcp.Session) gates {
	g := gates{
		trust: trust.New(b.cfg.Tools.Trust), flow: flow.New(b.cfg.Tools.InformationFlow, b.dirs.home),
		anomaly: anomaly.New(b.cfg.Tools.Anomaly), utility: utility.New(b.cfg.Tools.Utility),
	}
	g.trust.Entry, g.trust.LowerOnly = servers.Trusted, b.app.isManaged("tools.trust")
	g.trust.Forget = g.anomaly.Forget
	g.trust.Save = stateSaver(b.session, trust.Name)
	g.flow.Trusted = func(server string) bool { return g.trust.LevelOf(trust.Server(server)) == trust.Trusted }
	g.flow.Save = stateSaver(b.session, flow.Name)
	g.anomaly.Block = g.trust.BlockTool
	g.anomaly.Blocked = g.trust.BlockedTool
	g.anomaly.Warn, g.anomaly.Withdraw, g.anomaly.Log = b.session.Warn, b.session.Withdraw, b.app.Log
	return g
}

// stateSaver returns a function that keeps the state of a gate in the log of the session.
func stateSaver(s session.Host, name string) func(json.RawMessage) {
	if s.Record == nil { // calls are only checked
		return nil
	}
	return func(state json.RawMessage) { s.Record(transcript.State{Name: name, Value: state}) }
}

// importedLabels returns the state of an imported session: any of its texts may be untrusted
// or secret.
func importedLabels() []transcript.Event {
	return []transcript.Event{transcript.State{Name: flow.Name, Value: flow.Both("an imported session")}}
}

// trustFeature checks calls by the level of their tool, server or skill, and of what the turn has read.
func (b *sessionBuilder) trustFeature(t *trust.Trust, command func(rest string) string) Feature {
	return Feature{
		Name: "trust", Link: t.Link(), OwnCalls: true, Status: t.Status,
		BeforeTurn: func() {
			t.Restore(b.session.State(trust.Name)) // another process may have continued the session
			t.Begin()
		},
		Builtins: []session.Builtin{{
			Name: "trust", Description: "Show the levels of trust, or set one", Hint: "[set SUBJECT LEVEL | reset SUBJECT]",
			Run: func(_ context.Context, rest string) string { return command(rest) },
		}},
	}
}

// flowFeature asks about calls that may send out what the session has read.
func (b *sessionBuilder) flowFeature(f *flow.Flow) Feature {
	return Feature{
		Name: "information_flow", Link: f.Link(), OwnCalls: true, Status: f.Status, Reset: f.Reset,
		BeforeTurn: func() { f.Restore(b.session.State(flow.Name)) },
		Turns:      func(a *agent.Agent) { a.Attached = func(_ context.Context, r *acp.Resource) { f.Attached(r.URI) } },
	}
}

// trustCommand returns the function that carries out the command /trust.
func trustCommand(t *trust.Trust, servers *mcp.Session, tools executors.Executor) func(rest string) string {
	return func(rest string) string {
		var serverNames, toolNames []string
		for _, s := range servers.Status() {
			serverNames = append(serverNames, s.Name)
		}
		for _, tool := range tools.Tools() {
			toolNames = append(toolNames, tool.Name)
		}
		return t.Command(rest, serverNames, toolNames)
	}
}
