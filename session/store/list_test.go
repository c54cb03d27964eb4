package store

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// pages lists all sessions, limit per page, and calls between after each page.
func pages(t *testing.T, db *DB, cwd string, limit int, between func()) (ids []string) {
	t.Helper()
	q := Query{CWD: cwd, Limit: limit}
	for {
		page, next, err := db.List(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range page {
			ids = append(ids, s.ID)
		}
		if next == "" {
			return ids
		}
		if len(page) != limit {
			t.Errorf("a page of %d, and more to come", len(page))
		}
		q.Cursor = next
		between()
	}
}

// put creates a session that was last updated at start+at.
func put(t *testing.T, db *DB, id, cwd string, at time.Duration) {
	t.Helper()
	e := event("x")
	e.Time = start.Add(at)
	if _, err := db.Append(t.Context(), Batch{Session: Session{ID: id, CWD: cwd}, Create: true, Events: []Event{e}}); err != nil {
		t.Fatal(err)
	}
}

func TestList(t *testing.T) {
	db, _ := openAt(t, newPath(t))
	if page, next, err := db.List(t.Context(), Query{}); len(page) != 0 || next != "" || err != nil {
		t.Errorf("empty: %v, %q, %v", page, next, err)
	}
	var all, odd []string
	for i := range 21 { // three per moment
		id := fmt.Sprintf("%02d", i)
		cwd := "/even"
		if i%2 == 1 {
			cwd = "/odd"
			odd = append(odd, id)
		}
		all = append(all, id)
		put(t, db, id, cwd, -time.Duration(i/3)*time.Second)
	}
	for name, tt := range map[string]struct {
		cwd  string
		want []string
	}{
		"all":           {"", all},
		"one":           {"/odd", odd},
		"byte for byte": {"/odd/", nil},
	} {
		for _, limit := range []int{0, 1, 2, 3, 4, 7, 10, 21, 22} {
			t.Run(fmt.Sprint(name, " by ", limit), func(t *testing.T) {
				if diff := cmp.Diff(tt.want, pages(t, db, tt.cwd, limit, func() {})); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
			})
		}
	}
}

func TestListWhileItChanges(t *testing.T) {
	db, _ := openAt(t, newPath(t))
	for i := range 10 {
		put(t, db, fmt.Sprint(i), "/w", -time.Duration(i)*time.Second)
	}
	changes := []func(){
		func() { put(t, db, "new", "/w", time.Hour) },
		func() { _ = db.Delete(t.Context(), "0") },
		func() { _ = db.Delete(t.Context(), "5") }, // the session at the cursor
	}
	got := pages(t, db, "", 2, func() {
		if len(changes) > 0 {
			changes[0]()
			changes = changes[1:]
		}
	})
	if diff := cmp.Diff([]string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestListUsesIndexes(t *testing.T) {
	db, _ := openAt(t, newPath(t))
	put(t, db, "s", "/w", 0)
	for _, where := range []string{"", "cwd = '/w' AND "} {
		var id, parent, unused int
		var detail string
		err := db.h.each(t.Context(), func() error { return nil }, []any{&id, &parent, &unused, &detail},
			"EXPLAIN QUERY PLAN SELECT "+columns+" FROM sessions WHERE "+where+"updated <= 1 AND (updated < 1 OR id > '') ORDER BY updated DESC, id LIMIT 2")
		if err != nil || len(detail) < 6 || detail[:6] != "SEARCH" {
			t.Errorf("%q: %q, %v", where, detail, err)
		}
	}
}

func TestCursorOfOthers(t *testing.T) {
	db, _ := openAt(t, newPath(t))
	for _, s := range []string{"x", "12", "bm9uZQ", "MSBh=", " ", "MDEgYQ" /* 01 a */, "KzEgYQ" /* +1 a */} {
		if _, _, err := db.List(t.Context(), Query{Cursor: s}); !errors.Is(err, ErrCursor) {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func FuzzCursor(f *testing.F) {
	for _, c := range []cursor{{0, ""}, {1, "a"}, {-5, "a b"}, {1 << 62, "\x00\xff"}} {
		f.Add(c.String())
	}
	f.Add("")
	f.Add("MSB")
	f.Fuzz(func(t *testing.T, s string) {
		c, err := parseCursor(s)
		switch {
		case err != nil && !errors.Is(err, ErrCursor):
			t.Errorf("%q: %v", s, err)
		case err == nil && s != "" && c.String() != s:
			t.Errorf("%q is read as the cursor of %v, which is written %q", s, c, c)
		}
	})
}
