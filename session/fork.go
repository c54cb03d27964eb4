package session

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/store"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// Fork opens a new session with the messages and settings of another one, which stays
// unchanged.
func (s *Sessions) Fork(ctx context.Context, client *acp.Client, p acp.ForkSessionRequest) (acp.Session, error) {
	if sess, open := s.find(p.ID()); open {
		sess.mu.Lock()
		want := sess.settings
		sess.mu.Unlock()
		if !sess.journal.hasBegun() { // there is nothing to copy
			if err := sameDir(sess.cwd, p.CWD); err != nil {
				return nil, err
			}
			fork := s.session(store.Session{ID: s.NewID(), CWD: sess.cwd})
			if err := fork.setUp(client, p.NewSessionRequest, want); err != nil {
				return nil, err
			}
			s.add(fork)
			return fork, nil
		}
	}
	row, rows, err := s.readCurrent(ctx, p.ID())
	if err != nil {
		return nil, err
	}
	if err := sameDir(row.CWD, p.CWD); err != nil {
		return nil, err
	}
	cut := len(rows)
	if id := cmp.Or(p.MessageID, p.Meta.MessageID); id != "" {
		if cut = afterMessage(rows, id); cut < 0 {
			return nil, acp.ParamsErrorf("messageId", "the session has no message %q", id)
		}
	}
	id, err := s.storeCopy(ctx, row, rows, cut)
	if err != nil {
		return nil, err
	}
	return s.Resume(ctx, client, p.For(id))
}

// readCurrent is like read, and first stores the pending events of an open session. It
// does not wrap acp.ErrUnknownSession, since the client named the session.
func (s *Sessions) readCurrent(ctx context.Context, id string) (store.Session, []store.Event, error) {
	if sess, open := s.find(id); open {
		sess.journal.sync()
	}
	row, rows, err := s.read(ctx, id)
	if errors.Is(err, acp.ErrUnknownSession) {
		err = acp.ErrUnknownSession
	}
	return row, rows, err
}

// forkMark ends the title of a copy; the title of a copy of a copy has it only once.
const forkMark = " (fork)"

// storeCopy stores a copy of a session: the first cut events of its log, and all its
// settings. It returns the id of the copy.
func (s *Sessions) storeCopy(ctx context.Context, source store.Session, rows []store.Event, cut int) (string, error) {
	row := store.Session{ID: s.NewID(), CWD: source.CWD, Dirs: source.Dirs, Title: source.Title}
	var ends []transcript.Event
	if row.Title != "" {
		row.Title = strings.TrimSuffix(row.Title, forkMark) + forkMark
		ends = append(ends, transcript.Title{Title: row.Title})
	}
	if cut > 0 && rows[cut-1].Kind != (transcript.TurnEnd{}).Kind() {
		ends = append(ends, transcript.TurnEnd{Reason: acp.StopEndTurn})
	}
	kept := slices.Clone(rows[:cut])
	for _, e := range append(ends, copiedMark) {
		kept = append(kept, storedForm(e, s.Now()))
	}
	for _, later := range rows[cut:] {
		if later.Kind == (transcript.Setting{}).Kind() {
			kept = append(kept, later)
		}
	}
	if _, err := s.Store.Append(ctx, store.Batch{Session: row, Create: true, Events: kept}); err != nil {
		return "", fmt.Errorf("store the fork: %w", err)
	}
	s.copyOutputs(ctx, source.ID, row.ID, kept)
	return row.ID, nil
}

// copyOutputs copies the long outputs that events refer to, so that the references of a fork
// lead somewhere. A lost output is no reason to refuse the fork.
func (s *Sessions) copyOutputs(ctx context.Context, from, to string, events []store.Event) {
	seen := map[string]bool{}
	for _, e := range events {
		for id := range references(e.Data) {
			if seen[id] {
				continue
			}
			seen[id] = true
			if err := s.Store.CopyOverflow(ctx, from, to, id); err != nil && !errors.Is(err, store.ErrNoOverflow) {
				s.Log.Warn("an output cannot be copied to a fork", "session", to, "err", err)
			}
		}
	}
}

// references yields the ids of the long outputs that a stored event refers to.
func references(data []byte) iter.Seq[string] {
	const prefix, size = "overflow:", len("00000000-0000-0000-0000-000000000000")
	return func(yield func(string) bool) {
		for {
			_, rest, ok := bytes.Cut(data, []byte(prefix))
			if !ok {
				return
			}
			data = rest
			id := string(rest[:min(size, len(rest))])
			if uuid.Validate(id) == nil && !yield(id) {
				return
			}
		}
	}
}

// copiedMark is the event after the part of a log that comes from another session or from a
// document. This session cannot restore the files of those turns.
var copiedMark = transcript.State{Name: "copied", Value: json.RawMessage("true")}

// eventsAfterCopy returns the events of a log after those that were copied.
func eventsAfterCopy(events []transcript.Event) []transcript.Event {
	for i, e := range slices.Backward(events) {
		if e, ok := e.(transcript.State); ok && e.Name == copiedMark.Name {
			return events[i+1:]
		}
	}
	return events
}

// copiedTurns returns the number of the last turn that was copied; 0 if there is none.
func copiedTurns(events []transcript.Event) int {
	return transcript.LastTurnNumber(events[:len(events)-len(eventsAfterCopy(events))])
}

// afterMessage returns the number of events up to the end of an agent's message, or up
// to the beginning of a user's message. It returns -1 if there is no such message.
func afterMessage(rows []store.Event, id string) int {
	cut := -1
	for i, row := range rows {
		event, err := transcript.Decode(row.Kind, row.Data)
		if err != nil {
			continue
		}
		switch e := event.(type) {
		case transcript.Prompt:
			if e.MessageID == id {
				return i
			}
		case transcript.Steer:
			if e.MessageID == id {
				return i
			}
		case transcript.Block:
			if e.MessageID == id {
				cut = i + 1
			}
		case transcript.Note:
			if e.MessageID == id {
				cut = i + 1
			}
		}
	}
	return cut
}

// fork carries out the command /fork, for clients without session/fork.
func (s *Session) fork(ctx context.Context, _ string) (string, error) {
	if s.sessions.Store == nil {
		return "Sessions are not saved here, so this one cannot be forked.", nil
	}
	row, rows, err := s.sessions.readCurrent(ctx, s.id)
	if err != nil {
		return "", fmt.Errorf("fork: %w", err)
	}
	cut := len(rows)
	for cut > 0 && rows[cut-1].Kind != (transcript.Prompt{}).Kind() {
		cut--
	}
	id, err := s.sessions.storeCopy(ctx, row, rows, max(cut-1, 0)) // without this command
	if err != nil {
		return "", fmt.Errorf("fork: %w", err)
	}
	return fmt.Sprintf("The conversation so far was copied to the session `%s`. Open it from the list of sessions, or with `zeph-acp run --resume %s`.", id, id), nil
}
