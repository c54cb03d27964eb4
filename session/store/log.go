package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"time"
)

const (
	insertSession = `INSERT INTO sessions (id, cwd, dirs, title, created, updated, last)
		VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING RETURNING n, 0`
	updateSession = `UPDATE sessions SET dirs = ?, title = ?, last = last + ?
		WHERE id = ? AND (? = '' OR EXISTS (SELECT 1 FROM leases WHERE session = sessions.id AND holder = ?)) RETURNING n, last - ?, updated`
	touchSession = `UPDATE sessions SET updated = ? WHERE n = ?`
	insertEvent  = `INSERT INTO events (session, seq, part, parts, time, kind, crc, data) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
	// A damaged entry of the index can point to another row, so seq and part are those of the row itself.
	selectEvents = `SELECT e.seq, e.part, e.parts, e.time, e.kind, e.crc, e.data FROM events i CROSS JOIN events e ON e.rowid = i.rowid
		WHERE i.session = ? AND i.seq > ? AND i.seq <= ? AND e.session = i.session ORDER BY i.seq, i.part`
)

// touchEvery is how far the time of a session's newest event may lag during a turn. It is
// in two indexes, so storing it with each event would take a third of the time of a
// commit.
const touchEvery = time.Second

// readAtOnce is how many events EachEvent reads at a time.
const readAtOnce = 256

// partSize is the largest part of a payload in one row, in bytes.
const partSize = 256 << 10

// Batch is a number of events that are appended to the log of a session together.
type Batch struct {
	// Session names the session by its ID. The stored session gets its Title and Dirs.
	Session Session
	Create  bool    // the session must not exist yet; if false, it must exist
	Holder  string  // must have the lease, or acquires it for a new session; empty means that anyone may append
	Events  []Event // without regard to their Seq
	Release bool    // also releases the lease of Holder
}

// Append commits a batch in one transaction and returns the Seq of the last event. After
// Append has returned, a kill of the process loses no event; before, the log has all of
// them or none. After an error the lease is as before.
//
// The error is ErrExists if Create is set and the session exists. It is ErrUnknown if Create
// is not set and it does not exist, ErrLeaseLost if Holder does not have its lease, and a
// *LeasedError if another holder has the lease of a new session.
func (db *DB) Append(ctx context.Context, b Batch) (last int64, err error) {
	dirs, err := json.Marshal(append([]string{}, b.Session.Dirs...)) // never null
	if err != nil {
		return 0, err
	}
	now := db.now()
	err = db.write(ctx, func(h *handle) error {
		var key int64
		var err error
		if b.Create {
			key, last, err = h.create(b, string(dirs), now)
			if err == nil && b.Holder != "" {
				err = db.takeLease(h, b.Session.ID, b.Holder)
			}
		} else {
			key, last, err = h.extend(b, string(dirs), now)
		}
		if err != nil {
			return err
		}
		for _, e := range b.Events {
			last++
			if err := h.insert(key, last, micros(e.Time, now), e.Kind, e.Data); err != nil {
				return err
			}
		}
		if b.Release {
			return h.release(b.Session.ID, b.Holder)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	return last, nil
}

// newest returns the time of the newest event in stored form, or 0 without events.
func (b Batch) newest(now time.Time) (updated int64) {
	for _, e := range b.Events {
		updated = max(updated, micros(e.Time, now))
	}
	return updated
}

// create stores the session of a batch. It returns the session's key and its last Seq, 0.
func (h *handle) create(b Batch, dirs string, now time.Time) (key, last int64, err error) {
	s := b.Session
	created, updated := micros(now, now), micros(now, now)
	if len(b.Events) > 0 {
		created, updated = micros(b.Events[0].Time, now), b.newest(now)
	}
	err = h.one([]any{&key, &last}, insertSession, s.ID, s.CWD, dirs, s.Title, created, updated, len(b.Events))
	return key, last, replaceNoRows(ErrExists, err)
}

// extend adds the number of a batch's events to the session's count. It returns the
// session's key and its last Seq before that. It also stores the time of the newest event,
// which may lag by up to touchEvery until the lease is released.
func (h *handle) extend(b Batch, dirs string, now time.Time) (key, last int64, err error) {
	var before int64
	n, id := len(b.Events), b.Session.ID
	err = h.one([]any{&key, &last, &before}, updateSession, dirs, b.Session.Title, n, id, b.Holder, b.Holder, n)
	if errors.Is(err, sql.ErrNoRows) {
		err = h.refusal(id)
	}
	atOnce := b.Holder == "" || b.Release
	if updated := b.newest(now); err == nil && updated > before && (atOnce || updated-before >= touchEvery.Microseconds()) {
		_, err = h.exec(touchSession, updated, key)
	}
	return key, last, err
}

// refusal returns the reason why no row of a session or of its lease was changed: ErrUnknown if
// the session is not stored, else ErrLeaseLost.
func (h *handle) refusal(id string) error {
	var key int64
	if err := h.one([]any{&key}, "SELECT n FROM sessions WHERE id = ?", id); err != nil {
		return replaceNoRows(ErrUnknown, err)
	}
	return ErrLeaseLost
}

// insert adds an event to the session with this key.
func (h *handle) insert(session, seq, at int64, kind string, data []byte) error {
	parts := max(1, (len(data)+partSize-1)/partSize)
	for part := range parts {
		chunk := data[part*partSize : min(len(data), (part+1)*partSize)]
		if chunk == nil {
			chunk = []byte{} // nil would be NULL
		}
		if _, err := h.exec(insertEvent, session, seq, part, parts, at, kind, crc32.ChecksumIEEE(chunk), chunk); err != nil {
			return err
		}
	}
	return nil
}

// replaceNoRows returns replacement if err is sql.ErrNoRows, else err itself.
func replaceNoRows(replacement, err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return replacement
	}
	return err
}

// micros returns t in its stored form.
func micros(t, now time.Time) int64 {
	if t.IsZero() {
		t = now
	}
	return t.UnixMicro()
}

// Session returns a stored session, or ErrUnknown.
func (db *DB) Session(ctx context.Context, id string) (s Session, err error) {
	err = db.read(ctx, func(h *handle) error {
		var r row
		if err := h.one(r.dest(), "SELECT "+columns+" FROM sessions WHERE id = ?", id); err != nil {
			return replaceNoRows(ErrUnknown, err)
		}
		s, err = r.session()
		return err
	})
	return s, err
}

// row is a row of the table sessions.
type row struct {
	s                Session
	dirs             string
	created, updated int64
}

const columns = "id, cwd, dirs, title, created, updated, last"

func (r *row) dest() []any {
	return []any{&r.s.ID, &r.s.CWD, &r.dirs, &r.s.Title, &r.created, &r.updated, &r.s.Events}
}

// session returns the row as a Session.
func (r *row) session() (Session, error) {
	s := r.s
	s.Created, s.Updated = time.UnixMicro(r.created).UTC(), time.UnixMicro(r.updated).UTC()
	if r.dirs != "[]" {
		if err := json.Unmarshal([]byte(r.dirs), &s.Dirs); err != nil {
			return Session{}, fmt.Errorf("session %s: directories: %w: %w", s.ID, errAltered, err)
		}
	}
	return s, nil
}

// Events returns the events of a session whose Seq is greater than after, in
// order. It returns all of them, or an error such as ErrUnknown. They are
// unchanged, except those marked Damaged.
func (db *DB) Events(ctx context.Context, id string, after int64) ([]Event, error) {
	return db.events(ctx, id, max(after, 0), math.MaxInt64)
}

// EachEvent calls do with each event of a session, in order. It reads a few at a time, so that a
// long log is never in memory as a whole, and other methods run in between. After an error, do may
// have been called with earlier events.
func (db *DB) EachEvent(ctx context.Context, id string, do func(Event)) error {
	for after := int64(0); ; after += readAtOnce {
		events, err := db.events(ctx, id, after, after+readAtOnce)
		if err != nil {
			return err
		}
		for _, e := range events {
			do(e)
		}
		if len(events) < readAtOnce {
			return nil
		}
	}
}

// events returns the events whose Seq is greater than after and at most upTo.
func (db *DB) events(ctx context.Context, id string, after, upTo int64) ([]Event, error) {
	var events []Event
	err := db.read(ctx, func(h *handle) error {
		tx, err := h.conn.BeginTx(context.Background(), &sql.TxOptions{ReadOnly: true}) // both queries see the same state
		if err != nil {
			return err
		}
		defer tx.Rollback()
		var key, last int64
		if err := h.one([]any{&key, &last}, "SELECT n, last FROM sessions WHERE id = ?", id); err != nil {
			return replaceNoRows(ErrUnknown, err)
		}
		last = min(last, upTo)
		g := gatherer{next: after + 1, events: make([]Event, 0, min(max(last-after, 0), 1<<16))}
		err = h.each(ctx, g.add, []any{&g.seq, &g.part, &g.parts, &g.time, &g.kind, &g.crc, &g.data}, selectEvents, key, after, upTo)
		if err == nil && (g.left > 0 || g.next <= last) {
			err = errAltered
		}
		if errors.Is(err, errAltered) {
			return fmt.Errorf("session %s, event %d: %w", id, g.next, err)
		}
		events = g.events
		return err
	})
	if err != nil {
		return nil, err
	}
	return events, nil
}

// gatherer assembles events from rows.
type gatherer struct {
	// The columns of the current row.
	seq, part, parts, time, crc int64
	kind                        string
	data                        blob

	events []Event
	next   int64 // Seq of the next event
	left   int64 // missing rows of the last event
}

// add adds the current row, which begins an event or continues the last one.
func (g *gatherer) add() error {
	damaged := int64(crc32.ChecksumIEEE(g.data)) != g.crc
	if g.left > 0 {
		e := &g.events[len(g.events)-1]
		if g.seq != e.Seq || g.part != g.parts-g.left {
			return errAltered
		}
		e.Data, e.Damaged = append(e.Data, g.data...), e.Damaged || damaged
		g.left--
		return nil
	}
	if g.seq != g.next || g.part != 0 || g.parts < 1 || g.parts > math.MaxInt32/partSize {
		return errAltered
	}
	data := []byte(g.data)
	if g.parts > 1 {
		data = append(make([]byte, 0, min(g.parts, 128)*partSize), data...)
	}
	g.events = append(g.events, Event{Seq: g.seq, Time: time.UnixMicro(g.time).UTC(), Kind: g.kind, Data: data, Damaged: damaged})
	g.next, g.left = g.seq+1, g.parts-1
	return nil
}

// blob receives a payload without copying it.
type blob []byte

// Scan keeps src without the copy that database/sql would make, since the
// driver allocates a new slice for every value. TestEventsAreCopies checks
// that.
func (b *blob) Scan(src any) error {
	data, ok := src.([]byte)
	if !ok && src != nil {
		return fmt.Errorf("payload is %T", src)
	}
	*b = data
	return nil
}

// Delete removes a session with its log and its overflows. It returns nil if
// the session does not exist. A live lease stays with its holder, whose next
// Append fails with ErrUnknown.
func (db *DB) Delete(ctx context.Context, id string) error {
	if err := db.dropOverflow(ctx, id); err != nil {
		return err
	}
	return db.write(ctx, func(h *handle) error {
		if _, err := h.exec("DELETE FROM sessions WHERE id = ?", id); err != nil { // the dependent rows are deleted with it
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
