package acp

import (
	"cmp"
	"maps"
	"slices"
)

// replay is the history of a session on its way to the client.
type replay struct {
	message  wireMessage // the message whose blocks are being collected; without an id there is none
	of       string      // the session of message
	size     int         // of message, in bytes
	seen     map[seen]bool
	children map[string]*replayedChild // by id
}

// replayedChild is a child session that a replay has announced.
type replayedChild struct {
	parent   string
	complete bool // the replay has shown its end
}

// seen is a message that was sent in part.
type seen struct{ session, update, id string }

// maxWhole bounds a message that is sent as a whole, in bytes: one frame has to hold it.
const maxWhole = 512 << 10

// replayed writes an update of a session's history.
func (d *version2) replayed(c *Client, session string, u SessionUpdate) error {
	u = c.stream.masked(session, u)
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.replayOf(session)
	if chunk, ok := u.(MessageChunk); ok {
		return c.stream.writeUpdates(r.collect(session, chunk))
	}
	frames := r.flush()
	s := d.session(session)
	child, ok := u.(SubagentUpdate)
	if !ok {
		return c.stream.writeUpdates(append(frames, s.all(bodies(u, true))...))
	}
	return c.stream.writeUpdates(append(frames, r.child(s, d.session(child.SessionID), child)...))
}

// replayOf returns the replay of a session's family. The caller holds mu.
func (d *version2) replayOf(session string) *replay {
	d.opened(rootOf(session))
	root := d.session(rootOf(session))
	if root.replay == nil {
		root.replay = &replay{seen: map[seen]bool{}, children: map[string]*replayedChild{}}
	}
	return root.replay
}

// collect adds a block to the message in progress, and returns the frames of the message before it.
func (r *replay) collect(session string, c MessageChunk) (frames []wireUpdate) {
	whole := wholeMessages[c.Update]
	n := len(c.Content.Data)
	if c.Content.Text != nil {
		n += len(*c.Content.Text)
	}
	if r.of != session || r.message.Update != whole || r.message.MessageID != c.MessageID || r.size+n > maxWhole {
		frames = r.flush()
	}
	r.of, r.message.Update, r.message.MessageID = session, whole, c.MessageID
	r.message.Content = append(r.message.Content, named(c.Content))
	r.size += n
	return frames
}

// flush returns the message in progress: as a whole, which clears what the client has of it, or as
// further blocks of a message that was sent in part.
func (r *replay) flush() (frames []wireUpdate) {
	m, of := r.message, r.of
	r.message, r.of, r.size = wireMessage{}, "", 0
	if m.MessageID == "" {
		return nil
	}
	key := seen{of, m.Update, m.MessageID}
	if !r.seen[key] {
		r.seen[key] = true
		return []wireUpdate{{of, m}}
	}
	for _, b := range m.Content {
		frames = append(frames, wireUpdate{of, wireChunk{m.Update + "_chunk", m.MessageID, b}})
	}
	return frames
}

// child returns the frames of an update about a child session. The history of a child ends with its
// last state: an earlier one would look like present work.
func (r *replay) child(parent, child *shownSession, u SubagentUpdate) (frames []wireUpdate) {
	state := u.State
	complete := state != nil && state.State == stateIdle
	if !complete {
		u.State = nil
	}
	known := r.children[u.SessionID] != nil
	if complete && known {
		frames = append(frames, wireUpdate{u.SessionID, replayComplete})
	}
	r.children[u.SessionID] = &replayedChild{parent.id, complete}
	if complete {
		return append(frames, child.shownBy(parent, u)...)
	}
	if !known || u != (SubagentUpdate{Update: u.Update, SessionID: u.SessionID}) {
		frames = append(frames, parent.frame(u))
	}
	return frames
}

var replayComplete = struct {
	Update string `json:"sessionUpdate"`
}{"replay_complete"}

// completeReplay shows that the whole history was sent, and the present state.
func (d *version2) completeReplay(c *Client, session string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.replayOf(session)
	frames := r.flush()
	for _, id := range slices.Sorted(maps.Keys(r.children)) {
		if child := r.children[id]; !child.complete {
			s := d.session(id)
			now := SubagentUpdate{Update: UpdateSubagent, SessionID: id, State: &SubagentState{State: cmp.Or(s.state, stateIdle)}}
			frames = append(append(frames, s.frame(replayComplete)), s.shownBy(d.session(child.parent), now)...)
		}
	}
	frames = append(frames, wireUpdate{session, replayComplete})
	return c.stream.writeUpdates(append(frames, d.snapshot(session)...))
}

// snapshot returns the present state of a session, after the commands in the background of its family. The
// caller holds mu.
func (d *version2) snapshot(session string) (frames []wireUpdate) {
	for _, id := range slices.Sorted(maps.Keys(d.sessions)) {
		if s := d.sessions[id]; rootOf(id) == session {
			for _, t := range s.background {
				t.ExitStatus, t.Capabilities = null, canCancel
				frames = append(frames, s.frame(t))
			}
		}
	}
	s := d.session(session)
	now := stateIdle
	if s.working {
		now = s.state
	}
	return append(frames, s.frame(s.stateOf(now)))
}

// showState shows the present state of a session that is resumed without its history.
func (d *version2) showState(c *Client, session string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.opened(session)
	return c.stream.writeUpdates(d.snapshot(session))
}

func (d *version2) replayEnded(session string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.session(session).replay = nil
}
