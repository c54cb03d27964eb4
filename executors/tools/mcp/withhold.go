package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/zeph-acp/zeph-acp/executors/permission/approval"
)

// approvalKey returns the name of an entry in the store of approvals. An entry with another command or
// address has another name.
func (s Server) approvalKey() string {
	sum := sha256.Sum256([]byte(s.Target()))
	return s.Name + " " + hex.EncodeToString(sum[:])[:16]
}

// askServers asks the user about each server of the repository, once in a session, and starts
// the approved ones. Without a user it starts no server.
func (s *Session) askServers(ctx context.Context) {
	for _, p := range s.unapproved {
		if s.desk.Allowed(ctx, *p.entry.subject) {
			s.add(p)
		}
		if ctx.Err() != nil {
			return
		}
	}
	s.unapproved = nil
}

// The reasons for which tools are withheld.
const (
	reasonChanged   = "its definition has changed since its first use, and you have not approved that"
	reasonUnchecked = "the file of approvals cannot be read, so its definition cannot be compared with that at its first use"
)

// toolKey identifies a tool of a session by its name at its server.
type toolKey struct {
	server *sessionServer
	tool   string
}

// withhold returns the tools that may not be used, with the reasons: their definitions
// have changed since their first use and the user does not approve that now, or they
// cannot be compared.
func (s *Session) withhold(ctx context.Context, offers []offer) map[toolKey]string {
	byServer := map[*sessionServer]map[string]string{}
	for _, o := range offers {
		if byServer[o.server] == nil {
			byServer[o.server] = map[string]string{}
		}
		byServer[o.server][o.remoteName] = o.definition
	}
	out := map[toolKey]string{}
	for _, server := range s.servers {
		if maps.Equal(s.checked[server], byServer[server]) {
			continue
		}
		changed, err := s.pool.Approvals.Pin(server.entry.approvalKey(), byServer[server])
		if err != nil {
			s.warnUnchecked(err)
			for tool := range byServer[server] {
				out[toolKey{server, tool}] = reasonUnchecked
			}
			continue
		}
		for _, tool := range slices.Sorted(maps.Keys(changed)) {
			now := byServer[server][tool]
			if !s.acceptsChange(ctx, server, tool, changed[tool], now) {
				out[toolKey{server, tool}] = reasonChanged
			}
		}
		if len(changed) == 0 {
			s.checked[server] = byServer[server]
		}
	}
	return out
}

// warnUnchecked warns the user, once in a session, that tools are withheld.
func (s *Session) warnUnchecked(err error) {
	if !s.warned {
		s.warned = true
		s.warn(fmt.Sprintf("The tools of MCP servers are withheld, since the file of approvals cannot be read: %s. Repair or remove %s in the data directory.", oneLine(err.Error()), approval.FileName))
	}
}

// acceptsChange asks the user about a changed definition, once in a session, and reports
// whether the tool may be used.
func (s *Session) acceptsChange(ctx context.Context, server *sessionServer, tool, before, now string) bool {
	key := server.prefix + "\x00" + tool + "\x00" + now
	answer, asked := s.answers[key]
	if asked || s.desk.Ask == nil { // without a user, answer is its zero value, No
		return answer != approval.No
	}
	answer = s.desk.Ask(ctx, approval.Question{
		Title: "Use " + oneLine(tool) + " of the MCP server " + server.entry.Name + ", which has changed?", Before: before, After: now,
	})
	if answer == approval.Always {
		s.pool.Approvals.Accept(server.entry.approvalKey(), tool, now)
	}
	if ctx.Err() == nil {
		s.answers[key] = answer
	}
	return answer != approval.No
}
