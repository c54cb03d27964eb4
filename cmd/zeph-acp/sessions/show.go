package sessions

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/acp"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/review/findings"
	"github.com/zeph-acp/zeph-acp/filter/text/plainjson"
	"github.com/zeph-acp/zeph-acp/session"
	"github.com/zeph-acp/zeph-acp/session/store"
	"github.com/zeph-acp/zeph-acp/session/transcript"
)

func newShow(f *cli.Flags) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "show ID",
		Short:   "Show the turns of a stored session",
		Example: "  zeph-acp sessions show 8f3a12c4",
		Args:    cli.NeedsOne("the id of a session"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withSessions(cmd, f, func(a *app.App, all []store.Session) error {
				s, err := Find(all, args[0])
				if err != nil {
					return err
				}
				s, events, lost, err := a.Sessions().Stored(cmd.Context(), s.ID)
				if err != nil {
					return err
				}
				if len(lost) > 0 {
					cli.Warnf(cmd, "%s", cli.OneLine(session.Unreadable(lost)))
				}
				var b bytes.Buffer
				if asJSON {
					err = replaySession(&headless.JSON{W: cli.JSONWriter{W: &b}}, s.ID, events)
				} else {
					err = Show(&b, cli.Screen(&b, os.Stdout, f.Getenv), s, events)
				}
				if err != nil {
					return err
				}
				_, err = b.WriteTo(cmd.OutOrStdout())
				return err
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the session updates as JSON lines")
	return cmd
}

// Show shows the turns on a screen that writes to b, each with its outcome.
func Show(b *bytes.Buffer, screen *headless.Screen, s store.Session, events []transcript.Event) error {
	created, updated := s.Created.Local().Format(cli.TimeLayout), s.Updated.Local().Format(cli.TimeLayout)
	fmt.Fprintf(b, "%s\n%s, %s to %s\n\n", sessionName(s), cli.OneLine(s.CWD), created, updated)
	return Replay(screen, s.ID, events)
}

// PastView shows past turns.
type PastView interface {
	headless.View
	Ended(stop acp.StopReason, failure string) // how a turn ended
}

// Replay shows the turns of a stored session, each with its outcome.
func Replay(view PastView, id string, events []transcript.Event) error {
	all := splitTurns(events)
	for i, turn := range all {
		if err := replaySession(view, id, withReadableFindings(turn)); err != nil {
			return err
		}
		if _, ok := turn[0].(transcript.Prompt); !ok {
			continue // settings before the first prompt
		}
		end := transcript.TurnEnd{Error: "not ended: the turn still runs, or its agent was killed"}
		if i+1 < len(all) { // a turn begins only after the previous one ended
			end.Error = "not ended: the agent was killed"
		}
		for _, e := range turn {
			if e, ok := e.(transcript.TurnEnd); ok {
				end = e
			}
		}
		view.Ended(end.Reason, end.Error)
	}
	return nil
}

// withReadableFindings returns a turn in which the answer of a review is a text for people.
func withReadableFindings(turn []transcript.Event) []transcript.Event {
	if p, ok := turn[0].(transcript.Prompt); !ok || !strings.HasPrefix(transcript.TypedText(p.Content), findings.ReviewTitle) {
		return turn
	}
	turn = slices.Clone(turn)
	for i, e := range turn {
		if block, ok := e.(transcript.Block); ok {
			if text, ok := findings.Markdown(block.Block.Text); ok {
				block.Block.Text = text
				turn[i] = block
			}
		}
	}
	return turn
}

// splitTurns splits a log before each prompt.
func splitTurns(events []transcript.Event) (out [][]transcript.Event) {
	for len(events) > 0 {
		n := slices.IndexFunc(events[1:], func(e transcript.Event) bool { _, ok := e.(transcript.Prompt); return ok }) + 1
		if n == 0 {
			n = len(events)
		}
		out, events = append(out, events[:n]), events[n:]
	}
	return out
}

// replaySession sends a view the updates that session/load sends to a client without terminals:
// the output of terminals is then text. For a compaction it reports who requested it.
func replaySession(view headless.View, id string, events []transcript.Event) error {
	return transcript.Replay(events, acp.ClientCapabilities{Compaction: true}, func(u acp.SessionUpdate) error {
		data, err := plainjson.Marshal(map[string]any{"sessionId": id, "update": u})
		if err == nil {
			view.Update(data)
		}
		return err
	})
}
