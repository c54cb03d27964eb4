package session

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/filter/text/texts"
	"github.com/zeph-acp/zeph-acp/session/store"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// journal is the log of one session. Recorded events are stored before the next frame
// is sent, and shortly afterwards if no frame follows. The request to the model therefore
// overlaps with storing the prompt. A session is kept from its first prompt or change of a
// setting on.
//
// If storing fails, the events stay in memory, the session continues, and the
// user is warned. Each turn begins with another attempt, so that a database
// that was only locked gets all events.
type journal struct {
	db     *store.DB // nil keeps all events in memory
	holder string    // the name under which this process holds leases
	warn   func(string)
	log    *slog.Logger
	now    func() time.Time
	exit   func() texts.Change // what is done to the texts of events; nil changes none

	storing sync.Mutex // held during writes to the store; locked before mu

	mu      sync.Mutex // held only briefly, since the read goroutine calls queue
	session store.Session
	stored  bool          // the store has the session
	begun   bool          // there was a prompt or a change of a setting
	pending []store.Event // not stored yet
	inTurn  int           // the number of events since the last turn began
	due     int           // the number of pending events that must be stored before the next frame
	soon    *time.Timer   // stores the due events; nil before the first of them
	lost    int           // unreadable events that the user was warned of
	last    int64         // the Seq of the last stored event that this process has seen
	leased  bool          // a turn of this process holds the lease
	broken  error         // the reason why nothing is stored until the next turn; nil if the store works
}

// storeDelay is how long events wait for the frame that shows them, to be stored in one
// commit with others.
const storeDelay = 20 * time.Millisecond

// record queues events. They become due, with all earlier ones, if the next frame may
// reveal one of them. It does not block.
func (j *journal) record(events ...transcript.Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.exit != nil {
		events = texts.Map(events, j.exit())
	}
	j.add(events)
	if j.db == nil || !slices.ContainsFunc(events, isRevealedNext) {
		return
	}
	j.due = len(j.pending)
	delay := storeDelay
	if slices.ContainsFunc(events, isPrompt) { // no frame follows until the model answers
		delay = 0
	}
	if j.soon == nil {
		j.soon = time.AfterFunc(delay, j.sync)
	} else {
		j.soon.Reset(delay)
	}
}

// isRevealedNext reports whether the next frame reveals the result of the event. Other
// events are stored together with the next one, since each commit takes time.
func isRevealedNext(e transcript.Event) bool {
	switch e := e.(type) {
	case transcript.Block:
		return e.Block.Call == nil
	case transcript.Answer:
		return e.Shown != nil
	case transcript.State, transcript.Setting: // a change of a setting is stored by Sync
		return false
	}
	return true
}

func isPrompt(e transcript.Event) bool {
	_, ok := e.(transcript.Prompt)
	return ok
}

// syncDue stores the due events.
func (j *journal) syncDue() {
	j.mu.Lock()
	due := j.due > 0
	j.mu.Unlock()
	if due {
		j.sync()
	}
}

// sync stores all recorded events. If another goroutine is storing them, it waits until that
// has succeeded or queued its warning.
func (j *journal) sync() {
	j.storing.Lock()
	defer j.storing.Unlock()
	if _, err := j.flush(keepLease); err != nil {
		j.fail(err)
	}
}

// finish is the sync of a session that closes: the last attempt to store the
// queued events.
func (j *journal) finish() {
	if j.storeError() == nil {
		j.sync()
		return
	}
	end, _, err := j.begin(context.Background(), func(error) {})
	if err != nil { // another process is using the session
		return
	}
	defer end()
	j.sync()
}

// add queues events; the caller holds mu.
func (j *journal) add(events []transcript.Event) {
	for _, e := range events {
		switch e := e.(type) {
		case transcript.Prompt, transcript.Setting:
			j.begun = true
		case transcript.Title:
			j.session.Title = e.Title
		}
		j.pending = append(j.pending, storedForm(e, j.now()))
	}
	j.inTurn += len(events)
}

// beginTurn is called before the first event of a turn.
func (j *journal) beginTurn() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.inTurn = 0
}

// storedForm returns an event in the form of the store.
func storedForm(e transcript.Event, at time.Time) store.Event {
	data, err := plainjson.Marshal(e)
	if err != nil { // every event can be marshalled
		panic(err)
	}
	return store.Event{Time: at, Kind: e.Kind(), Data: data}
}

// The arguments of flush.
const (
	keepLease    = false
	releaseLease = true
)

// flush stores the pending events, and reports whether there were any. If so, and if
// release is set, the same commit releases the lease. A cancel of the turn does not
// interrupt the commit, since the events have happened. The caller holds storing.
func (j *journal) flush(release bool) (stored bool, err error) {
	j.mu.Lock()
	batch := store.Batch{Session: j.session, Create: !j.stored, Events: j.pending, Release: release}
	if j.leased {
		batch.Holder = j.holder
	}
	idle := j.db == nil || !j.begun || j.broken != nil || len(batch.Events) == 0
	j.mu.Unlock()
	if idle {
		return false, nil
	}
	last, err := j.db.Append(context.Background(), batch)
	if err != nil {
		return false, err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.last+int64(len(batch.Events)) == last { // otherwise another process has added events that this one has not seen
		j.last = last
	}
	j.stored = true
	j.pending = slices.Clone(j.pending[len(batch.Events):])
	if j.due = max(0, j.due-len(batch.Events)); j.due == 0 && j.soon != nil {
		j.soon.Stop()
	}
	return true, nil
}

// fail records that storing failed, and queues a warning for the user once; the caller holds
// storing.
func (j *journal) fail(err error) {
	j.mu.Lock()
	was := j.broken
	j.broken = err
	j.mu.Unlock()
	if was != nil {
		return
	}
	j.log.Warn("session is not stored", "session", j.session.ID, "err", err)
	switch {
	case errors.Is(err, store.ErrUnknown):
		j.warn("This session was deleted by another process. It continues, but is no longer saved.")
	case errors.Is(err, store.ErrLeaseLost):
		j.warn("Another process has taken over this session. Nothing is saved here until the next prompt.")
	default:
		j.warn(fmt.Sprintf("This session is not being saved: %v. It continues, and the next prompt tries to save it again.", err))
	}
}

// heartbeat is how often a turn renews its lease.
const heartbeat = store.LeaseTimeout / 3

// begin acquires the lease for a turn. end records the last events of the turn
// and releases the lease, in one commit; later calls do nothing. moved reports that
// another process has continued the session, so that the caller must reload the
// events. The error is a *store.LeasedError if a turn runs in another process;
// a broken store is not an error. lost is called when another process takes
// over the lease.
func (j *journal) begin(ctx context.Context, lost func(error)) (end func(...transcript.Event), moved bool, err error) {
	if j.db == nil {
		return j.record, false, nil
	}
	j.storing.Lock()
	defer j.storing.Unlock()
	leased, moved, err := j.acquire(ctx)
	if err != nil || !leased {
		return j.record, false, err
	}
	stop := j.renewLease(lost)
	ended := false
	return func(events ...transcript.Event) {
		if ended {
			return
		}
		ended = true
		stop()
		j.record(events...)
		j.storing.Lock()
		defer j.storing.Unlock()
		if err := j.endLease(); err != nil {
			j.fail(err)
		}
	}, moved, nil
}

// acquire is the part of begin that acquires the lease; the caller holds storing. leased
// is false if the store is broken, or if the session was deleted from it. A session that
// only this process knows takes its lease with its first events, so that its first turn
// does not wait for the store.
func (j *journal) acquire(ctx context.Context) (leased, moved bool, err error) {
	j.mu.Lock()
	stored, broken := j.stored, j.broken // only holders of storing change them
	if !stored && broken == nil {
		j.leased = true
		j.mu.Unlock()
		return true, false, nil
	}
	j.mu.Unlock()
	if errors.Is(broken, store.ErrUnknown) {
		return false, false, nil
	}
	last, err := j.db.Acquire(ctx, j.session.ID, j.holder)
	if busy, ok := errors.AsType[*store.LeasedError](err); ok {
		return false, false, busy
	}
	if err != nil {
		if ctx.Err() != nil {
			return false, false, context.Cause(ctx)
		}
		j.fail(err)
		return false, false, nil
	}
	if stored && last == 0 { // deleted in the meantime: a stored session has events
		j.release()
		j.fail(store.ErrUnknown)
		return false, false, nil
	}
	j.mu.Lock()
	j.broken, j.leased = nil, true
	moved = stored && last != j.last
	missing := j.last - last
	j.mu.Unlock()
	if stored && missing > 0 { // a log only grows
		j.warn(fmt.Sprintf("The session store was replaced by an older copy, in which the end of this session (%s) is missing. It continues without that.", quantity.Count(missing, "event")))
	}
	return true, moved, nil
}

// endLease stores the pending events and releases the lease; the caller holds
// storing.
func (j *journal) endLease() error {
	released, err := j.flush(releaseLease)
	j.mu.Lock()
	j.leased = false
	j.mu.Unlock()
	if !released {
		j.release()
	}
	return err
}

func (j *journal) release() {
	if err := j.db.Release(context.Background(), j.session.ID, j.holder); err != nil {
		j.log.Debug("release the lease", "session", j.session.ID, "err", err)
	}
}

// renewLease renews the lease until stop is called, which waits for a renewal that has begun. A
// turn shorter than a heartbeat needs no goroutine for it.
func (j *journal) renewLease(lost func(error)) (stop func()) {
	var mu sync.Mutex // held during a renewal
	var timer *time.Timer
	stopped := false
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(heartbeat, func() {
		mu.Lock()
		defer mu.Unlock()
		if stopped {
			return
		}
		if !j.isStored() { // it has no lease yet
			timer.Reset(heartbeat)
			return
		}
		err := j.db.Heartbeat(context.Background(), j.session.ID, j.holder)
		if errors.Is(err, store.ErrUnknown) { // it was deleted: the turn continues, and the next flush warns
			return
		}
		if errors.Is(err, store.ErrLeaseLost) {
			lost(fmt.Errorf("%w: send the prompt again when that one has finished", err))
			return
		}
		if err != nil {
			j.log.Debug("heartbeat", "session", j.session.ID, "err", err)
		}
		timer.Reset(heartbeat)
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		stopped = true
		timer.Stop()
	}
}

// storeError returns the reason why nothing is stored, or nil if the store works.
func (j *journal) storeError() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.broken
}

// isStored reports whether the store has the session.
func (j *journal) isStored() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.stored
}

// hasBegun reports whether the session is kept.
func (j *journal) hasBegun() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.begun
}

// setDirs sets the additional directories that a client last named.
func (j *journal) setDirs(dirs []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.session.Dirs = dirs
}

// title returns the session's title, or "" before it has one.
func (j *journal) title() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.session.Title
}
