package mcp

import (
	"cmp"
	"testing"
	"testing/synctest"
	"time"
)

// TestChanges announces changes in different ways and counts the readings of a minute.
func TestChanges(t *testing.T) {
	for name, tt := range map[string]struct {
		every       time.Duration // between two announcements; 0: at each reading, for ever
		least, most int
	}{
		"at each reading":      {0, 5, 12},
		"ten times a second":   {100 * time.Millisecond, 5, 50},
		"every other second":   {2 * time.Second, 29, 31},
		"once in five seconds": {5 * time.Second, 11, 13},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				i := newInstance(&Servers{}, Server{}, nil, nil)
				var c changes
				readings := 0
				var announce func()
				announce = func() {
					i.rereadLater(&c, func() {
						_ = c.read(func() error {
							readings++
							if tt.every == 0 {
								announce()
							}
							return nil
						})
					})
				}
				end := time.Now().Add(time.Minute)
				for announce(); time.Now().Before(end); time.Sleep(cmp.Or(tt.every, time.Second)) {
					if tt.every > 0 {
						announce()
					}
				}
				i.cancel(nil)
				i.work.Wait()
				if readings < tt.least || readings > tt.most {
					t.Errorf("%d readings, want %d to %d", readings, tt.least, tt.most)
				}
			})
		})
	}
}
