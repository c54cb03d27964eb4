package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func TestLease(t *testing.T) {
	path := newPath(t)
	one, c := openAt(t, path)
	two := New(path, Options{Now: c.Now})
	defer two.Close()

	acquire := func(db *DB, holder string, want bool) {
		t.Helper()
		_, err := db.Acquire(t.Context(), "s", holder)
		leased, taken := errors.AsType[*LeasedError](err)
		if taken == want || err != nil && !taken {
			t.Errorf("Acquire for %s: %v", holder, err)
		}
		if taken && (leased.PID != os.Getpid() || leased.Session != "s" || !strings.Contains(err.Error(), "in use")) {
			t.Errorf("Acquire for %s: %+v", holder, leased)
		}
	}
	beat := func(db *DB, holder string, want error) {
		t.Helper()
		if err := db.Heartbeat(t.Context(), "s", holder); !errors.Is(err, want) {
			t.Errorf("Heartbeat of %s: %v, want %v", holder, err, want)
		}
	}

	beat(one, "a", ErrUnknown) // no one has the lease, and the session is not stored
	acquire(one, "a", true)
	acquire(one, "a", true) // a second time
	acquire(two, "b", false)
	acquire(one, "b", false)
	beat(two, "b", ErrLeaseLost)
	for range 4 {
		c.pass(LeaseTimeout - time.Millisecond)
		beat(one, "a", nil)
	}
	acquire(two, "b", false)
	c.pass(LeaseTimeout)
	beat(one, "a", nil) // late, but no one else has taken it
	c.pass(LeaseTimeout)
	acquire(two, "b", true)
	beat(one, "a", ErrLeaseLost)
	if err := one.Release(t.Context(), "s", "a"); err != nil { // it has lost the lease
		t.Error(err)
	}
	acquire(one, "a", false)
	if err := two.Release(t.Context(), "s", "b"); err != nil {
		t.Error(err)
	}
	acquire(one, "a", true)
	if _, err := two.Acquire(t.Context(), "other", "b"); err != nil {
		t.Errorf("of another session: %v", err)
	}
	c.pass(-time.Hour) // the clock is set back
	acquire(two, "b", true)
}

// While the clock is set back and forth, only the process that acquired the lease last
// can append, no event is lost, and a silent holder never keeps the lease for longer
// than twice LeaseTimeout.
func TestClockSetAcrossTheLease(t *testing.T) {
	path := newPath(t)
	one, c := openAt(t, path)
	two := New(path, Options{Now: c.Now})
	defer two.Close()
	must(t, one, "s", true, "0")
	random := rand.New(rand.NewPCG(1, 2))
	holder, events, takeovers := "", 1, 0
	for range 2000 {
		name := []string{"a", "b"}[random.IntN(2)]
		db := map[string]*DB{"a": one, "b": two}[name]
		switch random.IntN(6) {
		case 0: // the clock is set, by up to an hour
			c.pass(time.Duration(random.Int64N(int64(2*time.Hour))) - time.Hour)
		case 1: // time passes
			c.pass(time.Duration(random.Int64N(int64(LeaseTimeout / 2))))
		case 2:
			if _, err := db.Acquire(t.Context(), "s", name); err == nil && holder != name {
				holder, takeovers = name, takeovers+1
			}
		case 3:
			if err := db.Heartbeat(t.Context(), "s", name); (err == nil) != (holder == name) {
				t.Fatalf("Heartbeat of %s while %s holds the lease: %v", name, holder, err)
			}
		default:
			_, err := db.Append(t.Context(), Batch{Session: Session{ID: "s", CWD: "/w"}, Holder: name, Events: []Event{event(fmt.Sprint(events))}})
			if (err == nil) != (holder == name) {
				t.Fatalf("Append of %s while %s holds the lease: %v", name, holder, err)
			}
			if err == nil {
				events++
			}
		}
	}
	if all := texts(t, one, "s"); len(all) != events || takeovers < 50 {
		t.Errorf("%d events of %d after %d takeovers", len(all), events, takeovers)
	}
	other := map[string]string{"a": "b", "b": "a"}[holder]
	c.pass(2 * LeaseTimeout) // the clock may have been set back by one
	if _, err := two.Acquire(t.Context(), "s", other); err != nil {
		t.Errorf("Acquire after %v without a heartbeat: %v", 2*LeaseTimeout, err)
	}
}

func TestAcquireReturnsLastSeq(t *testing.T) {
	db, _ := openAt(t, newPath(t))
	if last, err := db.Acquire(t.Context(), "s", "me"); last != 0 || err != nil {
		t.Errorf("not stored yet: %d, %v", last, err)
	}
	must(t, db, "s", true, "x", "y")
	if last, err := db.Acquire(t.Context(), "s", "me"); last != 2 || err != nil {
		t.Errorf("with two events: %d, %v", last, err)
	}
}

func TestLive(t *testing.T) {
	now, here := start, "here"
	for name, tt := range map[string]struct {
		l    lease
		want bool
	}{
		"ours":                         {lease{host: here, pid: os.Getpid(), beat: now}, true},
		"ours, stale":                  {lease{host: here, pid: os.Getpid(), beat: now.Add(-LeaseTimeout)}, false},
		"another host":                 {lease{host: "there", pid: 1 << 22, beat: now}, true},
		"another host, stale":          {lease{host: "there", pid: os.Getpid(), beat: now.Add(-LeaseTimeout)}, false},
		"from the future":              {lease{host: here, pid: os.Getpid(), beat: now.Add(LeaseTimeout)}, false},
		"a clock slightly ahead":       {lease{host: "there", beat: now.Add(time.Second)}, true},
		"a pid that there can't be":    {lease{host: here, pid: 1<<31 - 1, beat: now}, false},
		"a process of somebody else's": {lease{host: here, pid: os.Getppid(), beat: now}, true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := tt.l.live(now, here); got != tt.want {
				t.Errorf("live is %v", got)
			}
		})
	}
}

// Of many concurrent handles that want a lease, one gets it.
func TestAcquireRace(t *testing.T) {
	path := newPath(t)
	var got atomic.Int32
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			db := New(path, Options{})
			defer db.Close()
			_, err := db.Acquire(t.Context(), "s", string(rune('a'+i)))
			if _, leased := errors.AsType[*LeasedError](err); err != nil && !leased {
				t.Error(err)
			} else if !leased {
				got.Add(1)
			}
		})
	}
	wg.Wait()
	if got.Load() != 1 {
		t.Errorf("%d have the lease", got.Load())
	}
}

func TestAppendAndRelease(t *testing.T) {
	db, _ := openAt(t, newPath(t))
	acquire := func(holder string, want bool) {
		t.Helper()
		if _, err := db.Acquire(t.Context(), "s", holder); (err == nil) != want {
			t.Errorf("Acquire for %s: %v", holder, err)
		}
	}
	s, events := Session{ID: "s", CWD: "/w"}, []Event{{Kind: "prompt", Data: []byte("1")}}
	add := func(create bool, holder string, want int64, wantErr error) {
		t.Helper()
		if last, err := db.Append(t.Context(), Batch{Session: s, Create: create, Holder: holder, Events: events, Release: true}); last != want || !errors.Is(err,
			wantErr) {
			t.Errorf("Append for %s: %d, %v; want %d, %v", holder, last, err, want, wantErr)
		}
	}

	acquire("a", true)
	add(false, "a", 0, ErrUnknown)
	_, err := db.Append(t.Context(), Batch{Session: s, Create: true, Holder: "b", Events: events})
	if leased, ok := errors.AsType[*LeasedError](err); !ok || leased.Holder != "a" {
		t.Errorf("Append to a new session that another holder has: %v, want a LeasedError", err)
	}
	acquire("b", false) // the failures changed nothing
	add(true, "a", 1, nil)
	add(false, "a", 0, ErrLeaseLost) // it was given up
	acquire("b", true)
	add(true, "b", 0, ErrExists)
	acquire("a", false)
	add(false, "b", 2, nil)
	acquire("a", true)
}
