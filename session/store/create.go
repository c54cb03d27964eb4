package store

import (
	_ "embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// emptyRuns is the content of a database without sessions. Most of its bytes are zero, so
// it lists only the runs of other bytes: the number of zeros before the run, its length, its
// bytes. go test -run TestEmpty -update writes it. A copy is made for each new user, since
// to run the schema takes milliseconds. Migrations that the copy lacks are run when the
// database is opened.
//
//go:embed empty.db.runs
var emptyRuns string

const imageSize = 128 << 10 // about the size of the database, in bytes

// emptyImage returns the content of a database without sessions.
func emptyImage() []byte {
	image := make([]byte, 0, imageSize)
	for rest := []byte(emptyRuns); len(rest) > 0; {
		zeros, n := binary.Uvarint(rest)
		size, m := binary.Uvarint(rest[n:])
		image = append(image, make([]byte, zeros)...)
		image = append(image, rest[n+m:][:size]...)
		rest = rest[n+m:][size:]
	}
	return image
}

// createFile creates a missing database. It returns its path without links, and
// reports whether the database has its schema already. Where the file system refuses
// a step, such as a hard link, the file is left empty.
func createFile(path string) (resolved string, created bool, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return "", false, err
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		created, err = createNew(path)
	} else if err == nil && !info.Mode().IsRegular() {
		err = errNotFile
	}
	if err != nil {
		return "", false, err
	}
	resolved, err = filepath.EvalSymlinks(path)
	return resolved, created, err
}

// createNew creates the file, unless another process has just done it, and reports
// whether it has the schema.
func createNew(path string) (whole bool, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return false, err
	}
	if !hasLeftovers(path) {
		err := publish(path)
		if err == nil || errors.Is(err, fs.ErrExist) {
			return err == nil, nil
		}
	}
	if err := createEmpty(path); !errors.Is(err, fs.ErrExist) {
		return false, err
	}
	return false, nil
}

// hasLeftovers reports whether a removed database has left its WAL or its journal. SQLite
// would apply them to a new file unless that is empty.
func hasLeftovers(path string) bool {
	return slices.ContainsFunc([]string{"-wal", "-journal"}, func(suffix string) bool {
		_, err := os.Lstat(path + suffix)
		return !errors.Is(err, fs.ErrNotExist)
	})
}

// publish writes a new database under another name and renames it to path. So the file appears as a
// whole, and a power failure cannot damage it. SQLite would sync its files four times for the same
// effect.
func publish(path string) error {
	removeStale(path)
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+newSuffix+"*") // 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(emptyImage())
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return renameNew(f.Name(), path)
}

const (
	newSuffix = ".new-"
	// staleAge is the age at which a new file is assumed to be left by a killed process. If the
	// process was only slow, it creates an empty database, or finds one.
	staleAge = time.Minute
)

// removeStale removes the new files of processes that were killed before they had created
// the database.
func removeStale(path string) {
	dir, prefix := filepath.Dir(path), filepath.Base(path)+newSuffix
	entries, _ := os.ReadDir(dir) // those until the error
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasPrefix(e.Name(), prefix) && info.Mode().IsRegular() && time.Since(info.ModTime()) > staleAge {
			_ = os.Remove(filepath.Join(dir, e.Name())) // the next creation tries again
		}
	}
}

// createEmpty creates an empty file. SQLite would create it with the permissions of the umask, and
// -wal and -shm with the permissions of the file. Closing a new file does not release the locks of
// other connections.
func createEmpty(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

// startWAL makes the first commit to a WAL without any, so that the first turn need not
// wait for its sync. SQLite syncs the header of a WAL, since frames of an earlier WAL may
// follow it.
func (h *handle) startWAL() error {
	if _, err := h.exec(begin); err != nil {
		return err
	}
	return h.inTransaction(func(h *handle) error {
		_, err := h.exec(fmt.Sprintf("PRAGMA user_version=%d", knownVersion())) // any write; this one changes nothing
		return err
	})
}

// startNewWAL is startWAL without the sync, which a new file does not need.
func (h *handle) startNewWAL() error {
	if _, err := h.exec("PRAGMA synchronous=OFF"); err != nil {
		return err
	}
	if err := h.startWAL(); err != nil {
		return err
	}
	_, err := h.exec("PRAGMA synchronous=NORMAL")
	return err
}
