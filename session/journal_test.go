package session

import (
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zeph-acp/zeph-acp/session/store"
)

// TestRenewLease checks that a long turn keeps its lease until it stops, and notices its loss.
func TestRenewLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := slog.New(slog.DiscardHandler)
		db := store.New(filepath.Join(t.TempDir(), "zeph.db"), store.Options{Log: log})
		defer db.Close()
		j := &journal{db: db, holder: "ours", log: log, session: store.Session{ID: "s"}}
		acquire := func(holder string) error {
			_, err := db.Acquire(t.Context(), "s", holder)
			return err
		}
		if err := acquire("ours"); err != nil {
			t.Fatal(err)
		}
		var lost []error
		stop := j.renewLease(func(err error) { lost = append(lost, err) })
		time.Sleep(2 * store.LeaseTimeout)
		synctest.Wait()
		if err := acquire("theirs"); err == nil || len(lost) > 0 {
			t.Fatalf("the lease was not renewed: %v, %v", err, lost)
		}
		stop()
		time.Sleep(2 * store.LeaseTimeout)
		if err := acquire("theirs"); err != nil {
			t.Fatalf("the lease was renewed after the turn: %v", err)
		}
		defer j.renewLease(func(err error) { lost = append(lost, err) })()
		time.Sleep(3 * heartbeat)
		synctest.Wait()
		if len(lost) != 1 || !errors.Is(lost[0], store.ErrLeaseLost) {
			t.Errorf("the loss was reported as %v", lost)
		}
	})
}
