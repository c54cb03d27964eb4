package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/session/agent"
	"github.com/zeph-acp/zeph-acp/session/store"
)

// exportVersion is the version of the form of an Export.
const exportVersion = 1

// Export is a whole session as a JSON document: what _zeph/session/export gives
// and _zeph/session/import takes.
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
	Kind string          `json:"kind"` // of agent.Event
	Data json.RawMessage `json:"data"`
}

// Export gives a stored session; one that is open too, as far as it is stored.
func (s *Sessions) Export(ctx context.Context, id string) (Export, error) {
	row, events, err := s.stored(ctx, id)
	if err != nil {
		return Export{}, err
	}
	e := Export{Version: exportVersion, ID: id, CWD: row.CWD, Dirs: row.Dirs, Title: row.Title}
	for _, ev := range events {
		e.Events = append(e.Events, ExportedEvent{Time: ev.Time, Kind: ev.Kind, Data: ev.Data})
	}
	return e, nil
}

// Stored gives a stored session with its log.
func (s *Sessions) Stored(ctx context.Context, id string) (store.Session, []agent.Event, error) {
	row, rows, err := s.stored(ctx, id)
	if err != nil {
		return row, nil, err
	}
	events, err := decode(rows)
	return row, events, err
}

func (s *Sessions) stored(ctx context.Context, id string) (store.Session, []store.Event, error) {
	unknown := fmt.Errorf("session %s: %w", id, acp.ErrUnknownSession)
	if s.Store == nil {
		return store.Session{}, nil, unknown
	}
	row, err := s.Store.Session(ctx, id)
	if errors.Is(err, store.ErrUnknown) {
		return row, nil, unknown
	}
	if err != nil {
		return row, nil, err
	}
	rows, err := s.Store.Events(ctx, id, 0)
	return row, rows, err
}

// Import stores a session that was exported, here or elsewhere, and gives its
// id: its own, or a new one if there is a session of that id. The mode is not
// taken over: what an agent may do here is not for a document to say. An
// *acp.ParamsError tells what is wrong with it; nothing is then stored.
func (s *Sessions) Import(ctx context.Context, e Export) (id string, err error) {
	rows, err := e.rows()
	if err != nil {
		return "", err
	}
	if s.Store == nil {
		return "", errors.New("sessions are not saved here: there is no directory for them")
	}
	row := store.Session{ID: e.ID, CWD: filepath.Clean(e.CWD), Dirs: e.Dirs, Title: e.Title}
	if _, err := s.Store.Session(ctx, row.ID); err == nil || row.ID == "" {
		row.ID = s.NewID()
	} else if !errors.Is(err, store.ErrUnknown) {
		return "", err
	}
	if _, err := s.Store.Append(ctx, row, true, "", rows); err != nil {
		return "", fmt.Errorf("import: %w", err)
	}
	return row.ID, nil
}

// rows checks the document and gives its events as they are stored.
func (e Export) rows() ([]store.Event, error) {
	wrong := func(field, format string, args ...any) error {
		return &acp.ParamsError{Field: field, Reason: fmt.Sprintf(format, args...)}
	}
	switch {
	case e.Version != exportVersion:
		return nil, wrong("version", "must be %d, got %d", exportVersion, e.Version)
	case !filepath.IsAbs(e.CWD):
		return nil, wrong("cwd", "must be an absolute path, got %q", e.CWD)
	case len(e.Events) == 0:
		return nil, wrong("events", "must not be empty")
	}
	var rows []store.Event
	open := map[string]bool{} // tool calls so far
	for i, ev := range e.Events {
		field := fmt.Sprintf("events[%d]", i)
		known, err := agent.DecodeEvent(ev.Kind, ev.Data)
		switch {
		case err != nil:
			return nil, wrong(field, "%v", err)
		case known == nil:
			return nil, wrong(field+".kind", "unknown kind %q", ev.Kind)
		case ev.Time.IsZero():
			return nil, wrong(field+".time", "is required")
		}
		switch known := known.(type) {
		case agent.Setting:
			if known.ID == optionMode {
				continue
			}
		case agent.Call:
			id := known.Shown.ToolCallID
			if _, twice := open[id]; twice {
				return nil, wrong(field, "the tool call %q is there twice", id)
			}
			open[id] = true
		case agent.Result:
			id := known.Shown.ToolCallID
			if !open[id] {
				return nil, wrong(field, "there is no tool call %q that could end here", id)
			}
			open[id] = false
		}
		rows = append(rows, store.Event{Time: ev.Time, Kind: ev.Kind, Data: ev.Data})
	}
	return rows, nil
}
