package acp

import (
	"cmp"
	"encoding/base64"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/zeph-acp/zeph-acp/filter/text/texts"
)

// version2 encodes frames for a client of version 2. It also keeps what it has sent about each session,
// because later frames depend on it: the state of the session, which version 1 does not have, and the
// order of a replay.
//
// Source: https://agentclientprotocol.com/protocol/v2/overview
type version2 struct {
	mu       sync.Mutex
	sessions map[string]*shownSession // the open ones by id, child sessions too
	retries  map[retry]*insertion     // prompts with a key that are not answered yet
}

func newVersion2() *version2 {
	return &version2{sessions: map[string]*shownSession{}, retries: map[retry]*insertion{}}
}

// handlers2 lists the methods of version 2.
var handlers2 = map[string]handler{
	"initialize":                typed((*Server).initialize),
	"auth/login":                typed((*Server).login2),
	"auth/logout":               typed((*Server).logout),
	"session/new":               typed((*Server).newSession2),
	"session/resume":            typed((*Server).resumeSession2),
	"session/list":              typed((*Server).listSessions),
	"session/close":             typed((*Server).closeSession2),
	"session/delete":            typed((*Server).deleteSession),
	"session/prompt":            typed((*Server).prompt2),
	"session/cancel":            typed((*Server).cancel),
	"session/set_config_option": typed((*Server).setOption2),
	"tool_call/cancel":          typed((*Server).cancelToolCall),
	"terminal/cancel":           typed((*Server).cancelTerminal),
	"$/cancel_request":          typed((*Server).cancelRequest),
}

func (*version2) methods() map[string]handler { return handlers2 }

// withdraws is true after session/cancel too: version 2 demands it.
func (*version2) withdraws(*Client, error) bool { return true }

// session returns what was sent to the client about a session. Nothing is kept about a session that is
// not open. The caller holds mu.
func (d *version2) session(id string) *shownSession {
	s := d.sessions[id]
	if s == nil {
		s = &shownSession{id: id, calls: map[string]*shownCall{}}
		if d.sessions[rootOf(id)] != nil {
			d.sessions[id] = s
		}
	}
	return s
}

// opened notes that the client has a session open. The caller holds mu.
func (d *version2) opened(id string) {
	if d.sessions[id] == nil {
		d.sessions[id] = &shownSession{id: id, calls: map[string]*shownCall{}}
	}
}

// created notes a new session.
func (d *version2) created(id string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.opened(id)
}

// closed forgets a session and its child sessions. No frame about them follows.
func (d *version2) closed(session string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	maps.DeleteFunc(d.sessions, func(id string, _ *shownSession) bool { return rootOf(id) == session })
}

// rootOf returns the session that a child session belongs to, or the session itself.
func rootOf(session string) string {
	root, _, _ := strings.Cut(session, "/")
	return root
}

// update writes the frames of an update.
func (d *version2) update(c *Client, session string, u SessionUpdate) error {
	u = c.stream.masked(session, u)
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.write(c, d.frames(session, u))
}

// write writes the frames of open sessions. The caller holds mu.
func (d *version2) write(c *Client, frames []wireUpdate) error {
	frames = slices.DeleteFunc(frames, func(f wireUpdate) bool { return d.sessions[rootOf(f.SessionID)] == nil })
	return c.stream.writeUpdates(frames)
}

// frames returns the frames of an update during work. The caller holds mu.
func (d *version2) frames(session string, u SessionUpdate) []wireUpdate {
	s := d.session(session)
	switch u := u.(type) {
	case ToolCall:
		s.see(u)
		return append(s.all(bodies(u, false)), d.refresh(s)...)
	case SubagentUpdate:
		if u.State == nil {
			return s.all(bodies(u, false))
		}
		child := d.session(u.SessionID)
		child.state = u.State.State
		return append(child.shownBy(s, u), d.refresh(s)...)
	case TerminalUpdate:
		return d.terminalFrames(s, u)
	}
	return s.all(bodies(u, false))
}

// terminalFrames returns the frames of an update of a terminal, and the state of its session if the work
// in the background has changed. The caller holds mu.
func (d *version2) terminalFrames(s *shownSession, u TerminalUpdate) []wireUpdate {
	w := wireTerminalOf(u, false)
	listed := s.listed(u.TerminalID)
	switch {
	case u.Background && listed < 0:
		announced := w
		if call := s.calls[u.ToolCallID]; call != nil {
			announced = call.terminal
		}
		s.background = append(s.background, announced)
		s.reported = true
	case u.Exit != nil && listed >= 0:
		s.background = slices.Delete(s.background, listed, listed+1)
		w.Capabilities = null
	default:
		return []wireUpdate{s.frame(w)}
	}
	now := cmp.Or(s.state, stateIdle)
	if root := d.session(rootOf(s.id)); root != s {
		child := SubagentUpdate{Update: UpdateSubagent, SessionID: s.id, State: &SubagentState{State: now}}
		return append([]wireUpdate{s.frame(w)}, s.shownBy(root, child)...)
	}
	return []wireUpdate{s.frame(w), s.frame(s.stateOf(now))}
}

// shownBy returns the frames of an update with the state of a child session: the parent's view, then the
// child's own.
func (s *shownSession) shownBy(parent *shownSession, u SubagentUpdate) []wireUpdate {
	own := s.stateOf(u.State.State)
	own.StopReason = u.State.StopReason
	if u.State.Error != nil {
		own.Error = u.State.Error
	}
	if own.Background == nil {
		return []wireUpdate{parent.frame(u), s.frame(own)}
	}
	shown := own
	shown.Update = ""
	return []wireUpdate{parent.frame(wireSubagent{u, shown}), s.frame(own)}
}

// bodies returns an update in the form of version 2: nothing if there is no such update, and more than
// one if it shows a terminal.
func bodies(u SessionUpdate, replay bool) []any {
	switch u := u.(type) {
	case MessageChunk:
		return []any{wireChunk{u.Update, u.MessageID, named(u.Content)}}
	case UserMessage:
		return []any{wireMessage{wholeMessages[UpdateUserMessage], u.MessageID, mapped(u.Content, named)}}
	case ToolCall:
		w := wireToolCallOf(u, replay && u.Update == UpdateToolCall)
		w.Update = UpdateToolCallPatch
		var updates []any
		if u.Terminal != nil { // before the update that embeds it in the call
			t := *u.Terminal
			if t.Opens && t.Command == "" { // of an older log
				t.Command = commandOf(u.RawInput)
			}
			updates = append(updates, wireTerminalOf(t, replay))
		}
		if w != (wireToolCall{Update: w.Update, ToolCallID: w.ToolCallID}) {
			updates = append(updates, w)
		}
		return updates
	case FileChanges:
		w := wireToolCallOf(u.Call, replay)
		w.Update = UpdateToolCallPatch
		return []any{w}
	case TerminalUpdate:
		return []any{wireTerminalOf(u, replay)}
	case TerminalChunk:
		return []any{wireTerminalChunk{"terminal_output_chunk", u.TerminalID, base64.StdEncoding.EncodeToString([]byte(u.Data))}}
	case CommandsUpdate:
		return []any{wireCommands{u.Update, wireCommandsOf(u.AvailableCommands)}}
	case OptionsUpdate:
		return []any{wireOptions{u.Update, wireOptionsOf(u.ConfigOptions)}}
	case PlanUpdate:
		return []any{ClientCapabilities{PlanOperations: true}.form(u)}
	case ModeUpdate: // the mode is an option
		return nil
	}
	return []any{u}
}

// named adds the name that a link must have. Some clients leave it out.
func named(b ContentBlock) ContentBlock {
	if b.Type == "resource_link" && b.Name == "" {
		b.Name = b.URI
	}
	return b
}

// question returns the params of a question. The subject is the call without the words of the question,
// which belong to the question alone. A call that the client knows keeps its content.
func (d *version2) question(p RequestPermissionRequest) any {
	d.mu.Lock()
	defer d.mu.Unlock()
	w := wireQuestion{SessionID: p.SessionID, Title: p.ToolCall.Title, Options: p.Options}
	if owner := d.owner(p.SessionID, p.ToolCall.ToolCallID); owner != nil {
		w.SessionID = owner.id
		p.ToolCall.Title, p.ToolCall.Status = "", "" // the card keeps its own
		w.Description = textsOf(p.ToolCall.Content)
		p.ToolCall.Content = nil
	}
	w.Subject = wireSubject{"tool_call", wireToolCallOf(p.ToolCall, false)}
	return w
}

// textsOf joins the text blocks in the content of a call.
func textsOf(content []ToolContent) string {
	var all []string
	for _, c := range content {
		if c.Content != nil && c.Content.Text != nil {
			all = append(all, *c.Content.Text)
		}
	}
	return strings.Join(all, "\n\n")
}

// owner returns the session that shows an open tool call: one of a family, by the id of its root. Nil
// means that the client was not shown the call. The caller holds mu.
func (d *version2) owner(root, call string) *shownSession {
	if call == "" {
		return nil
	}
	for id, s := range d.sessions {
		if s.calls[call] != nil && rootOf(id) == rootOf(root) {
			return s
		}
	}
	return nil
}

// masked returns an update whose secrets Server.Exit has masked. What the user and the model wrote stays as
// it is. It runs before the encoding, since nothing finds a secret in base64.
func (s *stream) masked(session string, u SessionUpdate) SessionUpdate {
	chunk, _ := u.(MessageChunk)
	if _, prompt := u.(UserMessage); s.exit == nil || prompt || chunk.Words {
		return u
	}
	return texts.Map(u, s.exit(session))
}

// maskedFault returns an error for the client, with its secrets masked by Server.Exit.
func (s *stream) maskedFault(session string, err error) any {
	e := s.fault(err)
	if s.exit == nil {
		return e
	}
	return texts.Map(e, s.exit(session))
}

// writeUpdates writes updates that were masked before, with no other frame between them.
func (s *stream) writeUpdates(updates []wireUpdate) error {
	lines := make([][]byte, 0, len(updates))
	for _, u := range updates {
		line, err := marshalLine(notification{"2.0", "session/update", u})
		if err != nil {
			return err
		}
		lines = append(lines, line)
	}
	return s.out.enqueue(lines...)
}
