package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/store"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

// exportVersion is the version of the format of an Export.
const exportVersion = 1

// Export is a whole session as a JSON document: the result of _zeph/session/export
// and the input of _zeph/session/import.
type Export struct {
	Version int             `json:"version"`
	ID      string          `json:"sessionId"`
	CWD     string          `json:"cwd"` // absolute
	Dirs    []string        `json:"additionalDirectories,omitempty"`
	Title   string          `json:"title,omitempty"`
	Events  []ExportedEvent `json:"events"`
}

// ExportedEvent is one entry of the session's log.
type ExportedEvent struct {
	Time time.Time       `json:"time"`
	Kind string          `json:"kind"` // of transcript.Event
	Data json.RawMessage `json:"data"`
}

// Export returns a stored session. It returns the stored part of an open
// session.
func (s *Sessions) Export(ctx context.Context, id string) (Export, error) {
	row, events, err := s.read(ctx, id)
	if err != nil {
		return Export{}, err
	}
	e := Export{Version: exportVersion, ID: id, CWD: row.CWD, Dirs: row.Dirs, Title: row.Title}
	for _, ev := range events {
		if ev.Damaged {
			return Export{}, fmt.Errorf("session %s, event %d: %w", id, ev.Seq, errDamaged)
		}
		if !json.Valid(ev.Data) { // not valid, but a text can still be exported
			ev.Data, _ = json.Marshal(string(ev.Data))
		}
		e.Events = append(e.Events, ExportedEvent{Time: ev.Time, Kind: ev.Kind, Data: ev.Data})
	}
	return e, nil
}

// Stored returns a stored session with its log. Lost holds an error for each
// unreadable event; see [Unreadable].
func (s *Sessions) Stored(ctx context.Context, id string) (row store.Session, events []transcript.Event, lost []error, err error) {
	row, rows, err := s.read(ctx, id)
	if err != nil {
		return row, nil, nil, err
	}
	events, lost = decode(rows)
	return row, events, lost, nil
}

// Dated is an event with the time at which it was stored.
type Dated struct {
	Time  time.Time
	Event transcript.Event
}

// StoredWithTimes is like [Sessions.Stored], with the times of the events.
func (s *Sessions) StoredWithTimes(ctx context.Context, id string) (row store.Session, events []Dated, lost []error, err error) {
	row, rows, err := s.read(ctx, id)
	for _, r := range rows {
		e, err := decodeRow(r)
		if err != nil {
			lost = append(lost, err)
		}
		if e != nil {
			events = append(events, Dated{r.Time, e})
		}
	}
	return row, events, lost, err
}

// read returns a stored session with its encoded log. The error is
// acp.ErrUnknownSession if no such session is stored.
func (s *Sessions) read(ctx context.Context, id string) (store.Session, []store.Event, error) {
	unknown := fmt.Errorf("session %s: %w", id, acp.ErrUnknownSession)
	if s.Store == nil {
		return store.Session{}, nil, unknown
	}
	row, err := s.Store.Session(ctx, id)
	var rows []store.Event
	if err == nil {
		rows, err = s.Store.Events(ctx, id, 0)
	}
	if errors.Is(err, store.ErrUnknown) { // perhaps deleted between the two
		err = unknown
	}
	return row, rows, err
}

// Import stores an exported session and returns its id: the original one, or a
// new one if a session with that id exists. It ignores the mode, the states of
// tools, and a model that is not offered here: a document must not extend the
// agent's permissions. An *acp.ParamsError reports an invalid document; nothing is
// stored then.
func (s *Sessions) Import(ctx context.Context, e Export) (id string, err error) {
	rows, err := e.rows(s.Offers)
	if err != nil {
		return "", err
	}
	if s.Store == nil {
		return "", errors.New("sessions are not saved here: there is no directory for them")
	}
	ends := []transcript.Event{copiedMark}
	if s.Imported != nil {
		ends = append(ends, s.Imported()...)
	}
	last := rows[len(rows)-1].Time
	for _, event := range ends {
		rows = append(rows, storedForm(event, last))
	}
	row := store.Session{ID: e.ID, CWD: filepath.Clean(e.CWD), Dirs: e.Dirs, Title: e.Title}
	if _, err := s.Store.Session(ctx, row.ID); err == nil || row.ID == "" {
		row.ID = s.NewID()
	} else if !errors.Is(err, store.ErrUnknown) {
		return "", err
	}
	if _, err := s.Store.Append(ctx, store.Batch{Session: row, Create: true, Events: rows}); err != nil {
		return "", fmt.Errorf("import: %w", err)
	}
	return row.ID, nil
}

// Limits of a document, in bytes. A page of a list holds a hundred sessions. A
// frame should stay under 1 MiB, since some clients reject longer ones.
const (
	maxID        = 200
	maxPath      = 4 << 10
	maxDirs      = 8 << 10 // of all additional directories
	maxLongTitle = 1 << 10
	maxUpdate    = 1<<20 - 1<<10 // leaves room for the rest of the frame
)

// checkHead checks all fields but the events. A list of sessions shows them.
func (e Export) checkHead() error {
	if e.Version != exportVersion {
		return acp.ParamsErrorf("version", "must be %d, got %d", exportVersion, e.Version)
	}
	dirs := 0
	for i, dir := range e.Dirs {
		if dirs += len(dir); !filepath.IsAbs(dir) {
			return acp.ParamsErrorf(fmt.Sprintf("additionalDirectories[%d]", i), "must be an absolute path")
		}
	}
	for _, part := range []struct {
		name      string
		size, max int
	}{
		{"sessionId", len(e.ID), maxID}, {"cwd", len(e.CWD), maxPath},
		{"additionalDirectories", dirs, maxDirs}, {"title", len(e.Title), maxLongTitle},
	} {
		if part.size > part.max {
			return acp.ParamsErrorf(part.name, "has %s; the limit is %d", quantity.Count(part.size, "byte"), part.max)
		}
	}
	if !filepath.IsAbs(e.CWD) {
		return acp.ParamsErrorf("cwd", "must be an absolute path, got %q", e.CWD)
	}
	return nil
}

// rows checks the document and returns its events in stored form, without the
// ignored settings.
func (e Export) rows(offers func(model string) bool) ([]store.Event, error) {
	if err := e.checkHead(); err != nil {
		return nil, err
	}
	var rows []store.Event
	var events []transcript.Event
	calls := map[string]bool{} // the announced calls; true while a call is open
	for i, ev := range e.Events {
		field := fmt.Sprintf("events[%d]", i)
		known, err := transcript.Decode(ev.Kind, ev.Data)
		switch {
		case err != nil:
			return nil, acp.ParamsErrorf(field, "%v", err)
		case known == nil:
			return nil, acp.ParamsErrorf(field+".kind", "unknown kind %q", ev.Kind)
		case ev.Time.IsZero():
			return nil, acp.ParamsErrorf(field+".time", "is required")
		case ev.Time.UTC().Year() < 1 || ev.Time.UTC().Year() > 9999: // could not be formatted again
			return nil, acp.ParamsErrorf(field+".time", "must be of a year from 1 to 9999 in UTC")
		}
		switch known := known.(type) {
		case transcript.Setting:
			if known.ID == optionMode || known.ID == optionSystem || known.ID == optionModel && !offers(known.Value) {
				continue
			}
		case transcript.State:
			continue
		case transcript.Call:
			err = checkCallOrder(calls, known.Shown)
		case transcript.Question:
			err = checkCallOrder(calls, known.Shown)
		case transcript.Result:
			err = checkCallOrder(calls, known.Shown)
		}
		if err != nil {
			return nil, acp.ParamsErrorf(field, "%v", err)
		}
		rows = append(rows, store.Event{Time: ev.Time, Kind: ev.Kind, Data: ev.Data})
		events = append(events, known)
	}
	if len(rows) == 0 {
		return nil, acp.ParamsErrorf("events", "must not be empty")
	}
	return rows, checkFrames(events)
}

// checkCallOrder checks that a tool call is announced once, and then ends once.
func checkCallOrder(calls map[string]bool, u acp.ToolCall) error {
	if u.ToolCallID == "" && u.Update != acp.UpdateToolCall { // the client has not seen the call
		return nil
	}
	open, known := calls[u.ToolCallID]
	announces := u.Update == acp.UpdateToolCall
	switch {
	case announces && known:
		return fmt.Errorf("the tool call %q is announced twice", u.ToolCallID)
	case !announces && !open:
		return fmt.Errorf("the tool call %q has not begun, or has already ended", u.ToolCallID)
	}
	calls[u.ToolCallID] = announces
	return nil
}

// checkFrames checks that every update of a replay fits in a frame.
func checkFrames(events []transcript.Event) error {
	var sized counter
	enc := json.NewEncoder(&sized)
	enc.SetEscapeHTML(false)
	return transcript.ReplayFamily("", events, acp.ClientCapabilities{Subagents: true}, func(_ string, u acp.SessionUpdate) error {
		sized = 0
		if err := enc.Encode(u); err != nil {
			return acp.ParamsErrorf("events", "cannot be shown: %v", err)
		}
		if sized > maxUpdate {
			return acp.ParamsErrorf("events", "one of them becomes an update of %s; the limit is %d", quantity.Count(sized, "byte"), maxUpdate)
		}
		return nil
	})
}

// counter is a writer that counts bytes.
type counter int

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
