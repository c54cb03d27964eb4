package audit

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
)

// Report describes a verified log.
type Report struct {
	Lines     int      // unchanged lines
	Torn      []string // positions of partial lines: a process or the machine died during the write
	Continues bool     // the first line has the hash of an earlier line, which no longer exists
	First     string   // timestamps
	Last      string
	Hash      string // of the last line

	gap string // position of the first partial line after the last whole one
}

// BrokenError names the first line that was changed.
type BrokenError struct {
	Pos string // file:line
	Why string
}

// Error names the line and describes what is wrong with it.
func (e *BrokenError) Error() string { return fmt.Sprintf("%s: %s", e.Pos, e.Why) }

// Verify follows the hashes from line to line. The error is a [BrokenError] if a line
// was changed, added, removed or moved; the report then covers the lines before it.
// The package doc states what it cannot detect.
func (l *Log) Verify() (Report, error) {
	var r Report
	err := l.Read(r.add)
	return r, err
}

// add checks the next line.
func (r *Report) add(line Line) error {
	prev, hash, intact, ok := unseal(line.Text)
	switch {
	case !ok && (json.Valid(line.Text) || sealed(line.Text) || !partial(line.Text)):
		return &BrokenError{line.Pos(), "the line was not written by the audit log, or was changed"}
	case !ok: // if a whole one is missing, the next hash does not match
		r.Torn = append(r.Torn, line.Pos())
		r.gap = cmp.Or(r.gap, line.Pos())
		return nil
	case !intact:
		return &BrokenError{line.Pos(), "the line was changed"}
	case r.Lines == 0:
		r.Continues, r.First = prev != "", line.Entry.Timestamp
	case prev != r.Hash:
		return &BrokenError{cmp.Or(r.gap, line.Pos()), "the line does not follow the one before it: lines were removed, added, moved or changed here"}
	}
	r.Lines++
	r.gap = ""
	r.Last, r.Hash = line.Entry.Timestamp, hash
	return nil
}

// partial reports whether line is the beginning of an audit line. After a crash of the machine
// a file system may have zeros in place of the rest, or of the whole line.
func partial(line []byte) bool {
	begun := bytes.TrimRight(line, "\x00")
	n := min(len(begun), len(lineBegin))
	return string(begun[:n]) == lineBegin[:n]
}
