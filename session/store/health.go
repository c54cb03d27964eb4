package store

import (
	"errors"
	"io/fs"
	"os"
)

// Health describes the file of a database.
type Health struct {
	Bytes    int64 // of the file and its write-ahead log
	Sessions int
	Events   int64 // bytes of the events of sessions
	Outputs  int64 // bytes of stored outputs of tools
	Free     int64 // bytes that deleted data has left
	Outdated bool  // the schema is of an older version; the next use migrates it
}

// Check examines every page of the database at path and changes nothing. Without a file
// it returns an error that is fs.ErrNotExist; any other error is an *UnusableError. No DB
// of this process may have the file open.
func Check(path string) (Health, error) {
	var h Health
	for _, name := range []string{path, path + "-wal"} {
		info, err := os.Stat(name)
		switch {
		case err == nil && name == path && !info.Mode().IsRegular():
			return h, (&DB{path: path}).explain(errNotFile)
		case err == nil:
			h.Bytes += info.Size()
		case name == path && errors.Is(err, fs.ErrNotExist):
			return h, err
		}
	}
	err := inspect(path, true)
	if err == nil {
		err = h.count(path)
	}
	if err != nil {
		return h, (&DB{path: path}).explain(err)
	}
	return h, nil
}

// count reads the number of sessions, without a lock if no commit is outside the file.
func (s *Health) count(path string) error {
	mode := "mode=ro&immutable=1"
	if walHasCommits(path) {
		mode = "mode=ro"
	}
	h, err := connect(path, mode)
	if err != nil {
		return err
	}
	defer h.close()
	v, err := h.version()
	if err != nil || v == 0 { // an empty file
		return err
	}
	if s.Free, err = h.freeBytes(); err != nil {
		return err
	}
	s.Outdated = v < knownVersion()
	if err := h.one([]any{&s.Sessions, &s.Events}, "SELECT (SELECT count(*) FROM sessions), (SELECT coalesce(sum(length(data)), 0) FROM events)"); err != nil || v < 2 {
		return err
	}
	return h.one([]any{&s.Outputs}, "SELECT coalesce(sum(length(data)), 0) FROM tool_overflow_parts")
}
