package store

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"
)

// filled returns the path of a closed database with a session "s" of n events.
func filled(b *testing.B, n int) string {
	path := filepath.Join(b.TempDir(), "zeph.db")
	db := New(path, Options{})
	data := fmt.Appendf(nil, "%q", bytes.Repeat([]byte("x"), 1000))
	events := make([]Event, n)
	for i := range events {
		events[i] = Event{Kind: "tool_call", Data: data}
	}
	if _, err := db.Append(b.Context(), Batch{Session: Session{ID: "s", CWD: "/w"}, Create: true, Events: events}); err != nil {
		b.Fatal(err)
	}
	if err := db.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

func BenchmarkAppend(b *testing.B) {
	db := New(filled(b, 1), Options{})
	defer db.Close()
	if _, err := db.Acquire(b.Context(), "s", "me"); err != nil {
		b.Fatal(err)
	}
	s, events := Session{ID: "s", CWD: "/w", Title: "title"}, []Event{{Kind: "agent_message", Data: bytes.Repeat([]byte("x"), 200)}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := db.Append(b.Context(), Batch{Session: s, Holder: "me", Events: events}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppend20MiB(b *testing.B) {
	db := New(filled(b, 1), Options{})
	defer db.Close()
	s, events := Session{ID: "s", CWD: "/w"}, []Event{{Kind: "prompt", Data: bytes.Repeat([]byte("x"), 20<<20)}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := db.Append(b.Context(), Batch{Session: s, Events: events}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEvents2000(b *testing.B) {
	db := New(filled(b, 2000), Options{})
	defer db.Close()
	b.ReportAllocs()
	for b.Loop() {
		if events, err := db.Events(b.Context(), "s", 0); err != nil || len(events) != 2000 {
			b.Fatal(len(events), err)
		}
	}
}

func BenchmarkList(b *testing.B) {
	db := New(filled(b, 1), Options{})
	defer db.Close()
	for i := range 1000 {
		if _, err := db.Append(b.Context(), Batch{Session: Session{ID: fmt.Sprint(i), CWD: "/w"}, Create: true}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		if page, _, err := db.List(b.Context(), Query{CWD: "/w"}); err != nil || len(page) != 100 {
			b.Fatal(len(page), err)
		}
	}
}

func BenchmarkOpenExisting(b *testing.B) {
	path := filled(b, 1)
	b.ReportAllocs()
	for b.Loop() {
		db := New(path, Options{})
		if _, err := db.Session(b.Context(), "s"); err != nil {
			b.Fatal(err)
		}
		db.Close()
	}
}

func BenchmarkOpenNew(b *testing.B) {
	dir, n := b.TempDir(), 0
	b.ReportAllocs()
	for b.Loop() {
		n++
		db := New(filepath.Join(dir, fmt.Sprint(n)), Options{})
		if _, _, err := db.List(b.Context(), Query{}); err != nil {
			b.Fatal(err)
		}
		db.Close()
	}
}
