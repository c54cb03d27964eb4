package schema

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// shown2 is what a client of version 2 was shown. It checks the rules that span updates, which no schema has.
type shown2 struct {
	replays  map[string]string // the session of each open session/resume with history, by the id's JSON
	sessions map[string]*session2
}

// session2 is one session or child session.
type session2 struct {
	children   []string
	calls      map[string]*call2
	terminals  map[string]bool // whether they have ended
	background []string        // as last listed
	reported   bool            // a state has listed the work in the background
}

type call2 struct {
	status string
	parts  []string // the types of the terminals and changes in its content
	cancel bool     // the client may cancel it
}

// kinds2 are the kinds of tool calls that a client of version 2 knows.
var kinds2 = []string{"read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"}

// update2 is an update of version 2, as far as the rules need it.
type update2 struct {
	Kind         string          `json:"sessionUpdate"`
	ToolCallID   string          `json:"toolCallId"`
	TerminalID   string          `json:"terminalId"`
	SessionID    string          `json:"sessionId"`
	ToolKind     string          `json:"kind"`
	Status       string          `json:"status"`
	Content      json.RawMessage `json:"content"`
	ExitStatus   json.RawMessage `json:"exitStatus"`
	Capabilities json.RawMessage `json:"capabilities"`
	State        json.RawMessage `json:"state"`
	Background   *[]struct {
		Type       string `json:"type"`
		TerminalID string `json:"terminalId"`
	} `json:"background"`
}

func (s *shown2) session(id string) *session2 {
	if s.sessions == nil {
		s.sessions = map[string]*session2{}
	}
	if s.sessions[id] == nil {
		s.sessions[id] = &session2{calls: map[string]*call2{}, terminals: map[string]bool{}}
	}
	return s.sessions[id]
}

// request notes a request of the client.
func (s *shown2) request(id, method string, params json.RawMessage) {
	var p struct {
		SessionID  string
		ReplayFrom any
	}
	if method == "session/resume" && json.Unmarshal(params, &p) == nil && p.ReplayFrom != nil {
		if s.replays == nil {
			s.replays = map[string]string{}
		}
		s.replays[id] = p.SessionID
	}
}

// response notes the response to a request of the client.
func (s *shown2) response(id string) { delete(s.replays, id) }

// replaying reports whether the history of a session is being sent.
func (s *shown2) replaying(session string) bool {
	root, _, _ := strings.Cut(session, "/")
	for _, id := range s.replays {
		if id == root {
			return true
		}
	}
	return false
}

// update checks an update, and remembers it.
func (s *shown2) update(params json.RawMessage) error {
	var p struct {
		SessionID string `json:"sessionId"`
		Update    json.RawMessage
	}
	var u update2
	var members map[string]json.RawMessage
	if err := json.Unmarshal(params, &p); err != nil {
		return err
	}
	_ = json.Unmarshal(p.Update, &u) // a member that another kind of update has in another form
	if err := json.Unmarshal(p.Update, &members); err != nil {
		return err
	}
	at := s.session(p.SessionID)
	if root, _, isChild := strings.Cut(p.SessionID, "/"); isChild && !slices.Contains(s.session(root).children, p.SessionID) {
		return fmt.Errorf("an update of the child session %s, which was not announced", p.SessionID)
	}
	switch u.Kind {
	case "subagent_update":
		at.children = append(at.children, u.SessionID)
	case "tool_call_content_chunk":
		return fmt.Errorf("a part of the content of %s: the agent sends it as a whole", u.ToolCallID)
	case "tool_call_update":
		return at.call(u, members, s.replaying(p.SessionID))
	case "terminal_update":
		at.terminal(u)
	case "state_update":
		return at.state(u)
	}
	return nil
}

// call checks an update of a tool call.
func (s *session2) call(u update2, members map[string]json.RawMessage, replaying bool) error {
	known := s.calls[u.ToolCallID]
	_, announced := members["name"] // a replay announces each call again, one that has ended by a single update
	if known == nil || replaying && (announced || u.Status == "pending") {
		known = &call2{}
		s.calls[u.ToolCallID] = known
	}
	fault := func(format string, args ...any) error {
		return fmt.Errorf("tool call %s: %s", u.ToolCallID, fmt.Sprintf(format, args...))
	}
	if u.ToolKind != "" && !slices.Contains(kinds2, u.ToolKind) {
		return fault("unknown kind %q", u.ToolKind)
	}
	for name, value := range members {
		if cleared := string(value) == "null" || string(value) == "[]"; cleared && !replaying && name != "capabilities" {
			return fault("%s is cleared", name)
		}
	}
	if u.Content != nil {
		var content []struct{ Type, TerminalID, SessionID string }
		_ = json.Unmarshal(u.Content, &content)
		var parts []string
		for _, c := range content {
			switch c.Type {
			case "terminal":
				if _, announced := s.terminals[c.TerminalID]; !announced {
					return fault("shows the terminal %s, which was not announced", c.TerminalID)
				}
				parts = append(parts, c.Type)
			case "diff":
				parts = append(parts, c.Type)
			case "session":
				if !slices.Contains(s.children, c.SessionID) {
					return fault("shows the session %s, which was not announced", c.SessionID)
				}
			}
		}
		for _, part := range known.parts {
			if !slices.Contains(parts, part) {
				return fault("the %s of its content is gone", part)
			}
		}
		known.parts = parts
	}
	final := []string{"completed", "failed", "cancelled"}
	switch {
	case u.Status == "":
	case slices.Contains(final, known.status):
		return fault("%s after %s", u.Status, known.status)
	case u.Status == "pending" && known.status != "":
		return fault("pending again")
	default:
		known.status = u.Status
	}
	if u.Capabilities != nil {
		known.cancel = string(u.Capabilities) != "null"
	}
	if known.cancel && slices.Contains(final, known.status) {
		return fault("offers a cancel although it has ended")
	}
	return nil
}

// terminal notes an update of a terminal.
func (s *session2) terminal(u update2) {
	ended := s.terminals[u.TerminalID]
	if u.ExitStatus != nil {
		ended = string(u.ExitStatus) != "null"
	}
	s.terminals[u.TerminalID] = ended
}

// state checks the work in the background of a state.
func (s *session2) state(u update2) error {
	if u.Background == nil {
		if s.reported {
			return fmt.Errorf("a state without the work in the background")
		}
		return nil
	}
	var listed []string
	for _, w := range *u.Background {
		if w.Type != "terminal" {
			return fmt.Errorf("work of type %q in the background", w.Type)
		}
		if ended, announced := s.terminals[w.TerminalID]; ended || !announced {
			return fmt.Errorf("the terminal %s in the background was not announced, or has ended", w.TerminalID)
		}
		listed = append(listed, w.TerminalID)
	}
	for _, id := range s.background {
		if !slices.Contains(listed, id) && !s.terminals[id] {
			return fmt.Errorf("the terminal %s is no longer in the background, but has not ended", id)
		}
	}
	s.background, s.reported = listed, true
	return nil
}
