// Package audit keeps the record of every tool call: one JSON object per line of
// audit.jsonl, written before the call returns its result.
//
// Start with [New], and put [Middleware] around the chain. [Log.Read] returns the
// record, and [Log.Verify] reports whether it was changed.
//
// It promises that a call that cannot be recorded is not run. Each call has
// exactly one line, even if it was denied or cancelled, or crashed the process.
// Any number of processes may write to one log concurrently: lines are whole,
// and each carries the hash of the line before it. Lines survive the end of the
// process, but not a power failure: the log does not wait for the disk.
//
// It does not protect against users who can write the file: they can rewrite it
// with new hashes, or truncate it. To detect that, keep a hash elsewhere.
//
// Why is audit outermost? So that it records calls that a gate denied, and sees
// only filtered results.
//
// Why is there a second file while calls run? The line of a call includes its end,
// so it is written last. Until then the beginning of the call is in
// audit.jsonl.run-*, one file for each process. A process that opens the log and
// finds such a file of a dead process writes the missing lines, with the result
// "interrupted".
package audit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/texts"
)

// FileName is the base name of the log.
const FileName = "audit.jsonl"

// Log is an audit log. It may be used concurrently.
type Log struct {
	file     string                            // absolute path
	maxBytes int64                             // 0 means no limit
	exit     func(session string) texts.Change // masks; nil masks nothing
	now      func() time.Time

	mu        sync.Mutex
	running   *running   // nil until the first call
	unwritten []finished // lines that could not be written
}

// finished is a call that ended and still has a slot in the file of running calls.
type finished struct {
	body []byte
	slot int
}

// New returns the log in a directory. The first recorded call creates both. Without
// a directory, or if the log is off, New returns nil, which records nothing. exit
// returns the function that masks secrets in a session's text; it may be nil.
func New(dir string, cfg Config, exit func(session string) texts.Change) *Log {
	if dir == "" || !cfg.Enabled {
		return nil
	}
	return &Log{file: filepath.Join(dir, FileName), maxBytes: cfg.MaxBytes, exit: exit, now: time.Now}
}

// Close closes the file of running calls. No call may begin after it.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.running == nil {
		return nil
	}
	r := l.running
	l.running = nil
	return r.close()
}

// Recover writes the lines of calls whose processes have died. Each write to
// the log also does that.
func (l *Log) Recover() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if files, err := l.otherRunFiles(); err != nil || len(files) == 0 {
		return err
	}
	return l.withLock(l.recover)
}

// begin records a call that is about to run and returns its slot. An error means
// that the call cannot be recorded.
func (l *Log) begin(e *Entry) (slot int, err error) {
	body, err := e.body()
	if err != nil {
		return 0, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	err = l.withLock(func(f *os.File) (err error) {
		if l.running == nil {
			_ = l.recover(f) // the next process tries the rest again
			l.running, err = newRunning(l.file)
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	for len(l.unwritten) > 0 {
		if err := l.writeFinished(l.unwritten[0]); err != nil {
			return 0, err
		}
		l.unwritten = l.unwritten[1:]
	}
	return l.running.begin(body)
}

// end writes the line of a call. If that fails, the line is written before the next
// call runs, or by the next process.
func (l *Log) end(e *Entry, slot int) error {
	body, err := e.body()
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	done := finished{body, slot}
	if err := l.writeFinished(done); err != nil {
		l.unwritten = append(l.unwritten, done)
		return err
	}
	return nil
}

// writeFinished writes the line of a call that ended, and frees its slot.
func (l *Log) writeFinished(done finished) error {
	if err := l.append(done.body); err != nil {
		return err
	}
	if l.running != nil {
		l.running.end(done.slot)
	}
	return nil
}

var errPanicked = errors.New("the tool panicked")

// Middleware records every call that passes through it. A nil log records nothing.
func Middleware(l *Log) executors.Middleware {
	return func(next executors.Executor) executors.Executor {
		if l == nil {
			return next
		}
		return recorder{next, l}
	}
}

type recorder struct {
	executors.Executor // Tools and Prepare pass through
	log                *Log
}

// Execute records a call before and after it runs.
func (r recorder) Execute(ctx context.Context, call *executors.Call) (res executors.Result, err error) {
	if call.Record == nil {
		call.Record = &executors.Record{}
	}
	start := r.log.now()
	entry := r.log.newEntry(call, start)
	slot, err := r.log.begin(entry)
	if err != nil {
		return executors.Failuref(executors.PermanentFailure, "%s was not run, since it cannot be recorded in the audit log: %v", call.Tool, err).
			Hint("Tell the user, and call no tools until the user has fixed the audit log.").Result(), nil
	}
	panicked := true
	defer func() {
		out, outErr := res, err
		if panicked {
			out, outErr = executors.Result{}, errPanicked
		}
		r.log.addOutcome(ctx, entry, call, out, outErr)
		entry.DurationMS = r.log.now().Sub(start).Milliseconds()
		if logErr := r.log.end(entry, slot); logErr != nil {
			err = errors.Join(err, &WriteError{logErr})
		}
	}()
	res, err = r.Executor.Execute(ctx, call)
	panicked = false
	return res, err
}

// WriteError means that a call ran, and that its line could not be written.
type WriteError struct{ Err error }

// Error returns the message of the cause.
func (e *WriteError) Error() string { return "writing the audit log: " + e.Err.Error() }

// Unwrap returns the cause.
func (e *WriteError) Unwrap() error { return e.Err }
