package store

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"time"
)

// ErrNoMemory means that there is no such memory. It wraps fs.ErrNotExist for callers
// that do not import this package.
var ErrNoMemory = fmt.Errorf("no such memory: %w", fs.ErrNotExist)

// Memory is a fact that was saved for later sessions.
type Memory struct {
	ID      int64  // never used again
	Project string // its directory; "" means all projects
	Text    string
	Session string            // the session that saved it last; "" means that no session did
	Files   map[string]string // the hashes of the files that it cites, by path
	Labels  json.RawMessage   // any JSON; nil means none
	Created time.Time
	Updated time.Time
	Model   string    // the model of Vector; "" means that there is no vector
	Vector  []float32 // the embedding of Text
}

const (
	memoryColumns = "n, project, text, session, files, labels, created, updated, coalesce(model, ''), vector"
	insertMemory  = `INSERT INTO memories (project, hash, text, session, files, labels, created, updated)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING n`
	updateMemory = `UPDATE memories SET hash = ?, text = ?, session = ?, files = ?, labels = ?, updated = ?, model = NULL, vector = NULL WHERE n = ?`
	deleteWords  = `DELETE FROM words WHERE rowid = ?`
	countMemory  = `SELECT count(*) FILTER (WHERE project <> ''), count(*) FILTER (WHERE project = ''),
		EXISTS (SELECT 1 FROM sessions WHERE cwd IN (?2, ?1) AND id <> ?3) FROM memories WHERE project IN (?1, '')`
)

// PutMemory saves a memory and returns its ID. Texts with the same key count as equal: a memory of the project with that key is replaced, and existed reports
// that. If m.ID is not 0, the text of that memory is replaced instead, or the error is ErrNoMemory.
// If the project has limit memories already, the error is ErrFull; 0 means no limit.
func (db *DB) PutMemory(ctx context.Context, m Memory, key string, limit int) (id int64, existed bool, err error) {
	files, err := json.Marshal(m.Files)
	if err != nil {
		return 0, false, err
	}
	hash := sha256.Sum256([]byte(key))
	in := memoryInput{Memory: m, hash: hash[:], files: string(files), now: db.now().UnixMicro()}
	err = db.write(ctx, func(h *handle) error {
		var same int64
		err := h.one([]any{&same}, "SELECT coalesce(max(n), 0) FROM memories WHERE project = ? AND hash = ?", m.Project, in.hash)
		if err != nil {
			return err
		}
		id, existed = m.ID, m.ID != 0 || same != 0
		switch {
		case m.ID == 0 && same == 0:
			id, err = h.addMemory(in, limit)
			return err
		case m.ID == 0:
			id = same
		case same != 0 && same != m.ID: // the new text exists already: both become one
			if _, err := h.exec("DELETE FROM memories WHERE n = ?", same); err != nil {
				return err
			}
		}
		return h.replaceMemory(in, id)
	})
	return id, existed, err
}

// memoryInput is a memory with its other columns.
type memoryInput struct {
	Memory
	hash  []byte // of its key
	files string // JSON
	now   int64
}

// ErrFull means that a project has as many memories as it may have.
var ErrFull = errors.New("there are too many memories")

// addMemory adds a memory, within the limit, and returns its id.
func (h *handle) addMemory(in memoryInput, limit int) (id int64, err error) {
	var count int
	if err := h.one([]any{&count}, "SELECT count(*) FROM memories WHERE project = ?", in.Project); err != nil {
		return 0, err
	}
	if limit > 0 && count >= limit {
		return 0, ErrFull
	}
	err = h.one([]any{&id}, insertMemory, in.Project, in.hash, in.Text, in.Session, in.files, string(in.Labels), in.now, in.now)
	return id, err
}

// replaceMemory replaces the text of a memory, or returns ErrNoMemory. Earlier versions indexed the
// old text.
func (h *handle) replaceMemory(in memoryInput, id int64) error {
	err := h.change(ErrNoMemory, updateMemory, in.hash, in.Text, in.Session, in.files, string(in.Labels), in.now, id)
	if err == nil {
		_, err = h.exec(deleteWords, -id)
	}
	return err
}

// Memories returns the memories of projects, the oldest first; without a project, it
// returns all.
func (db *DB) Memories(ctx context.Context, projects ...string) (all []Memory, err error) {
	query := "SELECT " + memoryColumns + " FROM memories"
	marks, args := inList(projects)
	if len(projects) > 0 {
		query += " WHERE project IN (" + marks + ")"
	}
	err = db.read(ctx, func(h *handle) error {
		var r memoryRow
		return h.each(ctx, func() error {
			m, err := r.memory()
			all = append(all, m)
			return err
		}, r.dest(), query+" ORDER BY n", args...)
	})
	return all, err
}

// CountMemories returns the number of memories of a project and of those for all
// projects. Earlier reports whether a session of its directory is stored, other than
// the given one. cwd is the client's path of the directory.
func (db *DB) CountMemories(ctx context.Context, project, cwd, session string) (own, all int, earlier bool, err error) {
	err = db.read(ctx, func(h *handle) error {
		return h.one([]any{&own, &all, &earlier}, countMemory, project, cwd, session)
	})
	return own, all, earlier, err
}

// PutVectors stores the embeddings of memories, by ID, unless their text has changed
// since it was read at the given time.
func (db *DB) PutVectors(ctx context.Context, model string, vectors map[int64][]float32, read time.Time) error {
	return db.write(ctx, func(h *handle) error {
		for id, v := range vectors {
			_, err := h.exec("UPDATE memories SET model = ?, vector = ? WHERE n = ? AND updated <= ?", model, encodeVector(v), id, read.UnixMicro())
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// DeleteMemory deletes a memory, or returns ErrNoMemory.
func (db *DB) DeleteMemory(ctx context.Context, id int64) error {
	return db.write(ctx, func(h *handle) error {
		return h.change(ErrNoMemory, "DELETE FROM memories WHERE n = ?", id)
	})
}

// memoryRow is a row of the table memories.
type memoryRow struct {
	m                Memory
	files, labels    string
	created, updated int64
	vector           blob
}

func (r *memoryRow) dest() []any {
	return []any{&r.m.ID, &r.m.Project, &r.m.Text, &r.m.Session, &r.files, &r.labels, &r.created, &r.updated, &r.m.Model, &r.vector}
}

// memory returns the row as a Memory.
func (r *memoryRow) memory() (Memory, error) {
	m := r.m
	m.Created, m.Updated = time.UnixMicro(r.created).UTC(), time.UnixMicro(r.updated).UTC()
	m.Files, m.Labels, m.Vector = nil, nil, decodeVector(r.vector)
	if r.labels != "" {
		m.Labels = json.RawMessage(r.labels)
	}
	if err := json.Unmarshal([]byte(r.files), &m.Files); err != nil {
		return Memory{}, fmt.Errorf("memory %d: files: %w: %w", m.ID, errAltered, err)
	}
	return m, nil
}

func encodeVector(v []float32) []byte {
	out := make([]byte, 0, 4*len(v))
	for _, x := range v {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(x))
	}
	return out
}

func decodeVector(b []byte) (v []float32) {
	for ; len(b) >= 4; b = b[4:] {
		v = append(v, math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return v
}
