package store

import (
	"context"
	"slices"
	"time"
)

// Message is a message of a stored session that can be searched.
type Message struct {
	ID      int64
	Session string // id
	Title   string // of the session
	Role    string
	Text    string // of a match: the part around it
	Time    time.Time
}

// Unread returns the ids of the sessions in the directories that have events not yet
// passed to PutMessages. The last updated session is first; the given session is left
// out.
func (db *DB) Unread(ctx context.Context, except string, dirs ...string) (ids []string, err error) {
	marks, args := inList(dirs)
	query := `SELECT s.id FROM sessions s LEFT JOIN messages_read r ON r.session = s.n
		WHERE s.cwd IN (` + marks + `) AND s.id <> ? AND s.last > coalesce(r.last, 0) ORDER BY s.updated DESC`
	err = db.read(ctx, func(h *handle) error {
		var id string
		return h.each(ctx, func() error { ids = append(ids, id); return nil }, []any{&id}, query, append(args, except)...)
	})
	return ids, err
}

// UnreadEvents returns the events of some kinds that were not yet passed to PutMessages,
// and the Seq of the session's newest event of any kind. It leaves out events of more
// than 256 KiB.
func (db *DB) UnreadEvents(ctx context.Context, id string, kinds ...string) (events []Event, last int64, err error) {
	marks, args := inList(kinds)
	query := `SELECT e.seq, e.time, e.kind, e.data FROM events e JOIN sessions s ON s.n = e.session LEFT JOIN messages_read r ON r.session = s.n
		WHERE s.id = ? AND e.seq > coalesce(r.last, 0) AND e.parts = 1 AND e.kind IN (` + marks + `) ORDER BY e.seq`
	err = db.read(ctx, func(h *handle) error {
		if err := h.one([]any{&last}, selectLast, id); err != nil {
			return err
		}
		events, err = h.shortEvents(ctx, query, append([]any{id}, args...)...)
		return err
	})
	return events, last, err
}

// EventsOfKind returns a session's events of one kind, except events larger than 256 KiB.
func (db *DB) EventsOfKind(ctx context.Context, id, kind string) (events []Event, err error) {
	const query = `SELECT e.seq, e.time, e.kind, e.data FROM events e JOIN sessions s ON s.n = e.session
		WHERE s.id = ? AND e.parts = 1 AND e.kind = ? ORDER BY e.seq`
	err = db.read(ctx, func(h *handle) error {
		events, err = h.shortEvents(ctx, query, id, kind)
		return err
	})
	return events, err
}

// shortEvents returns the events of a query for seq, time, kind and data.
func (h *handle) shortEvents(ctx context.Context, query string, args ...any) (events []Event, err error) {
	var e Event
	var at int64
	var data blob
	err = h.each(ctx, func() error {
		e.Time, e.Data = time.UnixMicro(at).UTC(), []byte(data)
		events = append(events, e)
		return nil
	}, []any{&e.Seq, &at, &e.Kind, &data}, query, args...)
	return events, err
}

// PutMessages makes messages of a session searchable, and notes that its log was read up
// to last. Parts are further words of each message. It does nothing if another process
// has read the log meanwhile.
func (db *DB) PutMessages(ctx context.Context, id string, last int64, messages []Message, parts []string) error {
	return db.write(ctx, func(h *handle) error {
		var key, read int64
		err := h.one([]any{&key, &read}, "SELECT n, coalesce((SELECT last FROM messages_read WHERE session = n), 0) FROM sessions WHERE id = ?", id)
		if err != nil {
			return replaceNoRows(ErrUnknown, err)
		}
		if read >= last {
			return nil
		}
		for i, m := range messages {
			var n int64
			if err := h.one([]any{&n}, "INSERT INTO messages (session, role, time) VALUES (?, ?, ?) RETURNING n", key, m.Role, m.Time.UnixMicro()); err != nil {
				return err
			}
			if _, err := h.exec("INSERT INTO words (rowid, text, parts) VALUES (?, ?, ?)", n, m.Text, parts[i]); err != nil {
				return err
			}
		}
		_, err = h.exec("INSERT OR REPLACE INTO messages_read (session, last) VALUES (?, ?)", key, last)
		return err
	})
}

// MatchMessages returns the messages that match an expression of FTS5, the best first. It
// searches the sessions in the directories, except the given session.
func (db *DB) MatchMessages(ctx context.Context, expression, except string, limit int, dirs ...string) (found []Message, err error) {
	marks, args := inList(dirs)
	query := `SELECT m.n, s.id, s.title, m.role, m.time, snippet(words, 0, '', '', '…', 48)
		FROM words JOIN messages m ON m.n = words.rowid JOIN sessions s ON s.n = m.session
		WHERE words MATCH ? AND words.rowid > 0 AND s.cwd IN (` + marks + `) AND s.id <> ?
		ORDER BY bm25(words) LIMIT ?`
	err = db.read(ctx, func(h *handle) error {
		var m Message
		var at int64
		return h.each(ctx, func() error {
			m.Time = time.UnixMicro(at).UTC()
			found = append(found, m)
			return nil
		}, []any{&m.ID, &m.Session, &m.Title, &m.Role, &at, &m.Text}, query, slices.Concat([]any{expression}, args, []any{except, limit})...)
	})
	return found, err
}
