// Package store keeps sessions in one SQLite database: a row per session, its
// append-only log of events, the texts that were too long for its model, and a
// lease for whoever runs a turn of it; besides, counters of all sessions. It does
// not know what an event or a counter means.
//
//	db := store.New(filepath.Join(home, "zeph.db"), store.Options{})
//	defer db.Close()
//	last, err := db.Append(ctx, store.Session{ID: id, CWD: cwd}, true, "", events)
//
// Several processes may use one file at once. What Append has returned for
// survives the death of the process; a crash of the whole machine may take the
// last commits, but not the database (WAL, synchronous=NORMAL).
//
// An error that is none of ErrUnknown, ErrExists, ErrNoOverflow, ErrCursor,
// ErrLeaseLost, ErrClosed and *LeasedError, nor the cause of ctx, is an *UnusableError: the file
// is locked, damaged, read-only, of a newer version, and so on. It is left as it
// is, and tried again by the next use, a few seconds later at the earliest.
//
// Why does no method stop at once when ctx is done? A context ends the wait for
// another caller. Once it has begun, a statement runs to its end, which is near
// (BusyTimeout), so that no one is left to guess whether it was committed.
//
// Why is even the header read through SQLite? Its POSIX locks are the process's:
// closing any other descriptor of a file drops them all. Nothing else in the
// process may open zeph.db, zeph.db-wal or zeph.db-shm while a DB is open.
package store

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"sync"
	"time"
)

const (
	// BusyTimeout is how long a statement waits for other processes.
	BusyTimeout = 2 * time.Second
	// retryAfter is how long the reason why the file could not be opened or
	// written is given again in place of another try.
	retryAfter = 3 * time.Second
)

// Options are what New needs besides the path.
type Options struct {
	Now       func() time.Time // nil means time.Now
	Log       *slog.Logger     // nil means none
	Retention time.Duration    // of overflows; 0 keeps them as long as their session
}

// DB is the database of sessions. It is safe for concurrent use; its methods run
// one after the other.
type DB struct {
	path       string
	now        func() time.Time
	log        *slog.Logger
	retention  time.Duration
	sweepDelay time.Duration
	sweeping   sync.WaitGroup
	closing    chan struct{} // closed by Close

	turn    chan struct{} // holds a token while a method uses what is below
	h       *handle       // nil until the first use and after a fault
	opening fault         // why h could not be made
	locking fault         // why no transaction could begin
	damaged bool          // SQLite found damage: look at everything before the next use
	closed  bool
	swept   time.Time // when old overflows were looked for
}

// fault is an error that is repeated for a while instead of the attempt that
// led to it.
type fault struct {
	err   error
	until time.Time
}

// New returns the database at path and opens nothing: that is done, and the file
// made if it is missing (0600, its directory 0700), at the first use.
func New(path string, o Options) *DB {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &DB{
		path: path, now: o.Now, log: o.Log, retention: o.Retention, sweepDelay: sweepDelay,
		turn: make(chan struct{}, 1), closing: make(chan struct{}),
	}
}

// Open opens the database before its first use, which then need not wait for that.
func (db *DB) Open(ctx context.Context) error {
	return db.read(ctx, func(*handle) error { return nil })
}

// Close waits for the method that runs now and closes the database. The last
// process to close moves what the log holds into the database, some MiB at most.
// What is called later gives ErrClosed.
func (db *DB) Close() error {
	db.turn <- struct{}{}
	if !db.closed {
		close(db.closing)
	}
	db.closed = true
	err := db.drop()
	<-db.turn
	db.sweeping.Wait()
	return err
}

// drop closes the handle, if there is one.
func (db *DB) drop() error {
	h := db.h
	if h == nil {
		return nil
	}
	db.h = nil
	return h.close()
}

// read runs do when its turn has come.
func (db *DB) read(ctx context.Context, do func(*handle) error) error {
	select {
	case db.turn <- struct{}{}:
		defer func() { <-db.turn }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	if ctx.Err() != nil { // select picks either when both are ready
		return context.Cause(ctx)
	}
	h, err := db.handle()
	if err != nil {
		return err
	}
	if err = do(h); err == nil || ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return err
	}
	return db.judge(err)
}

// write runs do in a transaction, which is committed if do gives no error.
func (db *DB) write(ctx context.Context, do func(*handle) error) error {
	return db.read(ctx, func(h *handle) error {
		if now := db.now(); now.Before(db.locking.until) {
			return db.locking.err
		}
		tx, err := h.conn.BeginTx(context.Background(), nil) // immediate: the DSN says so
		if err != nil {
			err = db.explain(err)
			db.locking = fault{err, db.now().Add(retryAfter)}
			return err
		}
		defer tx.Rollback() // after Commit it does nothing
		if err := h.migrated(); err != nil {
			return err
		}
		if err := do(h); err != nil {
			return err
		}
		if err := tx.Commit(); err != nil {
			return err
		}
		db.sweep()
		return nil
	})
}

// handle returns the open database. It opens the file when there is none yet, when
// another file has taken its place, and when it is time to try for more than
// reading.
func (db *DB) handle() (*handle, error) {
	if db.closed {
		return nil, ErrClosed
	}
	if h := db.h; h != nil {
		info, err := os.Stat(h.path)
		same := err == nil && os.SameFile(info, h.file)
		if same && (h.until.IsZero() || db.now().Before(h.until)) {
			return h, nil
		}
		if !same {
			db.log.Warn("session store was moved or removed, opening it anew", "path", h.path)
		}
		db.drop() // nothing of ours is lost: what was committed is in the file
	}
	if now := db.now(); now.Before(db.opening.until) {
		return nil, db.opening.err
	}
	h, err := open(db.path, db.damaged)
	if err != nil {
		err = db.explain(err)
		db.opening = fault{err, db.now().Add(retryAfter)}
		return nil, err
	}
	if h.readOnly {
		h.until = db.now().Add(retryAfter)
	}
	db.h, db.damaged, db.opening, db.locking = h, false, fault{}, fault{}
	return h, nil
}

// judge explains an error of a statement and draws the consequences for the
// next use.
func (db *DB) judge(err error) error {
	err = db.explain(err)
	switch u, _ := errors.AsType[*UnusableError](err); {
	case u == nil:
	case u.damaged(), u.newer():
		db.damaged = u.damaged()
		db.opening = fault{err, db.now().Add(retryAfter)}
		db.drop()
	case u.broken():
		db.drop()
	case u.readOnly() && db.h.until.IsZero():
		db.h.until = db.now().Add(retryAfter) // see then whether it can be written
	}
	return err
}

// Session is what the log as a whole is about.
type Session struct {
	ID      string
	CWD     string // as given; List compares it byte for byte
	Dirs    []string
	Title   string
	Created time.Time // time of the first event, UTC, in microseconds
	Updated time.Time // time of the newest event
	Events  int       // their number, and the Seq of the newest
}

// Event is an entry of a session's log.
type Event struct {
	Seq  int64     // 1, 2, … in a session
	Time time.Time // kept in UTC and in microseconds; zero means now
	Kind string
	Data json.RawMessage // any bytes
}
