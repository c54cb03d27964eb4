package store

import (
	"context"
	"time"
)

const (
	// sweepEvery is the interval between two sweeps.
	sweepEvery = 24 * time.Hour
	// sweepDelay delays a sweep so that it does not slow the start, and another attempt
	// while another process writes. sweepPause is the pause between two batches, in which
	// other callers can run.
	sweepDelay = 2 * time.Second
	sweepPause = 100 * time.Millisecond
)

// sweep removes overflows older than Options.Retention and returns unused room to the file
// system, once a day and in the background. It is called when a file has just been opened
// or used, so that it opens no file by itself. Small batches let turns run in between.
func (db *DB) sweep() {
	now := db.now()
	if now.Sub(db.swept) < sweepEvery && !db.swept.IsZero() {
		return
	}
	db.swept, db.sweepPending = now, true
	db.sweeping.Go(func() {
		for wait := db.sweepDelay; ; {
			select {
			case <-db.closing:
				return
			case <-time.After(wait):
			}
			more := false
			err := db.writeAtOnce(context.Background(), func(h *handle) (err error) {
				more, err = db.sweepBatch(h)
				db.sweepPending = more
				return err
			})
			switch {
			case isLock(err):
				wait = db.sweepDelay
			case err != nil:
				db.log.Debug("sweep the database", "err", err)
				return
			case !more:
				return
			default:
				wait = sweepPause
			}
		}
	})
}

// sweepBatch does a part of a sweep that takes milliseconds.
func (db *DB) sweepBatch(h *handle) (more bool, err error) {
	if db.retention > 0 {
		if more, err := h.expire(db.now(), db.retention); more || err != nil {
			return more, err
		}
	}
	return h.shrinkBatch()
}

// sweepAtClose removes a batch of old overflows if a sweep has not ended, so that processes
// which end soon remove some too. It does not wait for another process.
func (db *DB) sweepAtClose() {
	if db.h == nil || !db.sweepPending || db.retention <= 0 {
		return
	}
	err := db.h.beginAtOnce()
	if err == nil {
		err = db.h.inTransaction(func(h *handle) error {
			more, err := h.expire(db.now(), db.retention)
			if more {
				_, err = h.expire(db.now(), db.retention) // the entries of these parts
			}
			return err
		})
	}
	if err != nil {
		db.log.Debug("remove old overflows", "err", err)
	}
}

// expire removes a batch of old overflows.
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
