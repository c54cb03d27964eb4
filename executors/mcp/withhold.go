package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
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

// withhold returns the tools whose definition has changed since their first use and
// that the user does not approve now.
func (s *Session) withhold(ctx context.Context, offers []offer) map[string]bool {
	byServer := map[*joined]map[string]string{}
	for _, o := range offers {
		if byServer[o.server] == nil {
			byServer[o.server] = map[string]string{}
		}
		byServer[o.server][o.as] = o.definition
	}
	out := map[string]bool{}
	for _, server := range s.servers {
		if maps.Equal(s.checked[server], byServer[server]) {
			continue
		}
		changed := s.pool.Approvals.Pin(server.entry.pinned(), byServer[server])
		for _, tool := range slices.Sorted(maps.Keys(changed)) {
			now := byServer[server][tool]
			if !s.accepts(ctx, server, tool, changed[tool], now) {
				out[tool+"\x00"+server.prefix] = true
			}
		}
		if len(changed) == 0 {
			s.checked[server] = byServer[server]
		}
	}
	return out
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
