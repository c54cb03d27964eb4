package cli

import (
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
)

// WithApp prints the warnings about the configuration, and calls do with it and a new App, which it
// closes afterwards.
func WithApp(cmd *cobra.Command, f *Flags, do func(*config.Loaded, *app.App) error) error {
	l, err := f.Load(cmd)
	if err != nil {
		return err
	}
	return UseApp(l, func(a *app.App) error {
		PrintWarnings(cmd, l.Warnings)
		return do(l, a)
	})
}

// UseApp calls do with a new App, which it closes afterwards.
func UseApp(l *config.Loaded, do func(*app.App) error) error {
	log, closeLog, err := app.NewLogger(l.Config.Log, l.Getenv, os.Stderr)
	if err != nil {
		return err
	}
	defer closeLog()
	a := app.New(l, log)
	defer CloseApp(a)
	return do(a)
}

// closeTimeout limits the wait for the database after the server waited for turns and
// frames. Both fit into the 2 seconds in which the process must end.
const closeTimeout = 200 * time.Millisecond

// CloseApp stops everything that runs in the background and closes the database.
// All important data is committed by then, so it does not wait for a lock that
// another program holds.
func CloseApp(a *app.App) {
	a.CloseTools()
	closed := make(chan error, 1)
	go func() { closed <- a.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			a.Log.Warn("close the database", "err", err)
		}
	case <-time.After(closeTimeout):
		a.Log.Warn("close the database", "err", "it is still in use")
	}
}

// DiscardLog returns a log that is not written.
func DiscardLog() *slog.Logger { return slog.New(slog.DiscardHandler) }
