package store

import "context"

// AddCounters adds to counters of the whole database, which begin at 0.
func (db *DB) AddCounters(ctx context.Context, more map[string]int64) error {
	return db.write(ctx, func(h *handle) error {
		for name, n := range more {
			_, err := h.exec("INSERT INTO counters (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = value + excluded.value", name, n)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Counters returns the nonzero counters whose names begin with prefix.
func (db *DB) Counters(ctx context.Context, prefix string) (map[string]int64, error) {
	all := map[string]int64{}
	err := db.read(ctx, func(h *handle) error {
		var name string
		var value int64
		return h.each(ctx, func() error {
			all[name] = value
			return nil
		}, []any{&name, &value}, "SELECT name, value FROM counters WHERE substr(name, 1, length(?1)) = ?1", prefix)
	})
	return all, err
}
