package store

import "context"

// freeBytes returns the room in the file that deleted data has left, in bytes. New data uses it before the file grows.
func (h *handle) freeBytes() (bytes int64, err error) {
	err = h.one([]any{&bytes}, "SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size")
	return bytes, err
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
