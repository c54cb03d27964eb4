package store

import (
	"context"
	"encoding/base64"
	"math"
	"strconv"
	"strings"
)

// Query selects the sessions that List returns.
type Query struct {
	CWD    string   // only sessions of this directory; "" means any
	Also   []string // other paths of CWD
	Cursor string   // returned as next by the previous List; "" means the start
	Limit  int      // maximum number of sessions; 0 means 100
	Kind   string   // only sessions with an event of this kind; "" means any
}

// List returns stored sessions, the last updated first and ordered by id within
// one moment. Next is the cursor of the following page, "" at the end. It
// returns ErrCursor if q.Cursor is invalid.
//
// A cursor names the last session of its page and not a number, so additions and deletions do not
// shift later pages. A session that is updated meanwhile moves to the front, so later pages do not
// contain it.
func (db *DB) List(ctx context.Context, q Query) (sessions []Session, next string, err error) {
	from, err := parseCursor(q.Cursor)
	if err != nil {
		return nil, "", err
	}
	limit := q.Limit
	if limit <= 0 {
		limit = 100
	}
	query, args := "SELECT "+columns+" FROM sessions WHERE ", []any{}
	if q.Kind != "" {
		query, args = query+"EXISTS (SELECT 1 FROM events WHERE session = n AND kind = ?) AND ", append(args, q.Kind)
	}
	if q.CWD != "" {
		marks, dirs := inList(append([]string{q.CWD}, q.Also...))
		query, args = query+"cwd IN ("+marks+") AND ", append(args, dirs...)
	}
	query += "updated <= ? AND (updated < ? OR id > ?) ORDER BY updated DESC, id LIMIT ?"
	args = append(args, from.updated, from.updated, from.id, limit+1) // one more shows whether another page follows
	var r row
	err = db.read(ctx, func(h *handle) error {
		return h.each(ctx, func() error {
			s, err := r.session()
			sessions = append(sessions, s)
			return err
		}, r.dest(), query, args...)
	})
	if err != nil {
		return nil, "", err
	}
	if len(sessions) > limit {
		sessions = sessions[:limit]
		end := sessions[limit-1]
		next = cursor{end.Updated.UnixMicro(), end.ID}.String()
	}
	return sessions, next, nil
}

// inList returns the parameters of a query for a list of values, "?, ?", and their arguments.
func inList(values []string) (marks string, args []any) {
	for _, v := range values {
		args = append(args, v)
	}
	return strings.TrimPrefix(strings.Repeat(", ?", len(values)), ", "), args
}

// Directories returns the directories of all sessions.
func (db *DB) Directories(ctx context.Context) (dirs []string, err error) {
	var dir string
	err = db.read(ctx, func(h *handle) error {
		return h.each(ctx, func() error {
			dirs = append(dirs, dir)
			return nil
		}, []any{&dir}, "SELECT DISTINCT cwd FROM sessions")
	})
	return dirs, err
}

// cursor is a position in the list: after the session with that id.
type cursor struct {
	updated int64
	id      string
}

func (c cursor) String() string {
	return base64.RawURLEncoding.EncodeToString([]byte(strconv.FormatInt(c.updated, 10) + " " + c.id))
}

// parseCursor parses the result of String; "" is the start of the list.
func parseCursor(s string) (cursor, error) {
	if s == "" {
		return cursor{updated: math.MaxInt64}, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return cursor{}, ErrCursor
	}
	number, id, _ := strings.Cut(string(text), " ")
	updated, err := strconv.ParseInt(number, 10, 64)
	c := cursor{updated, id}
	if err != nil || c.String() != s { // accepts only the form that String returns
		return cursor{}, ErrCursor
	}
	return c, nil
}
