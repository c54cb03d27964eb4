package store

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The sums of several concurrent handles add up, and a new handle reads them.
func TestCounters(t *testing.T) {
	path := newPath(t)
	const writers, adds = 4, 25
	var all sync.WaitGroup
	for range writers {
		db, _ := openAt(t, path)
		all.Go(func() {
			for range adds {
				if err := db.AddCounters(t.Context(), map[string]int64{"a.x": 2, "a.y": 1 << 40, "b": 1}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	db, _ := openAt(t, path)
	for prefix, want := range map[string]map[string]int64{
		"a.":   {"a.x": 2 * writers * adds, "a.y": writers * adds << 40},
		"b":    {"b": writers * adds},
		"a_":   {}, // not a pattern
		"none": {},
	} {
		got, err := db.Counters(t.Context(), prefix)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("Counters(%q): %v, (-want +got)\n%s", prefix, err, diff)
		}
	}
}

func TestCountersOfBrokenStore(t *testing.T) {
	db := New(t.TempDir(), Options{}) // a directory is not a database
	if err := db.AddCounters(t.Context(), map[string]int64{"a": 1}); err == nil {
		t.Error("AddCounters: no error")
	}
	if _, err := db.Counters(t.Context(), ""); err == nil {
		t.Error("Counters: no error")
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

func BenchmarkAddCounters(b *testing.B) {
	db := New(b.TempDir()+"/zeph.db", Options{})
	defer db.Close()
	more := map[string]int64{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6, "g": 7}
	b.ReportAllocs()
	for b.Loop() {
		if err := db.AddCounters(b.Context(), more); err != nil {
			b.Fatal(err)
		}
	}
}
