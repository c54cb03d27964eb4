package store

import (
	"bytes"
	"context"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"iter"
	"sync"
	"time"
)

// ErrNoOverflow means that a session has no such overflow. It wraps
// fs.ErrNotExist for callers that do not import this package.
var ErrNoOverflow = fmt.Errorf("no such overflow of this session: %w", fs.ErrNotExist)

const (
	// batchParts is the number of parts that one transaction writes or deletes,
	// while others wait.
	batchParts = 4
	// abandoned is the age at which an incomplete overflow certainly has no
	// writer.
	abandoned = time.Hour
)

// selectEntry finds an overflow by both session and id, so that no session can read
// another's. It does not find one older than the third argument.
const selectEntry = `SELECT o.n FROM tool_overflow o JOIN sessions s ON s.n = o.session
	WHERE s.id = ? AND o.id = ? AND o.created >= ? AND o.parts > 0`

const (
	insertEntry = `INSERT INTO tool_overflow (session, id, created, parts) VALUES (?, ?, ?, 0) RETURNING n`
	insertPart  = `INSERT INTO tool_overflow_parts (entry, part, crc, data) VALUES (?, ?, ?, ?)`
	selectPart  = `SELECT crc, data, (SELECT parts FROM tool_overflow WHERE n = entry)
		FROM tool_overflow_parts WHERE entry = (` + selectEntry + `) AND part = ?`
)

// PutOverflow stores the text from r for a stored session. The id must identify
// the text: if the id exists, PutOverflow only extends its retention. It
// returns ErrUnknown if the session is not stored. Once PutOverflow has
// returned nil, the text is complete; it is removed with the session, or by
// Options.Retention.
//
// A long text is written in several transactions, so that others can run
// between them. It is never held in memory as a whole.
func (db *DB) PutOverflow(ctx context.Context, session, id string, r io.Reader) error {
	var batch bytes.Buffer
	var entry int64 // set after the commit: after a rollback another entry may get the number
	for parts := 0; ; {
		batch.Reset()
		_, err := io.CopyN(&batch, r, batchParts*partSize)
		last := err == io.EOF
		if err != nil && !last {
			db.abandon(ctx, entry)
			return fmt.Errorf("store an overflow: %w", err)
		}
		n, exists := entry, false
		err = db.write(ctx, func(h *handle) (err error) {
			if n == 0 {
				n, exists, err = h.newOverflow(session, id, db.now().UnixMicro(), db.oldest())
			} else {
				err = replaceNoRows(ErrNoOverflow, h.one([]any{new(int)}, "SELECT 1 FROM tool_overflow WHERE n = ? AND parts = 0", n))
			}
			if err != nil || exists {
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
		if entry = n; exists || last {
			return nil
		}
	}
}

// newOverflow creates the entry of an overflow; exists reports that a complete
// one exists already.
func (h *handle) newOverflow(session, id string, now, oldest int64) (entry int64, exists bool, err error) {
	n, err := h.exec("UPDATE tool_overflow SET created = ? WHERE n = ("+selectEntry+")", now, session, id, oldest)
	if err != nil || n > 0 {
		return 0, n > 0, err
	}
	var key int64
	if err := h.one([]any{&key}, "SELECT n FROM sessions WHERE id = ?", session); err != nil {
		return 0, false, replaceNoRows(ErrUnknown, err)
	}
	// A killed process left an incomplete one, or it is too old and not removed yet.
	if _, err := h.exec("DELETE FROM tool_overflow WHERE session = ? AND id = ?", key, id); err != nil {
		return 0, false, err
	}
	err = h.one([]any{&entry}, insertEntry, key, id, now)
	return entry, false, err
}

// addParts adds data after the first parts of an entry, and returns the number
// of new parts. That is at least one, even for an empty text.
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

// abandon removes an overflow that will not be completed. If that fails, a
// sweep does it.
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

// Overflow returns the text of an overflow in pieces of about 100 KiB, which
// the caller may keep. An error comes last. It is ErrNoOverflow if the session
// has no such overflow, if it is older than Options.Retention, or if it is removed
// during the iteration.
func (db *DB) Overflow(ctx context.Context, session, id string) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for part, parts := 0, 1; part < parts; part++ {
			var crc int64
			var data blob
			err := db.read(ctx, func(h *handle) error {
				if err := h.one([]any{&crc, &data, &parts}, selectPart, session, id, db.oldest(), part); err != nil {
					return replaceNoRows(ErrNoOverflow, err)
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

// oldest returns the time, in microseconds, before which an overflow counts as removed.
func (db *DB) oldest() int64 {
	if db.retention <= 0 {
		return 0
	}
	return db.now().Add(-db.retention).UnixMicro()
}

// CopyOverflow copies an overflow of a session to another one. It returns ErrNoOverflow if there
// is none.
func (db *DB) CopyOverflow(ctx context.Context, from, to, id string) error {
	text, out := io.Pipe()
	var reading sync.WaitGroup
	reading.Go(func() {
		for piece, err := range db.Overflow(ctx, from, id) {
			if err == nil {
				_, err = out.Write(piece)
			}
			if err != nil {
				out.CloseWithError(err)
				return
			}
		}
		out.Close()
	})
	err := db.PutOverflow(ctx, to, id, text)
	text.Close() // PutOverflow reads nothing if the text exists already
	reading.Wait()
	return err
}

// dropParts removes a batch of the parts of entries that a query selects.
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
