// Package sessions is the command "zeph-acp sessions", which lists, searches, shows,
// exports, imports, prunes and deletes stored sessions.
package sessions

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/store"
)

// NewCommand returns the command sessions.
func NewCommand(f *cli.Flags) *cobra.Command {
	sessions := &cobra.Command{
		Use:   "sessions",
		Short: "List, search, show, export, import, prune or delete stored sessions",
		Long: `List, search, show, export, import, prune or delete stored sessions, also while an
agent runs.

An ID may be shortened to a prefix of at least 4 characters that no other
session has.`,
		Args: cli.NoCommand,
		RunE: cli.NeedsCommand,
	}
	sessions.AddCommand(
		newList(f),
		newShow(f),
		newExport(f),
		newImport(f),
		newDelete(f),
		newPrune(f),
		newSearch(f),
	)
	return sessions
}

// withSessions runs do with the stored sessions.
func withSessions(cmd *cobra.Command, f *cli.Flags, do func(a *app.App, all []store.Session) error) error {
	return cli.WithApp(cmd, f, func(l *config.Loaded, a *app.App) error {
		all, err := Stored(cmd.Context(), l, a)
		if err != nil {
			return err
		}
		return do(a, all)
	})
}

// Stored returns all sessions, the newest first. If there is no
// database, it returns no session and does not create one.
func Stored(ctx context.Context, l *config.Loaded, a *app.App) (all []store.Session, err error) {
	if !l.HasDatabase() {
		return nil, nil
	}
	for q := (store.Query{Limit: 1000}); ; {
		page, next, err := a.Store.List(ctx, q)
		if err != nil {
			return nil, err
		}
		all = append(all, page...)
		if q.Cursor = next; next == "" {
			return all, nil
		}
	}
}

// minPrefix is the minimum length of an id's prefix, in characters.
const minPrefix = 4

// Find returns the session whose id is, or begins with, the given id.
func Find(all []store.Session, id string) (store.Session, error) {
	if i := slices.IndexFunc(all, func(s store.Session) bool { return s.ID == id }); i >= 0 {
		return all[i], nil
	}
	var found []store.Session
	if len(id) >= minPrefix {
		for _, s := range all {
			if strings.HasPrefix(s.ID, id) {
				found = append(found, s)
			}
		}
	}
	switch len(found) {
	case 0:
		if len(id) < minPrefix {
			return store.Session{}, fmt.Errorf("no session %q is stored: the prefix of an id needs at least %d characters", id, minPrefix)
		}
		return store.Session{}, fmt.Errorf("no session %q is stored: %q lists the stored ones", id, "zeph-acp sessions list")
	case 1:
		return found[0], nil
	}
	var ids []string
	for _, s := range found {
		ids = append(ids, s.ID)
	}
	return store.Session{}, fmt.Errorf("%q is the prefix of %s: %s", id, quantity.Count(len(found), "session"), strings.Join(ids, ", "))
}

// sessionName returns the name of a session for messages.
func sessionName(s store.Session) string {
	if s.Title == "" {
		return cli.OneLine(s.ID)
	}
	return fmt.Sprintf("%s (%s)", cli.OneLine(s.ID), cli.OneLine(s.Title))
}

func newDelete(f *cli.Flags) *cobra.Command {
	return &cobra.Command{
		Use:     "delete ID...",
		Short:   "Delete sessions permanently, without asking",
		Example: "  zeph-acp sessions delete 8f3a12c4",
		Args:    cli.NeedsSome("the id of a session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withSessions(cmd, f, func(a *app.App, all []store.Session) error { return deleteSessions(cmd, a, all, args) })
		},
	}
}

// deleteSessions deletes the sessions that exist and reports the others. It looks
// up all ids before the first deletion, so that an ambiguous prefix never becomes
// unambiguous.
func deleteSessions(cmd *cobra.Command, a *app.App, all []store.Session, ids []string) error {
	var unknown error
	gone := map[string]bool{}
	for _, id := range ids {
		s, err := Find(all, id)
		if err != nil {
			cli.PrintError(err, cmd.ErrOrStderr())
			unknown = &cli.ExitError{Code: cli.ExitFailure}
			continue
		}
		if gone[s.ID] {
			continue
		}
		if err := a.Sessions().Delete(cmd.Context(), s.ID); err != nil {
			return err
		}
		gone[s.ID] = true
		if _, err := fmt.Fprintf(cmd.OutOrStdout(), "Deleted %s.\n", sessionName(s)); err != nil {
			return err
		}
	}
	return unknown
}
