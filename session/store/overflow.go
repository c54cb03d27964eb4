package store

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"iter"
	"time"
)

// ErrNoOverflow says that a session has no such overflow (any more). It is
// fs.ErrNotExist, which those know who know nothing of this package.
var ErrNoOverflow = fmt.Errorf("no such overflow of this session: %w", fs.ErrNotExist)

const (
	// batchParts is how many parts of overflows one transaction writes or
	// deletes: others wait for it.
	batchParts = 4
	// abandoned is the age at which an overflow that is not whole has no writer
	// any more.
	abandoned = time.Hour
	// sweepEvery is how often what is older than Options.Retention is looked for.
	sweepEvery = 24 * time.Hour
	// sweepDelay is how long a sweep leaves the first turn alone, and sweepPause
	// what all others get between two of its batches.
	sweepDelay = 5 * time.Second
	sweepPause = 100 * time.Millisecond
)

// entryOf finds an overflow by the session and its id, never by one of them
// alone: no session reads what is another's.
const entryOf = "SELECT o.n FROM tool_overflow o JOIN sessions s ON s.n = o.session WHERE s.id = ? AND o.id = ? AND o.parts > 0"

const (
	insertEntry = `INSERT INTO tool_overflow (session, id, created, parts) VALUES (?, ?, ?, 0) RETURNING n`
	insertPart  = `INSERT INTO tool_overflow_parts (entry, part, crc, data) VALUES (?, ?, ?, ?)`
	selectPart  = `SELECT crc, data, (SELECT parts FROM tool_overflow WHERE n = entry)
		FROM tool_overflow_parts WHERE entry = (` + entryOf + `) AND part = ?`
)

// PutOverflow keeps what r gives as a text of a stored session, under an id that
// stands for this text in it: one that is there already is only kept longer.
// ErrUnknown if the session is not stored. It is there when PutOverflow has
// returned nil, all of it, and goes with the session, or by Options.Retention.
//
// A long text is written in several transactions, between which others have
// their turn, and is never held whole.
func (db *DB) PutOverflow(ctx context.Context, session, id string, r io.Reader) error {
	var batch bytes.Buffer
	var entry int64 // once it is committed: before, the number may be another's
	for parts := 0; ; {
		batch.Reset()
		_, err := io.CopyN(&batch, r, batchParts*partSize)
		last := err == io.EOF
		if err != nil && !last {
			db.abandon(ctx, entry)
			return fmt.Errorf("store an overflow: %w", err)
		}
		n, there := entry, false
		err = db.write(ctx, func(h *handle) (err error) {
			if n == 0 {
				n, there, err = h.newOverflow(session, id, db.now().UnixMicro())
			} else {
				err = missing(ErrNoOverflow, h.one([]any{new(int)}, "SELECT 1 FROM tool_overflow WHERE n = ? AND parts = 0", n))
			}
			if err != nil || there {
				return err
			}
			added, err := h.addParts(n, parts, batch.Bytes())
			if parts += added; err == nil && last {
				_, err = h.exec("UPDATE tool_overflow SET parts = ? WHERE n = ?", parts, n)
			}
			return err
		})
		if err != nil {
			db.abandon(ctx, entry)
			return err
		}
		if entry = n; there || last {
			return nil
		}
	}
}

// newOverflow makes the entry of a new overflow, unless it is there, whole.
func (h *handle) newOverflow(session, id string, now int64) (entry int64, there bool, err error) {
	n, err := h.exec("UPDATE tool_overflow SET created = ? WHERE n = ("+entryOf+")", now, session, id)
	if err != nil || n > 0 {
		return 0, n > 0, err
	}
	var key int64
	if err := h.one([]any{&key}, "SELECT n FROM sessions WHERE id = ?", session); err != nil {
		return 0, false, missing(ErrUnknown, err)
	}
	// One that is not whole is what a process left that was killed.
	if _, err := h.exec("DELETE FROM tool_overflow WHERE session = ? AND id = ?", key, id); err != nil {
		return 0, false, err
	}
	err = h.one([]any{&entry}, insertEntry, key, id, now)
	return entry, false, err
}

// addParts adds data behind the first parts of an entry, and tells how many
// parts it made. There is at least one: an empty text is one too.
func (h *handle) addParts(entry int64, first int, data []byte) (n int, err error) {
	for ; len(data) > 0 || first+n == 0; n++ {
		chunk := data[:min(len(data), partSize)]
		data = data[len(chunk):]
		if chunk == nil {
			chunk = []byte{} // nil would be NULL
		}
		if _, err := h.exec(insertPart, entry, first+n, crc32.ChecksumIEEE(chunk), chunk); err != nil {
			return n, err
		}
	}
	return n, nil
}

// abandon removes an overflow that will not be whole. If it cannot, a sweep does.
func (db *DB) abandon(ctx context.Context, entry int64) {
	if entry == 0 {
		return
	}
	err := db.write(context.WithoutCancel(ctx), func(h *handle) error {
		_, err := h.exec("DELETE FROM tool_overflow WHERE n = ? AND parts = 0", entry)
		return err
	})
	if err != nil {
		db.log.Debug("remove half an overflow", "err", err)
	}
}

// Overflow returns the text of an overflow in pieces of some 100 KiB, whose memory
// is the caller's. An error is the last: ErrNoOverflow if the session has none of
// that id, also where it is removed while it is read.
func (db *DB) Overflow(ctx context.Context, session, id string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for part, parts := 0, 1; part < parts; part++ {
			var crc int64
			var data blob
			err := db.read(ctx, func(h *handle) error {
				if err := h.one([]any{&crc, &data, &parts}, selectPart, session, id, part); err != nil {
					return missing(ErrNoOverflow, err)
				}
				if int64(crc32.ChecksumIEEE(data)) != crc {
					return fmt.Errorf("overflow %s, part %d: %w", id, part, errAltered)
				}
				return nil
			})
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(data, nil) {
				return
			}
		}
	}
}

// sweep removes, once a day, what is older than Options.Retention. It begins
// some time after the first commit, so that nothing is opened for it and no start
// waits; what it removes at once is little, so that no turn waits either.
func (db *DB) sweep() {
	now := db.now()
	if db.retention <= 0 || now.Sub(db.swept) < sweepEvery && !db.swept.IsZero() {
		return
	}
	db.swept = now
	db.sweeping.Go(func() {
		for wait := db.sweepDelay; ; wait = sweepPause {
			select {
			case <-db.closing:
				return
			case <-time.After(wait):
			}
			more := false
			err := db.write(context.Background(), func(h *handle) (err error) {
				more, err = h.expire(db.now(), db.retention)
				return err
			})
			if err != nil {
				db.log.Debug("remove old overflows", "err", err)
			}
			if !more || err != nil {
				return
			}
		}
	})
}

// expire removes a batch of what is too old.
func (h *handle) expire(now time.Time, retention time.Duration) (more bool, err error) {
	if _, err := h.exec("UPDATE tool_overflow SET parts = 0 WHERE created < ? AND parts > 0", now.Add(-retention).UnixMicro()); err != nil {
		return false, err
	}
	const old = "SELECT n FROM tool_overflow WHERE parts = 0 AND created < ?"
	before := now.Add(-min(abandoned, retention)).UnixMicro()
	if n, err := h.dropParts(old, before); err != nil || n > 0 {
		return n > 0, err
	}
	_, err = h.exec("DELETE FROM tool_overflow WHERE n IN ("+old+")", before)
	return false, err
}

// dropParts removes a batch of the parts of entries that a query gives.
func (h *handle) dropParts(entries string, arg any) (int64, error) {
	return h.exec("DELETE FROM tool_overflow_parts WHERE rowid IN (SELECT rowid FROM tool_overflow_parts WHERE entry IN ("+
		entries+") LIMIT ?)", arg, batchParts)
}

// dropOverflow removes the overflow of a session, in batches.
func (db *DB) dropOverflow(ctx context.Context, session string) error {
	const entries = "SELECT o.n FROM tool_overflow o JOIN sessions s ON s.n = o.session WHERE s.id = ?"
	for more := true; more; {
		err := db.write(ctx, func(h *handle) error {
			if _, err := h.exec("UPDATE tool_overflow SET parts = 0 WHERE parts > 0 AND n IN ("+entries+")", session); err != nil {
				return err
			}
			n, err := h.dropParts(entries, session)
			more = n > 0
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
