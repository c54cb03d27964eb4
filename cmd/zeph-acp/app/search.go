package app

import (
	"context"
	"time"

	"github.com/zeph-acp/zeph-acp/filter"
	"github.com/zeph-acp/zeph-acp/session/store"
)

// searchTime limits how long FindMessages reads sessions that no search has read yet.
const searchTime = time.Minute

// FindMessages returns the messages of the sessions with all of the words, the best first.
// A word also matches longer words that begin with it. Unread is the number of sessions for
// which the time was too short.
func (a *App) FindMessages(
	ctx context.Context, sessions []store.Session, words []string, limit int,
) (found []store.Message, unread int, err error) {
	var dirs []string
	seen := map[string]bool{}
	for _, s := range sessions {
		if !seen[s.CWD] {
			seen[s.CWD], dirs = true, append(dirs, s.CWD)
		}
	}
	if len(dirs) == 0 || len(words) == 0 {
		return nil, 0, nil
	}
	e := earlierSessions{store: a.Store, dirs: dirs, mask: a.Masked()}
	for until := time.Now().Add(searchTime); ; {
		if unread, err = e.index(ctx); err != nil {
			return nil, unread, err
		}
		if unread == 0 || time.Now().After(until) || ctx.Err() != nil {
			break
		}
	}
	expression := ""
	for _, w := range words {
		expression += ` "` + w + `"*`
	}
	found, err = a.Store.MatchMessages(ctx, expression, "", limit, dirs...)
	for i := range found {
		found[i].Text = e.mask(found[i].Text)
	}
	return found, unread, err
}

// Masked returns a function that redacts the credentials in a text, even where those in
// results are not masked.
func (a *App) Masked() func(text string) string {
	return a.filters.mask(filter.Security{Enabled: true, ExtraPatterns: a.Config.Tools.Filters.Security.ExtraPatterns})
}
