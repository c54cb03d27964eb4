package app

import (
	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/executors/policy"
)

// modes lists the modes as clients show them.
func modes() []acp.SessionMode {
	var out []acp.SessionMode
	for _, m := range policy.Modes() {
		out = append(out, acp.SessionMode{ID: m.ID, Name: m.Name, Description: m.Description})
	}
	return out
}
