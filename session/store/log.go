package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"time"
)

const (
	insertSession = `INSERT INTO sessions (id, cwd, dirs, title, created, updated, last)
		VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING n, 0`
	updateSession = `UPDATE sessions SET dirs = ?, title = ?, updated = max(updated, ?), last = last + ?
		WHERE id = ? RETURNING n, last - ?`
	insertEvent = `INSERT INTO events (session, seq, time, kind, crc, data) VALUES (?, ?, ?, ?, ?, ?)`
)

// Append commits events to the log of s in one transaction and gives the Seq of
// the last one. The Seq of those passed in is ignored. A process that is killed
// after Append has returned has lost nothing of them; before, all or none.
//
// With create the session is new (ErrExists), else it is there and gets the
// Title and Dirs of s; ErrUnknown if it was deleted, which an append does not
// undo. A holder that is not empty must have the lease (ErrLeaseLost).
func (db *DB) Append(ctx context.Context, s Session, create bool, holder string, events []Event) (last int64, err error) {
	dirs, err := json.Marshal(append([]string{}, s.Dirs...)) // never null
	if err != nil {
		return 0, err
	}
	now, n := db.now(), int64(len(events))
	var created, updated int64
	for i, e := range events {
		at := micros(e.Time, now)
		if i == 0 {
			created = at
		}
		updated = max(updated, at)
	}
	if create && n == 0 {
		created, updated = micros(now, now), micros(now, now)
	}
	err = db.write(ctx, func(h *handle) error {
		var key int64
		var err error
		if create {
			err = missing(ErrExists, h.one([]any{&key, &last}, insertSession, s.ID, s.CWD, string(dirs), s.Title, created, updated, n))
		} else {
			err = missing(ErrUnknown, h.one([]any{&key, &last}, updateSession, string(dirs), s.Title, updated, n, s.ID, n))
		}
		if err != nil {
			return err
		}
		if holder != "" {
			var has int
			if err := h.one([]any{&has}, "SELECT 1 FROM leases WHERE session = ? AND holder = ?", s.ID, holder); err != nil {
				return missing(ErrLeaseLost, err)
			}
		}
		for _, e := range events {
			last++
			data := []byte(e.Data)
			if data == nil {
				data = []byte{} // nil would be NULL
			}
			if _, err := h.exec(insertEvent, key, last, micros(e.Time, now), e.Kind, int64(crc32.ChecksumIEEE(data)), data); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return last, nil
}

// missing gives as in place of sql.ErrNoRows.
func missing(as, err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return as
	}
	return err
}

// micros is t as it is stored.
func micros(t, now time.Time) int64 {
	if t.IsZero() {
		t = now
	}
	return t.UnixMicro()
}

// Session gives a stored session, or ErrUnknown.
func (db *DB) Session(ctx context.Context, id string) (Session, error) {
	var r row
	err := db.read(ctx, func(h *handle) error {
		return missing(ErrUnknown, h.one(r.dest(), "SELECT "+columns+" FROM sessions WHERE id = ?", id))
	})
	if err != nil {
		return Session{}, err
	}
	return r.session()
}

// row is what is read of a session.
type row struct {
	s                Session
	dirs             string
	created, updated int64
}

const columns = "id, cwd, dirs, title, created, updated, last"

func (r *row) dest() []any {
	return []any{&r.s.ID, &r.s.CWD, &r.dirs, &r.s.Title, &r.created, &r.updated, &r.s.Events}
}

func (r *row) session() (Session, error) {
	s := r.s
	s.Created, s.Updated = time.UnixMicro(r.created).UTC(), time.UnixMicro(r.updated).UTC()
	if r.dirs != "[]" {
		if err := json.Unmarshal([]byte(r.dirs), &s.Dirs); err != nil {
			return Session{}, fmt.Errorf("session %s: directories: %w", s.ID, err)
		}
	}
	return s, nil
}

// Events gives the events of a session whose Seq is above after, in order, or
// ErrUnknown.
func (db *DB) Events(ctx context.Context, id string, after int64) ([]Event, error) {
	var events []Event
	err := db.read(ctx, func(h *handle) error {
		var key, last int64
		if err := h.one([]any{&key, &last}, "SELECT n, last FROM sessions WHERE id = ?", id); err != nil {
			return missing(ErrUnknown, err)
		}
		events = make([]Event, 0, min(max(last-after, 0), 1<<16))
		var e Event
		var at int64
		var crc uint32
		var data blob
		return h.each(ctx, func() error {
			if crc32.ChecksumIEEE(data) != crc {
				return fmt.Errorf("%w: session %s, event %d", errSum, id, e.Seq)
			}
			e.Time, e.Data = time.UnixMicro(at).UTC(), json.RawMessage(data)
			events = append(events, e)
			return nil
		}, []any{&e.Seq, &at, &e.Kind, &crc, &data},
			"SELECT seq, time, kind, crc, data FROM events WHERE session = ? AND seq > ? ORDER BY seq", key, after)
	})
	if err != nil {
		return nil, err
	}
	return events, nil
}

// blob takes a payload as the driver made it.
type blob []byte

// Scan keeps src without the copy that database/sql would make: the driver makes
// a new slice for every value. TestEventsAreCopies notices if it ever stops that.
func (b *blob) Scan(src any) error {
	data, ok := src.([]byte)
	if !ok && src != nil {
		return fmt.Errorf("payload is %T", src)
	}
	*b = data
	return nil
}

// Delete removes a session with its log. That it is not there is no error. A
// live lease stays with its holder, whose next Append fails with ErrUnknown.
func (db *DB) Delete(ctx context.Context, id string) error {
	return db.write(ctx, func(h *handle) error {
		if _, err := h.exec("DELETE FROM sessions WHERE id = ?", id); err != nil { // events go with it
			return err
		}
		l, err := h.lease(id)
		if err != nil || l == nil || l.live(db.now(), host()) {
			return err
		}
		_, err = h.exec("DELETE FROM leases WHERE session = ?", id)
		return err
	})
}
