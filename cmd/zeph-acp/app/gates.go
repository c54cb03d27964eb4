package app

import (
	"encoding/json"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors/infoflow"
	"github.com/zeph-acp/zeph-acp/executors/mcp"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// informationFlow returns the labels of a session.
func informationFlow(cfg config.Config, s session.Setup, home string, servers *mcp.Session) *infoflow.Flow {
	f := infoflow.New(cfg.Tools.InformationFlow, home)
	f.Trusted = servers.Trusted
	f.Save = func(state json.RawMessage) {
		s.Record(transcript.State{Name: infoflow.Name, Value: state, Restricts: true})
	}
	return f
}

// restore brings the state of the gates up to date before a turn: another process
// may have continued the session.
func (k *keeper) restore(s session.Setup) {
	k.flow.Restore(s.State(infoflow.Name))
}
