package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"os"
	"time"
)

// LeaseTimeout is how long a lease lasts after its last heartbeat. A holder
// should send three heartbeats in that time.
const LeaseTimeout = 15 * time.Second

const (
	selectLease = "SELECT holder, beat, host, pid FROM leases WHERE session = ?"
	setLease    = "INSERT OR REPLACE INTO leases (session, holder, beat, host, pid) VALUES (?, ?, ?, ?, ?)"
	deleteLease = "DELETE FROM leases WHERE session = ? AND holder = ?"
	selectLast  = "SELECT coalesce((SELECT last FROM sessions WHERE id = ?), 0)"
)

// lease is a row of leases.
type lease struct {
	holder, host string
	beat         time.Time
	pid          int
}

// live reports whether others must respect the lease. The lease of a process that has died on this
// host is void immediately. If its pid is in use again, or belongs to another host, the lease ends
// after LeaseTimeout.
func (l *lease) live(now time.Time, here string) bool {
	if age := now.Sub(l.beat); age >= LeaseTimeout || age <= -LeaseTimeout { // or the clock was set back
		return false
	}
	return l.host != here || processAlive(l.pid)
}

// lease returns the lease of a session, or nil if it has none.
func (h *handle) lease(id string) (*lease, error) {
	var l lease
	var beat int64
	err := h.one([]any{&l.holder, &beat, &l.host, &l.pid}, selectLease, id)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	l.beat = time.UnixMicro(beat)
	return &l, nil
}

// Acquire takes or renews the lease of a session for holder; the session need
// not be stored. It returns a *LeasedError while another holder has the lease.
// Last is the Seq of the last event, since others may have added events after
// the caller read the log. Holders are distinguished only by name, so names
// must be unique among processes.
func (db *DB) Acquire(ctx context.Context, id, holder string) (last int64, err error) {
	err = db.write(ctx, func(h *handle) error {
		if err := db.takeLease(h, id, holder); err != nil {
			return err
		}
		return h.one([]any{&last}, selectLast, id)
	})
	return last, err
}

// takeLease is Acquire in a transaction.
func (db *DB) takeLease(h *handle, id, holder string) error {
	now, here := db.now(), host()
	l, err := h.lease(id)
	if err != nil {
		return err
	}
	if l != nil && l.holder != holder {
		if l.live(now, here) {
			return &LeasedError{Session: id, Holder: l.holder, PID: l.pid, Beat: l.beat}
		}
		db.log.Info("took over a session from a process that is gone", "session", id, "pid", l.pid)
	}
	_, err = h.exec(setLease, id, holder, now.UnixMicro(), here, os.Getpid())
	return err
}

// Heartbeat extends the lease by another LeaseTimeout. It returns ErrLeaseLost if holder does not
// have the lease, but ErrUnknown if no one has it and the session is not stored, as after its
// deletion. An overdue lease can be extended until another holder takes it.
func (db *DB) Heartbeat(ctx context.Context, id, holder string) error {
	return db.write(ctx, func(h *handle) error {
		n, err := h.exec("UPDATE leases SET beat = ? WHERE session = ? AND holder = ?", db.now().UnixMicro(), id, holder)
		if err != nil || n > 0 {
			return err
		}
		if l, err := h.lease(id); err != nil || l != nil {
			return cmp.Or(err, ErrLeaseLost)
		}
		return h.refusal(id)
	})
}

// Release ends the lease. It returns nil if holder does not have it.
func (db *DB) Release(ctx context.Context, id, holder string) error {
	return db.write(ctx, func(h *handle) error { return h.release(id, holder) })
}

func (h *handle) release(id, holder string) error {
	_, err := h.exec(deleteLease, id, holder)
	return err
}
