// Package store keeps sessions in one SQLite database. Each session has a row, an append-only log
// of events, the texts that were too long for the model, and a lease for the process that runs a
// turn. It also has counters for all sessions, scheduled tasks with their runs, the memories of
// projects, and a word index of memories and messages. It does not interpret events or counters.
//
//	db := store.New(filepath.Join(home, "zeph.db"), store.Options{})
//	defer db.Close()
//	session := store.Session{ID: id, CWD: cwd}
//	last, err := db.Append(ctx, store.Batch{Session: session, Create: true, Events: events})
//
// Several processes may use one file concurrently. Once Append has returned,
// its events survive the death of the process. A crash of the machine may lose
// the last commits, but does not damage the database (WAL, synchronous=NORMAL).
//
// Every error other than ErrUnknown, ErrExists, ErrNoOverflow, ErrNoTask, ErrManyTasks,
// ErrNoMemory, ErrFull, ErrCursor, ErrLeaseLost, ErrClosed, *LeasedError and the cause of
// ctx is an *UnusableError: the file is locked, damaged, read-only, of a newer version,
// and so on. The file is left unchanged, and the next use tries again: if the file
// is damaged or newer, or could not be opened because of a lock, after a few seconds at the
// earliest. Until then a write does not wait for another process that held a lock.
//
// Why does no method stop immediately when ctx is done? A context ends the wait
// for another caller. A statement that has begun runs to its end, which
// busyTimeout limits, so that a caller always learns whether it was committed.
//
// SQLite drops the end of a damaged write-ahead log without an error, as after a
// power failure. So that end is read before SQLite opens the file, and Loss
// names the sessions that lost events.
//
// Why is even the header read through SQLite? Its POSIX locks belong to the
// process: closing any other descriptor of the file drops them all. Nothing else
// in the process may open zeph.db or zeph.db-shm while a DB is open; zeph.db-wal
// has no locks.
package store

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/semaphore"
)

const (
	// busyTimeout is how long a statement waits for other processes.
	busyTimeout = 2 * time.Second
	// retryAfter is how long a failure is repeated without another attempt, if that
	// would be slow.
	retryAfter = 3 * time.Second
)

// Options are the options of New.
type Options struct {
	Now       func() time.Time // nil means time.Now
	Log       *slog.Logger     // nil discards messages
	Retention time.Duration    // of overflows; 0 keeps them as long as their session
}

// DB is the database of sessions. It is safe for concurrent use; its methods
// run one after another.
type DB struct {
	path       string
	now        func() time.Time
	log        *slog.Logger
	retention  time.Duration
	sweepDelay time.Duration
	sweeping   sync.WaitGroup
	closing    chan struct{} // closed by Close

	lock        *semaphore.Weighted // guards the fields below; a wait for it ends with its context
	h           *handle             // nil until the first use and after a fault
	openFailure recentFailure       // the last failure to open the file
	lockedUntil time.Time           // until then no transaction waits for a lock; zero after no failure
	damaged     bool                // SQLite found damage: check every page before the next use
	closed      bool
	swept       time.Time // the time of the last sweep

	sweepPending bool // a sweep has begun and not ended

	loss atomic.Pointer[string] // the next result of Loss; nil if nothing was lost
}

// recentFailure is the failure of an attempt. Until the given time it is returned without
// another attempt. The zero value means no failure.
type recentFailure struct {
	err   error
	until time.Time
}

// New returns the database at path and opens nothing. The first use opens the
// file, and creates it if it is missing (0600, its directory 0700).
func New(path string, o Options) *DB {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &DB{
		path: path, now: o.Now, log: o.Log, retention: o.Retention, sweepDelay: sweepDelay,
		lock: semaphore.NewWeighted(1), closing: make(chan struct{}),
	}
}

// Exists reports whether the file is there.
func (db *DB) Exists() bool {
	_, err := os.Stat(db.path)
	return err == nil
}

// Open opens the database, compiles the statements of a turn and makes the first
// commit, so that the first turn need not wait for them.
func (db *DB) Open(ctx context.Context) error {
	return db.read(ctx, func(h *handle) error {
		for _, query := range []string{
			begin, selectLease, setLease, selectLast, insertSession, updateSession, touchSession, insertEvent, deleteLease, commit,
		} {
			if _, err := h.stmt(query); err != nil {
				return err
			}
		}
		host()
		if h.readOnly {
			return h.checkVersion() // compiles its query again: a migration changes the schema
		}
		db.sweep()
		if walHasCommits(h.path) {
			return h.checkVersion()
		}
		return h.startWAL()
	})
}

// Loss returns a warning for the user if damage of the write-ahead log has cost
// stored changes, else "". It returns each warning once.
func (db *DB) Loss() string {
	if text := db.loss.Swap(nil); text != nil {
		return *text
	}
	return ""
}

// Close waits for the running method and closes the database. The last process
// to close moves the WAL into the database, some MiB at most. Later calls
// return ErrClosed.
func (db *DB) Close() error {
	_ = db.lock.Acquire(context.Background(), 1) // a context that is never done
	if !db.closed {
		close(db.closing)
	}
	db.closed = true
	db.sweepAtClose()
	err := db.closeHandle()
	db.lock.Release(1)
	db.sweeping.Wait()
	return err
}

// closeHandle closes the handle, if there is one.
func (db *DB) closeHandle() error {
	h := db.h
	if h == nil {
		return nil
	}
	db.h = nil
	return h.close()
}

// read runs do once no other method is running.
func (db *DB) read(ctx context.Context, do func(*handle) error) error {
	if db.lock.Acquire(ctx, 1) != nil {
		return context.Cause(ctx)
	}
	defer db.lock.Release(1)
	h, err := db.handle()
	if err != nil {
		return err
	}
	if err = do(h); err == nil || ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) {
		return err
	}
	return db.handleFailure(err)
}

// write runs do in a transaction, which is committed if do returns nil.
func (db *DB) write(ctx context.Context, do func(*handle) error) error {
	return db.read(ctx, func(h *handle) error {
		if err := db.begin(h); err != nil {
			return err
		}
		if err := h.inTransaction(do); err != nil {
			return err
		}
		db.sweep()
		return nil
	})
}

// writeAtOnce is write for work that can be done later: it does not wait while another
// process writes.
func (db *DB) writeAtOnce(ctx context.Context, do func(*handle) error) error {
	return db.read(ctx, func(h *handle) error {
		if err := h.beginAtOnce(); err != nil {
			return err
		}
		return h.inTransaction(do)
	})
}

// begin begins a transaction. For a while after a lock has made it fail, it does not wait for
// that lock again, but uses the file if the lock is gone.
func (db *DB) begin(h *handle) error {
	if db.now().Before(db.lockedUntil) {
		return h.beginAtOnce()
	}
	_, err := h.exec(begin)
	if isLock(err) {
		db.lockedUntil = db.now().Add(retryAfter)
	}
	return err
}

// handle returns the open database. It opens the file if none is open, if
// another file has replaced it, and if it is time to retry for writing.
func (db *DB) handle() (*handle, error) {
	if db.closed {
		return nil, ErrClosed
	}
	if h := db.h; h != nil {
		info, err := os.Stat(h.path)
		same := err == nil && os.SameFile(info, h.file)
		if same && (h.retryAt.IsZero() || db.now().Before(h.retryAt)) {
			return h, nil
		}
		if !same {
			db.log.Warn("session store was moved or removed, opening it anew", "path", h.path)
		}
		db.closeHandle() // commits are in the file, so nothing is lost
	}
	if now := db.now(); now.Before(db.openFailure.until) {
		return nil, db.openFailure.err
	}
	h, err := open(db.path, db.damaged)
	if err != nil {
		err = db.explain(err)
		db.openFailure = db.newFailure(err)
		return nil, err
	}
	if h.readOnly {
		h.retryAt = db.now().Add(retryAfter)
	}
	if h.loss != "" {
		db.log.Warn(h.loss)
		db.loss.Store(&h.loss)
	}
	db.h, db.damaged, db.openFailure, db.lockedUntil = h, false, recentFailure{}, time.Time{}
	return h, nil
}

// newFailure returns the failure of an attempt, to be returned for a while if another
// attempt would be slow. Otherwise it returns the zero value: a full disk, which fails
// immediately, may have room again.
func (db *DB) newFailure(err error) recentFailure {
	if u, ok := errors.AsType[*UnusableError](err); ok && (u.locked() || u.damaged() || u.newer()) {
		return recentFailure{err, db.now().Add(retryAfter)}
	}
	return recentFailure{}
}

// handleFailure explains an error of a statement and prepares the next use accordingly.
func (db *DB) handleFailure(err error) error {
	err = db.explain(err)
	switch u, _ := errors.AsType[*UnusableError](err); {
	case u == nil:
	case u.damaged(), u.newer():
		db.damaged = u.damaged()
		db.openFailure = recentFailure{err, db.now().Add(retryAfter)}
		db.closeHandle()
	case u.broken():
		db.closeHandle()
	case u.readOnly() && db.h.retryAt.IsZero():
		db.h.retryAt = db.now().Add(retryAfter) // to retry for writing then
	}
	return err
}

// Session is a row of the store: the facts about a log as a whole.
type Session struct {
	ID      string
	CWD     string // unchanged; List compares it byte for byte
	Dirs    []string
	Title   string
	Created time.Time // time of the first event, UTC, in microseconds
	Updated time.Time // time of the newest event; during a turn it may be a second older
	Events  int       // the number of events, and the Seq of the newest
}

// Event is an entry of a session's log.
type Event struct {
	Seq  int64     // 1, 2, … in a session
	Time time.Time // kept in UTC and in microseconds; zero means now
	Kind string
	Data json.RawMessage // any bytes
	// Damaged reports that Data does not match its checksum.
	Damaged bool
}
