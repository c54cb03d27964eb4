package cli

import (
	"database/sql"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/session/store"
)

// The process ends without waiting for a program that keeps the database
// locked.
func TestCloseLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "zeph.db")
	inside := make(chan struct{}, 9) // the store asks for the time only while it has the database to itself
	waiting := store.New(path, store.Options{Now: func() time.Time { inside <- struct{}{}; return time.Now() }})
	defer waiting.Close()
	if _, err := waiting.Acquire(t.Context(), "s", "holder"); err != nil { // this creates the file
		t.Fatal(err)
	}
	for len(inside) > 0 {
		<-inside
	}
	other, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	conn, err := other.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	wrote := make(chan error, 1)
	go func() { wrote <- waiting.Heartbeat(t.Context(), "s", "holder") }()
	<-inside
	CloseApp(&app.App{Storage: app.Storage{Store: waiting}, Log: slog.New(slog.DiscardHandler)})
	select {
	case err := <-wrote:
		t.Error("the end waited for the locked database, whose write returned", err)
	default:
	}
	if _, err := conn.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	<-wrote
}
