package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
)

// Question is a question to the user about a server.
type Question struct {
	Title string // one line
	Text  string // of the entry; may be empty
	// Before and After are the two definitions of a changed tool; both are empty in a
	// question about an entry.
	Before, After string
}

// Answer is the user's answer to a Question.
type Answer int

// The answers.
const (
	No     Answer = iota
	Once          // in this session
	Always        // and later
)

// Approvals store the entries of repositories that the user approved, and the
// definitions of tools at their first use. With a nil Approvals no entry is approved and
// every definition is. The methods may be called concurrently.
type Approvals struct {
	Load func() ([]byte, error) // returns the stored text; empty if there is none
	// Change replaces the stored text by the result of edit, while no other process
	// changes it. An error of edit changes nothing.
	Change func(edit func(old []byte) ([]byte, error)) error
	Log    func(error)
}

// approved is the content of the file of approvals.
type approved struct {
	Entries map[string]bool              `json:"entries"` // by Server.approval
	Tools   map[string]map[string]string `json:"tools"`   // definitions, by server and tool
}

// parseApproved returns the approvals of a stored text.
func parseApproved(data []byte) (approved, error) {
	kept := approved{}
	var err error
	if len(data) > 0 {
		err = json.Unmarshal(data, &kept)
	}
	if kept.Entries == nil {
		kept.Entries = map[string]bool{}
	}
	if kept.Tools == nil {
		kept.Tools = map[string]map[string]string{}
	}
	return kept, err
}

// change stores the approvals as edit leaves them. A text that cannot be read stays, so
// that no approval is lost by it. An approval that cannot be stored is asked about again.
func (a *Approvals) change(edit func(kept approved)) {
	err := a.Change(func(old []byte) ([]byte, error) {
		kept, err := parseApproved(old)
		if err != nil {
			return nil, err
		}
		edit(kept)
		return json.Marshal(kept)
	})
	if err != nil {
		a.Log(err)
	}
}

// has reports whether the entry of a repository is approved.
func (a *Approvals) has(approval string) bool {
	if a == nil {
		return false
	}
	data, err := a.Load()
	var kept approved
	if err == nil {
		kept, err = parseApproved(data)
	}
	if err != nil {
		a.Log(err)
		return false
	}
	return kept.Entries[approval]
}

// approve stores the approval of a repository's entry.
func (a *Approvals) approve(approval string) {
	if a == nil {
		return
	}
	a.change(func(kept approved) { kept.Entries[approval] = true })
}

// pin stores the definitions of new tools. For each tool whose definition differs from
// the one at its first use, it returns that first definition.
func (a *Approvals) pin(server string, definitions map[string]string) (changed map[string]string) {
	if a == nil || len(definitions) == 0 {
		return nil
	}
	changed = map[string]string{}
	a.change(func(kept approved) {
		known := kept.tools(server)
		for tool, definition := range definitions {
			before, ok := known[tool]
			switch {
			case !ok:
				known[tool] = definition
			case before != definition:
				changed[tool] = before
			}
		}
	})
	return changed
}

// accept replaces the stored definition of a tool.
func (a *Approvals) accept(server, tool, definition string) {
	a.change(func(kept approved) { kept.tools(server)[tool] = definition })
}

// tools returns the definitions of a server's tools.
func (a approved) tools(server string) map[string]string {
	if a.Tools[server] == nil {
		a.Tools[server] = map[string]string{}
	}
	return a.Tools[server]
}

// pinned returns the name of an entry in Approvals. An entry with another command or
// address has another name.
func (s Server) pinned() string {
	sum := sha256.Sum256([]byte(s.Target()))
	return s.Name + " " + hex.EncodeToString(sum[:])[:16]
}

// ask asks the user about each server of the repository, once in a session, and starts
// the approved ones. Without a user it starts no server.
func (s *Session) ask(ctx context.Context) {
	for _, p := range s.pending {
		if s.question == nil || ctx.Err() != nil {
			return
		}
		answer := s.question(ctx, Question{
			Title: "Start the MCP server " + p.entry.Name + " that this project's " + ProjectFile + " names?",
			Text:  p.entry.shown,
		})
		if answer == Always {
			s.pool.Approvals.approve(p.entry.approval)
		}
		if answer != No {
			s.add(p)
		}
	}
	if ctx.Err() == nil {
		s.pending = nil
	}
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
		changed := s.pool.Approvals.pin(server.entry.pinned(), byServer[server])
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
	if asked || s.question == nil {
		return answer != No
	}
	answer = s.question(ctx, Question{
		Title: "Use " + line(tool) + " of the MCP server " + server.entry.Name + ", which has changed?", Before: before, After: now,
	})
	if answer == Always {
		s.pool.Approvals.accept(server.entry.pinned(), tool, now)
	}
	if ctx.Err() == nil {
		s.answers[key] = answer
	}
	return answer != No
}
