package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/zeph-acp/zeph-acp/executors"
)

// runSuffix begins the suffix of the files of running calls, after the log's name.
const runSuffix = ".run-"

// running is the file of the calls that run in this process. Each call has a
// slot in it, as large as the largest line; the file is mostly holes. It is
// locked as long as the process lives.
type running struct {
	file *os.File
	used []bool // by slot
}

// newRunning creates the file. The caller has locked the log. Otherwise another process
// could see the file before it is locked and assume that its owner is dead.
func newRunning(log string) (*running, error) {
	f, err := openPrivate(log+runSuffix+uuid.NewString(), os.O_RDWR|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, err
	}
	if _, err := tryLock(f); err != nil {
		return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
	}
	return &running{file: f}, nil
}

// begin writes the beginning of a call into a free slot.
func (r *running) begin(body []byte) (slot int, err error) {
	if slot = slices.Index(r.used, false); slot < 0 {
		slot = len(r.used)
		r.used = append(r.used, false)
	}
	if _, err := r.file.WriteAt(append(body, '\n'), int64(slot)*maxLine); err != nil {
		r.clear(slot)
		return 0, err
	}
	r.used[slot] = true
	return slot, nil
}

// end frees the slot of a call whose line is written.
func (r *running) end(slot int) {
	r.used[slot] = false
	r.clear(slot)
}

// clear empties a slot. If that fails, the log still has the call's line, and a
// process that finds the slot looks for it there. A file without calls occupies
// no space, so on a full disk the next call fails before it runs.
func (r *running) clear(slot int) {
	if slices.Contains(r.used, true) {
		_, _ = r.file.WriteAt([]byte{'\n'}, int64(slot)*maxLine)
	} else {
		_ = r.file.Truncate(0)
	}
}

// close removes the file unless it still contains calls.
func (r *running) close() error {
	err := r.file.Close()
	if slices.Contains(r.used, true) {
		return err
	}
	if removeErr := os.Remove(r.file.Name()); !errors.Is(removeErr, fs.ErrNotExist) {
		err = errors.Join(err, removeErr)
	}
	return err
}

// recover writes the missing lines of calls whose processes have died. The
// caller has locked the log.
func (l *Log) recover(f *os.File) error {
	files, err := l.otherRunFiles()
	for _, name := range files {
		if fileErr := l.recoverFrom(f, name); fileErr != nil {
			err = errors.Join(err, fmt.Errorf("calls left in %s: %w", name, fileErr))
		}
	}
	return err
}

// otherRunFiles lists the files of running calls of other processes, alive or dead.
func (l *Log) otherRunFiles() (files []string, err error) {
	dir, base := filepath.Split(l.file)
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		name := dir + e.Name()
		if strings.HasPrefix(e.Name(), base+runSuffix) && (l.running == nil || l.running.file.Name() != name) {
			files = append(files, name)
		}
	}
	return files, err
}

// recoverFrom writes the missing lines of the calls in one file to the log f, and removes
// the file. It does nothing while the process of the file lives.
func (l *Log) recoverFrom(f *os.File, name string) error {
	left, err := openPrivate(name, os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer left.Close()
	if dead, err := tryLock(left); err != nil || !dead {
		return err
	}
	for slot := int64(0); ; slot++ {
		begun, err := readSlot(left, slot)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := l.writeInterrupted(f, begun); err != nil {
			return err
		}
	}
	if err := left.Close(); err != nil {
		return err
	}
	return os.Remove(name)
}

// readSlot returns the content of a slot up to the end of the line, or io.EOF if the
// file ends before it.
func readSlot(f *os.File, slot int64) ([]byte, error) {
	buf := make([]byte, maxLine)
	n, err := f.ReadAt(buf, slot*maxLine)
	if n == 0 {
		return nil, err
	}
	begun, _, _ := bytes.Cut(buf[:n], []byte("\n"))
	return begun, nil
}

// writeInterrupted writes the line of an interrupted call, unless the log has it.
// It never moves the log, whose lock the caller holds.
func (l *Log) writeInterrupted(f *os.File, begun []byte) error {
	var e Entry
	if json.Unmarshal(begun, &e) != nil { // a free slot, or a torn one, whose call never ran
		return nil
	}
	id, _, _ := bytes.Cut(begun, []byte(`,"tool":`)) // the part of a line that does not change when the call ends
	if found, err := l.contains(id); err != nil || found {
		return err
	}
	e.Result, e.Category = Interrupted, executors.Cancelled
	e.Error = "the agent ended while the call ran"
	body, err := e.body()
	if err != nil {
		return err
	}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	return l.write(f, size, body)
}

// contains reports whether a whole line of the log begins with prefix. The caller has
// locked the log.
func (l *Log) contains(prefix []byte) (found bool, err error) {
	files, err := l.openFiles()
	for _, f := range files {
		defer f.Close()
	}
	for _, f := range files {
		err = errors.Join(err, eachLine(f, func(line []byte, _ bool) error {
			found = found || bytes.HasPrefix(line, prefix) && sealed(line)
			return nil
		}))
	}
	return found, err
}
