package store

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

var (
	// ErrUnknown means that no such session is stored.
	ErrUnknown = errors.New("unknown session")
	// ErrExists means that a session to be created is already stored.
	ErrExists = errors.New("session exists")
	// ErrLeaseLost means that the holder does not have the lease.
	ErrLeaseLost = errors.New("the session was taken over by another process")
	// ErrCursor means that a cursor was not returned by List.
	ErrCursor = errors.New("not a cursor of this list")
	// ErrClosed means that the DB is closed.
	ErrClosed = errors.New("the session store is closed")
)

// LeasedError names the holder of a lease.
type LeasedError struct {
	Session, Holder string
	PID             int       // of the holder, on its own host
	Beat            time.Time // last heartbeat
}

func (e *LeasedError) Error() string {
	return fmt.Sprintf("session %s is in use by another process (pid %d)", e.Session, e.PID)
}

// NewerError means that the file has a schema unknown to this program.
type NewerError struct {
	Version, Known int // of the file; the newest known one
}

func (e *NewerError) Error() string {
	return fmt.Sprintf("schema version %d, this program supports %d", e.Version, e.Known)
}

// UnusableError means that the whole database cannot be used now. The write was not made.
type UnusableError struct {
	Path    string // of the database
	Problem string // a clause whose subject is the path
	Advice  string // an action for the user
	Err     error  // cause
}

func (e *UnusableError) Error() string {
	return fmt.Sprintf("session store %s %s; %s (%v)", e.Path, e.Problem, e.Advice, e.Err)
}

func (e *UnusableError) Unwrap() error { return e.Err }

var (
	errNotFile = errors.New("not a regular file")
	errForeign = errors.New("its application_id is not ours")
	errDamaged = errors.New("the check of the database found damage")
	errAltered = errors.New("its data has changed on the disk")
)

// sqliteCode returns the primary result code of SQLite in err, or 0.
func sqliteCode(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff // the higher bits are details
	}
	return 0
}

func (e *UnusableError) damaged() bool {
	c := sqliteCode(e.Err)
	return c == sqlite3.SQLITE_CORRUPT || c == sqlite3.SQLITE_NOTADB || errors.Is(e.Err, errDamaged)
}

func (e *UnusableError) newer() bool {
	_, ok := errors.AsType[*NewerError](e.Err)
	return ok
}

func (e *UnusableError) locked() bool { return isLock(e.Err) }

// isLock reports whether err means that another program holds a lock.
func isLock(err error) bool {
	switch sqliteCode(err) {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return true
	}
	return false
}

// broken reports whether the connection should be replaced.
func (e *UnusableError) broken() bool {
	switch sqliteCode(e.Err) {
	case sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM, 0:
		return !errors.Is(e.Err, errAltered)
	}
	return false
}

func (e *UnusableError) readOnly() bool { return sqliteCode(e.Err) == sqlite3.SQLITE_READONLY }

// explain returns err as an *UnusableError, unless it concerns only one session or call.
func (db *DB) explain(err error) error {
	for _, small := range []error{ErrUnknown, ErrExists, ErrNoOverflow, ErrNoTask, ErrManyTasks, ErrNoMemory, ErrFull, ErrLeaseLost, ErrClosed} {
		if errors.Is(err, small) {
			return err
		}
	}
	if _, ok := errors.AsType[*LeasedError](err); ok {
		return err
	}
	if u, ok := errors.AsType[*UnusableError](err); ok {
		return u
	}
	problem, advice := diagnose(err)
	return &UnusableError{Path: db.path, Problem: problem, Advice: advice, Err: err}
}

func damageAdvice() (problem, advice string) {
	return "is damaged", "move the file away, with its -wal and -shm, to start anew; it is left as it is"
}

// diagnose returns the Problem and the Advice of an UnusableError with this cause.
func diagnose(err error) (problem, advice string) {
	const elsewhere = "set ZEPH_HOME to another directory"
	if _, ok := errors.AsType[*NewerError](err); ok {
		return "was written by a newer zeph-acp", "install that one, or " + elsewhere
	}
	if errors.Is(err, errNotFile) {
		return "is not a file", "move it away, or " + elsewhere
	}
	if errors.Is(err, errForeign) {
		return "belongs to another program", elsewhere
	}
	switch sqliteCode(err) {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL:
		return "is locked by another program", "find it with fuser or lsof on this file, and close it"
	case sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB:
		return damageAdvice()
	case sqlite3.SQLITE_READONLY:
		return "cannot be written", "make the file and its directory writable, or " + elsewhere
	case sqlite3.SQLITE_FULL:
		return "has no space left on its disk", "free some"
	case sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM:
		return "cannot be opened", "make the file and its directory readable and writable, or " + elsewhere
	}
	switch {
	case errors.Is(err, errAltered):
		return "is damaged", "this session cannot be read; the file is left as it is"
	case errors.Is(err, errDamaged):
		return damageAdvice()
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return "cannot be opened", "make the file and its directory writable, or " + elsewhere
	case errors.Is(err, syscall.ENOSPC):
		return "has no space left on its disk", "free some"
	}
	return "cannot be used", "look at the file and its directory, or " + elsewhere
}
