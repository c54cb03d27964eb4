package acp

import "slices"

// replay is the history of a session on its way to the client.
type replay struct {
	held     []wireUpdate // updates of work that the client gets afterwards
	message  wireMessage  // the message whose blocks are being collected; without an id there is none
	of       string       // the session of message
	size     int          // of message, in bytes
	seen     map[seen]bool
	children map[string]bool // announced; true once the child's history is complete
}

// seen is a message that was sent in part.
type seen struct{ session, update, id string }

// maxWhole bounds a message that is sent as a whole, in bytes: one frame has to hold it.
const maxWhole = 512 << 10

// replayed writes an update of a session's history. From the first one on, until finishReplay, updates
// of work are held back.
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
	return c.stream.writeUpdates(append(frames, r.child(s, child)...))
}

// replayOf returns the replay of a session's family. The caller holds mu.
func (d *version2) replayOf(session string) *replay {
	d.opened(rootOf(session))
	root := d.session(rootOf(session))
	if root.replay == nil {
		root.replay = &replay{seen: map[seen]bool{}, children: map[string]bool{}}
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
func (r *replay) child(parent *shownSession, u SubagentUpdate) (frames []wireUpdate) {
	state := u.State
	complete := state != nil && state.State == stateIdle
	if !complete {
		u.State = nil
	}
	if _, known := r.children[u.SessionID]; complete && known {
		frames = append(frames, wireUpdate{u.SessionID, replayComplete})
	}
	r.children[u.SessionID] = complete
	frames = append(frames, parent.frame(u))
	if complete {
		frames = append(frames, wireUpdate{u.SessionID, childState(u)})
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
	for id, complete := range r.children {
		if !complete {
			frames = append(frames, wireUpdate{id, replayComplete}, wireUpdate{id, wireState{Update: updateState, State: stateIdle}})
		}
	}
	frames = append(frames, wireUpdate{session, replayComplete}, d.snapshot(session))
	return c.stream.writeUpdates(frames)
}

// snapshot returns the present state of a session. The caller holds mu.
func (d *version2) snapshot(session string) wireUpdate {
	s := d.session(session)
	now := stateIdle
	if s.working {
		now = s.state
	}
	return s.frame(wireState{Update: updateState, State: now})
}

// showState shows the present state of a session that is resumed without its history.
func (d *version2) showState(c *Client, session string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.opened(session)
	return c.stream.writeUpdates([]wireUpdate{d.snapshot(session)})
}

// finishReplay writes the updates that the replay has held back.
func (d *version2) finishReplay(c *Client, session string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.session(session)
	if s.replay == nil {
		return
	}
	held := slices.Clone(s.replay.held)
	s.replay = nil
	_ = c.stream.writeUpdates(held) // nobody reads a closed connection
}
