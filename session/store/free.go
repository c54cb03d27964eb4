package store

import "context"

// FreeBytes returns the room in the file that deleted data has left, in bytes. New data uses
// it before the file grows.
func (db *DB) FreeBytes(ctx context.Context) (bytes int64, err error) {
	err = db.read(ctx, func(h *handle) error {
		return h.one([]any{&bytes}, "SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size")
	})
	return bytes, err
}
