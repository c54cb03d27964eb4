package app

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/zeph-acp/zeph-acp/executors/gates/anomaly"
	"github.com/zeph-acp/zeph-acp/executors/gates/flow"
	"github.com/zeph-acp/zeph-acp/executors/gates/trust"
	"github.com/zeph-acp/zeph-acp/executors/gates/utility"
	"github.com/zeph-acp/zeph-acp/session"
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
func (b *sessionBuilder) newGates() gates {
	g := gates{
		trust: trust.New(b.cfg.Tools.Trust), flow: flow.New(b.cfg.Tools.InformationFlow, b.dirs.home),
		anomaly: anomaly.New(b.cfg.Tools.Anomaly), utility: utility.New(b.cfg.Tools.Utility),
	}
	g.trust.Entry, g.trust.LowerOnly = b.tools.mcp.Trusted, b.app.isManaged("tools.trust")
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
func stateSaver(s session.Setup, name string) func(json.RawMessage) {
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

// begin brings the gates up to date before a turn: another process may have
// continued the session.
func (g gates) begin(s session.Setup) {
	g.trust.Restore(s.State(trust.Name))
	g.trust.Begin()
	g.flow.Restore(s.State(flow.Name))
	g.utility.Begin()
}

// reset drops the state that belongs to the conversation.
func (g gates) reset() {
	g.flow.Reset()
	g.anomaly.Reset()
	g.utility.Reset()
}

// status returns the lines of the gates for /status.
func (g gates) status() []string {
	return slices.Concat(g.trust.Status(), g.flow.Status())
}

// Trust carries out the command /trust.
func (st *sessionTools) Trust(_ context.Context, rest string) string {
	var servers []string
	for _, s := range st.mcp.Status() {
		servers = append(servers, s.Name)
	}
	var tools []string
	for _, t := range st.tools.Tools() {
		tools = append(tools, t.Name)
	}
	return st.gates.trust.Command(rest, servers, tools)
}
