package store

import (
	"context"
	"strconv"
)

const (
	// incremental is the mode of auto_vacuum in which shrinkBatch can return room. A
	// database of an earlier version has it from its first Shrink on.
	incremental = 2
	// slack is the room that a sweep leaves for new data, in bytes.
	slack = 1 << 20
	// shrinkPages is the number of pages that a batch of a sweep moves.
	shrinkPages = 64
)

// freeBytes returns the room in the file that deleted data has left, in bytes. New data uses it before the file grows.
func (h *handle) freeBytes() (bytes int64, err error) {
	err = h.one([]any{&bytes}, "SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size")
	return bytes, err
}

// shrinkBatch gives some of the room over slack back to the file system, in the transaction
// that has begun, and reports whether more is left. A turn that needs the database waits
// milliseconds for it, unlike for Shrink.
func (h *handle) shrinkBatch() (more bool, err error) {
	var mode int
	if err := h.one([]any{&mode}, "PRAGMA auto_vacuum"); err != nil || mode != incremental {
		return false, err
	}
	free, err := h.freeBytes()
	if err != nil || free <= slack {
		return false, err
	}
	if err := h.each(context.Background(), func() error { return nil }, nil, "PRAGMA incremental_vacuum("+strconv.Itoa(shrinkPages)+")"); err != nil {
		return false, err
	}
	left, err := h.freeBytes()
	return left > slack && left < free, err
}

// Shrink gives the room that deleted data has left back to the file system, and returns how many bytes that were. SQLite
// writes the database anew, so that it stays as it was if the disk is full or the process ends. The error is about a
// lock if another process writes at that time.
func (db *DB) Shrink(ctx context.Context) (bytes int64, err error) {
	err = db.read(ctx, func(h *handle) error {
		free, err := h.freeBytes()
		if err != nil || free == 0 {
			return err
		}
		if err := h.setIncremental(); err != nil {
			return err
		}
		if _, err := h.exec("VACUUM"); err != nil {
			return err
		}
		if err := h.one([]any{new(int), new(int), new(int)}, "PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
			return err
		}
		bytes = free
		return nil
	})
	return bytes, err
}

// setIncremental sets the mode of a file without pages, or of the next VACUUM. It cannot be
// prepared, since compiling it has the effect.
func (h *handle) setIncremental() error {
	_, err := h.conn.ExecContext(context.Background(), "PRAGMA auto_vacuum="+strconv.Itoa(incremental))
	return err
}
