package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/store"
)

func newSessions(f *flags) *cobra.Command {
	sessions := &cobra.Command{
		Use:   "sessions",
		Short: "List, search, show, export, import, prune or delete stored sessions",
		Long: `List, search, show, export, import, prune or delete stored sessions, also while an
agent runs.

An ID may be shortened to a prefix of at least 4 characters that no other
session has.`,
		Args: noCommand,
		RunE: needsCommand,
	}
	sessions.AddCommand(
		newSessionsList(f),
		newSessionsShow(f),
		newSessionsExport(f),
		newSessionsImport(f),
		newSessionsDelete(f),
		newSessionsPrune(f),
		newSessionsSearch(f),
	)
	return sessions
}

// withSessions runs do with the stored sessions.
func withSessions(cmd *cobra.Command, f *flags, do func(a *app.App, all []store.Session) error) error {
	return withApp(cmd, f, func(l *config.Loaded, a *app.App) error {
		all, err := storedSessions(cmd.Context(), l, a)
		if err != nil {
			return err
		}
		return do(a, all)
	})
}

// storedSessions returns all sessions, the newest first. If there is no
// database, it returns no session and does not create one.
func storedSessions(ctx context.Context, l *config.Loaded, a *app.App) (all []store.Session, err error) {
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

// findSession returns the session whose id is, or begins with, the given id.
func findSession(all []store.Session, id string) (store.Session, error) {
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
		return oneLine(s.ID)
	}
	return fmt.Sprintf("%s (%s)", oneLine(s.ID), oneLine(s.Title))
}

func newSessionsDelete(f *flags) *cobra.Command {
	return &cobra.Command{
		Use:   "delete ID...",
		Short: "Delete sessions permanently, without asking",
		Args:  needsSome("the id of a session"),
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
		s, err := findSession(all, id)
		if err != nil {
			exitStatus(err, cmd.ErrOrStderr())
			unknown = &exitError{code: exitFailure}
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

// errNoSessions reports why sessions cannot be stored.
var errNoSessions = errors.New("sessions are not saved here: there is no home directory; set ZEPH_HOME")
