package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"sync"
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
	Load func() ([]byte, error) // returns what was saved, or nothing
	Save func([]byte) error
	Log  func(error)

	mu sync.Mutex
}

// approved is the content of the file of approvals.
type approved struct {
	Entries map[string]bool              `json:"entries"` // by Server.approval
	Tools   map[string]map[string]string `json:"tools"`   // definitions, by server and tool
}

// read returns what is saved now, also by other processes; mu is held.
func (a *Approvals) read() approved {
	kept := approved{}
	data, err := a.Load()
	if err == nil && len(data) > 0 {
		err = json.Unmarshal(data, &kept)
	}
	if err != nil {
		a.Log(err)
	}
	if kept.Entries == nil {
		kept.Entries = map[string]bool{}
	}
	if kept.Tools == nil {
		kept.Tools = map[string]map[string]string{}
	}
	return kept
}

// write saves; mu is held. What cannot be saved is asked about again.
func (a *Approvals) write(kept approved) {
	data, err := json.Marshal(kept)
	if err == nil {
		err = a.Save(data)
	}
	if err != nil {
		a.Log(err)
	}
}

// has reports whether the entry of a repository is approved.
func (a *Approvals) has(approval string) bool {
	if a == nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.read().Entries[approval]
}

// approve stores the approval of a repository's entry.
func (a *Approvals) approve(approval string) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	kept := a.read()
	kept.Entries[approval] = true
	a.write(kept)
}

// pin stores the definitions of new tools. For each tool whose definition differs from
// the one at its first use, it returns that first definition.
func (a *Approvals) pin(server string, definitions map[string]string) (changed map[string]string) {
	if a == nil || len(definitions) == 0 {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	kept := a.read()
	known := kept.Tools[server]
	if known == nil {
		known = map[string]string{}
		kept.Tools[server] = known
	}
	changed, more := map[string]string{}, false
	for tool, definition := range definitions {
		before, ok := known[tool]
		switch {
		case !ok:
			known[tool], more = definition, true
		case before != definition:
			changed[tool] = before
		}
	}
	if more {
		a.write(kept)
	}
	return changed
}

// accept replaces the stored definition of a tool.
func (a *Approvals) accept(server, tool, definition string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	kept := a.read()
	if kept.Tools[server] == nil {
		kept.Tools[server] = map[string]string{}
	}
	kept.Tools[server][tool] = definition
	a.write(kept)
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
