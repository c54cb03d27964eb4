package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/zeph-acp/zeph-acp/executors/approval"
)

// pinned returns the name of an entry in the store of approvals. An entry with another command or
// address has another name.
func (s Server) pinned() string {
	sum := sha256.Sum256([]byte(s.Target()))
	return s.Name + " " + hex.EncodeToString(sum[:])[:16]
}

// ask asks the user about each server of the repository, once in a session, and starts
// the approved ones. Without a user it starts no server.
func (s *Session) ask(ctx context.Context) {
	for _, p := range s.pending {
		if s.desk.Allowed(ctx, *p.entry.subject) {
			s.add(p)
		}
		if ctx.Err() != nil {
			return
		}
	}
	s.pending = nil
}

// The reasons for which tools are withheld.
const (
	heldChanged   = "its definition has changed since its first use, and you have not approved that"
	heldUnchecked = "the file of approvals cannot be read, so its definition cannot be compared with that at its first use"
)

// withhold returns the tools that may not be used, with the reasons: their definitions
// have changed since their first use and the user does not approve that now, or they
// cannot be compared.
func (s *Session) withhold(ctx context.Context, offers []offer) map[string]string {
	byServer := map[*joined]map[string]string{}
	for _, o := range offers {
		if byServer[o.server] == nil {
			byServer[o.server] = map[string]string{}
		}
		byServer[o.server][o.as] = o.definition
	}
	out := map[string]string{}
	for _, server := range s.servers {
		if maps.Equal(s.checked[server], byServer[server]) {
			continue
		}
		changed, err := s.pool.Approvals.Pin(server.entry.pinned(), byServer[server])
		if err != nil {
			s.unchecked(err)
			for tool := range byServer[server] {
				out[tool+"\x00"+server.prefix] = heldUnchecked
			}
			continue
		}
		for _, tool := range slices.Sorted(maps.Keys(changed)) {
			now := byServer[server][tool]
			if !s.accepts(ctx, server, tool, changed[tool], now) {
				out[tool+"\x00"+server.prefix] = heldChanged
			}
		}
		if len(changed) == 0 {
			s.checked[server] = byServer[server]
		}
	}
	return out
}

// unchecked warns the user, once in a session, that tools are withheld.
func (s *Session) unchecked(err error) {
	if !s.warned {
		s.warned = true
		s.warn(fmt.Sprintf("The tools of MCP servers are withheld, since the file of approvals cannot be read: %s. Repair or remove %s in the data directory.", line(err.Error()), approval.FileName))
	}
}

// accepts asks the user about a changed definition, once in a session, and reports
// whether the tool may be used.
func (s *Session) accepts(ctx context.Context, server *joined, tool, before, now string) bool {
	key := server.prefix + "\x00" + tool + "\x00" + now
	answer, asked := s.answers[key]
	if asked || s.desk.Ask == nil {
		return answer != approval.No
	}
	answer = s.desk.Ask(ctx, approval.Question{
		Title: "Use " + line(tool) + " of the MCP server " + server.entry.Name + ", which has changed?", Before: before, After: now,
	})
	if answer == approval.Always {
		s.pool.Approvals.Accept(server.entry.pinned(), tool, now)
	}
	if ctx.Err() == nil {
		s.answers[key] = answer
	}
	return answer != approval.No
}
