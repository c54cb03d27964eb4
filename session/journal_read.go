package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/store"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// events returns the whole log, including the pending events.
func (j *journal) events(ctx context.Context) ([]transcript.Event, error) {
	events, _, err := j.read(ctx)
	return events, err
}

// eventsBeforeTurn returns the log without the events since beginTurn. Only this process adds events
// during the turn.
func (j *journal) eventsBeforeTurn(ctx context.Context) ([]transcript.Event, error) {
	events, inTurn, err := j.read(ctx)
	return events[:max(0, len(events)-inTurn)], err
}

// read returns the whole log, and the number of its events since the last turn began.
func (j *journal) read(ctx context.Context) (events []transcript.Event, inTurn int, err error) {
	j.storing.Lock()
	defer j.storing.Unlock()
	j.mu.Lock()
	stored, pending := j.stored, slices.Clone(j.pending)
	inTurn = j.inTurn
	j.mu.Unlock()
	var d decoder
	var last int64
	if stored {
		err := j.db.EachEvent(ctx, j.session.ID, func(row store.Event) {
			d.add(row)
			last = row.Seq
		})
		if errors.Is(err, store.ErrUnknown) { // deleted by another process, or since its row was read
			err = acp.ErrUnknownSession
		}
		if err != nil {
			return nil, 0, err
		}
	}
	for _, row := range pending {
		d.add(row)
	}
	j.mu.Lock()
	if last > 0 {
		j.last = last
	}
	more := len(d.lost) > j.lost
	j.lost = len(d.lost)
	j.mu.Unlock()
	if more {
		j.log.Warn("events cannot be read", "session", j.session.ID, "events", len(d.lost), "err", errors.Join(d.lost...))
		j.warn(Unreadable(d.lost))
	}
	return d.events, inTurn, nil
}

// decoder collects decoded events. It skips events of a later version and invalid ones,
// and keeps an error for each: one event must not make the whole session unreadable.
type decoder struct {
	events []transcript.Event
	lost   []error
}

func (d *decoder) add(row store.Event) {
	e, err := decodeRow(row)
	if err != nil {
		d.lost = append(d.lost, err)
	}
	if e != nil {
		d.events = append(d.events, e)
	}
}

// decode decodes stored events. It clears their data, so that a long log is not held in
// both forms.
func decode(rows []store.Event) (events []transcript.Event, lost []error) {
	var d decoder
	for i, row := range rows {
		d.add(row)
		rows[i].Data = nil
	}
	return d.events, d.lost
}

// decodeRow decodes a stored event. With an error it returns the readable part, or nil.
func decodeRow(row store.Event) (transcript.Event, error) {
	e, err := transcript.Decode(row.Kind, row.Data)
	switch {
	case row.Damaged:
		err, row.Data = errDamaged, nil
	case e == nil && err == nil: // the checksum of an event does not cover its kind
		err = fmt.Errorf("unknown kind %q, damaged or of a newer zeph-acp", row.Kind)
	}
	if err != nil {
		return transcript.Salvage(row.Kind, row.Data), fmt.Errorf("event %d: %w", row.Seq, err)
	}
	return e, nil
}

// errDamaged means that the bytes of an event have changed on the disk.
var errDamaged = errors.New("its data has changed on the disk")

// Unreadable returns the warning about skipped events; lost must not be empty.
func Unreadable(lost []error) string {
	which := fmt.Sprintf("%s of this session cannot be read and are left out, the first: %v.", quantity.Count(len(lost), "event"), lost[0])
	if len(lost) == 1 {
		which = fmt.Sprintf("One event of this session cannot be read and is left out: %v.", lost[0])
	}
	if errors.Is(errors.Join(lost...), errDamaged) {
		return which + " The file of the session store is damaged: restore it from a backup, or go on without them."
	}
	return which + " The stored session is unchanged, and an export contains all of it."
}
