package sessions

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/layout"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/review/findings"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/filter/text/rank"
	"github.com/zeph-acp/zeph-acp/session/store"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

const (
	// maxMatches is the number of messages that a search considers.
	maxMatches = 500
	// maxShownMatches is the number of messages of one session that a search prints.
	maxShownMatches = 3
)

// foundSession is a session that a search has found.
type foundSession struct {
	ID      string         `json:"sessionId"`
	CWD     string         `json:"cwd"`
	Title   string         `json:"title,omitempty"`
	Updated time.Time      `json:"updatedAt"`
	Matches []foundMessage `json:"matches"` // empty if only the title matches
}

// foundMessage is a message with the words of a search.
type foundMessage struct {
	Role string    `json:"role"` // user or agent
	Time time.Time `json:"time"`
	Text string    `json:"text"` // the part around the words, masked
}

func newSearch(f *cli.Flags) *cobra.Command {
	var dir string
	var asJSON bool
	limit := 20
	cmd := &cobra.Command{
		Use:   "search TEXT...",
		Short: "Find sessions by words of their titles and messages",
		Long: `Print the sessions that have all of the words in the title or in one message, the best
first, with these messages. A word also matches longer words that begin with it.
Credentials are masked. The first search reads all sessions, which takes longer.

  zeph-acp sessions search token refresh
  zeph-acp sessions search --cwd . --json flaky`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if limit < 1 {
				return cli.Usagef("-n %d: want a number of sessions", limit)
			}
			words := rank.Split(strings.Join(args, " "))
			if len(words) == 0 {
				return cli.Usagef("want the words to find: try %q", cmd.CommandPath()+" --help")
			}
			return withSessions(cmd, f, func(a *app.App, all []store.Session) error {
				shown, err := InDirectory(all, dir)
				if err != nil {
					return err
				}
				found, err := searchSessions(cmd, a, shown, words)
				if err != nil {
					return err
				}
				found = found[:min(len(found), limit)]
				switch out := cmd.OutOrStdout(); {
				case asJSON:
					return cli.WriteJSON(out, found)
				case len(found) == 0:
					_, err = fmt.Fprintln(cmd.ErrOrStderr(), "No session has these words.")
					return err
				default:
					return printFound(out, found, all, config.HomeDir(f.Getenv))
				}
			})
		},
	}
	cmd.Flags().StringVar(&dir, "cwd", "", "search only the sessions of the directory `DIR`")
	cmd.Flags().IntVarP(&limit, "number", "n", limit, "print at most `N` sessions")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

// searchSessions returns the sessions whose titles have the words, then those whose messages have
// them.
func searchSessions(cmd *cobra.Command, a *app.App, sessions []store.Session, words []string) ([]foundSession, error) {
	messages, unread, err := a.FindMessages(cmd.Context(), sessions, words, maxMatches)
	if err != nil {
		return nil, err
	}
	if unread > 0 {
		cli.Warnf(cmd, "%s not read yet: repeat the search", quantity.Count(unread, "session"))
	}
	mask := a.Masked()
	byID, found := map[string]store.Session{}, []foundSession{}
	indexOf := func(s store.Session) int {
		i := slices.IndexFunc(found, func(h foundSession) bool { return h.ID == s.ID })
		if i < 0 {
			i = len(found)
			found = append(found, foundSession{
				ID: s.ID, CWD: s.CWD, Title: mask(s.Title), Updated: s.Updated, Matches: []foundMessage{},
			})
		}
		return i
	}
	for _, s := range sessions {
		byID[s.ID] = s
		if hasWords(s.Title, words) {
			indexOf(s)
		}
	}
	for _, m := range messages {
		s, ok := byID[m.Session]
		if !ok {
			continue // not among the searched sessions, or begun since
		}
		if i := indexOf(s); len(found[i].Matches) < maxShownMatches {
			text := m.Text
			if finding, ok := findingWith(cmd.Context(), a.Store, m, words); ok {
				text = mask(finding)
			}
			found[i].Matches = append(found[i].Matches, foundMessage{m.Role, m.Time, line.Join(text)})
		}
	}
	return found, nil
}

// findingWith returns the finding that has the most of the words, if a message is the answer
// of a review.
func findingWith(ctx context.Context, db *store.DB, m store.Message, words []string) (text string, ok bool) {
	if m.Role != "agent" || !strings.HasPrefix(m.Title, findings.ReviewTitle) {
		return "", false
	}
	events, err := db.EventsOfKind(ctx, m.Session, transcript.Block{}.Kind())
	if err != nil {
		return "", false // the message itself is shown
	}
	bestCount := 0
	for _, e := range events {
		decoded, _ := transcript.Decode(e.Kind, e.Data)
		block, isBlock := decoded.(transcript.Block)
		if !isBlock || !e.Time.Equal(m.Time) {
			continue
		}
		for _, f := range findings.Parse(block.Block.Text) {
			line := f.Headline() + ": " + f.Text
			if n := countWords(line, words); n > bestCount {
				bestCount, text, ok = n, line, true
			}
		}
	}
	return text, ok
}

// hasWords reports whether each of the words begins a word of the text.
func hasWords(text string, words []string) bool { return countWords(text, words) == len(words) }

// countWords returns how many of the words begin a word of the text.
func countWords(text string, words []string) (n int) {
	all := rank.Split(strings.ToLower(text))
	for _, w := range words {
		if slices.ContainsFunc(all, func(have string) bool { return strings.HasPrefix(have, strings.ToLower(w)) }) {
			n++
		}
	}
	return n
}

// printFound prints each session on a line, and its messages below.
func printFound(w io.Writer, found []foundSession, all []store.Session, home string) error {
	var b strings.Builder
	n, width := ShortID(all), cli.TextWidth()
	for _, h := range found {
		id, at := cli.OneLine(h.ID[:min(n, len(h.ID))]), h.Updated.Local().Format(cli.TimeLayout)
		dir, title := cli.OneLine(cli.Tilde(h.CWD, home)), cli.OneLine(h.Title)
		if cli.ScreenWidth() > 0 {
			dir = cli.FitEnd(dir, width/3)
			title = layout.Cut(title, width-layout.Columns(id+at+dir)-6)
		}
		fmt.Fprintf(&b, "%s  %s  %s  %s\n", id, at, dir, title)
		for _, m := range h.Matches {
			for i, line := range cli.WrapText(cli.OneLine(m.Text), max(width-len("    agent: "), cli.MinColumn)) {
				role := m.Role + ":"
				if i > 0 {
					role = ""
				}
				fmt.Fprintf(&b, "    %-6s %s\n", role, line)
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
