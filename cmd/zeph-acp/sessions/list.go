package sessions

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/layout"
	"github.com/zeph-acp/zeph-acp/session/store"
)

func newList(f *cli.Flags) *cobra.Command {
	var dir string
	var asJSON bool
	var limit int
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the stored sessions, the newest first",
		Example: "  zeph-acp sessions list",
		Long: `List the stored sessions, the newest first: id, time of the last change,
directory, title.

In a terminal ids and directories are shortened to fit a line. Elsewhere each line
has all four in full, separated by tabs, and the time is in UTC.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if limit < 0 {
				return cli.Usagef("-n %d: want a number of sessions, or 0 for all", limit)
			}
			return withSessions(cmd, f, func(_ *app.App, all []store.Session) error {
				shown, err := InDirectory(all, dir)
				if err != nil {
					return err
				}
				if limit > 0 {
					shown = shown[:min(limit, len(shown))]
				}
				out := cmd.OutOrStdout()
				switch {
				case asJSON:
					return sessionsJSON(out, shown)
				case len(shown) == 0:
					_, err := fmt.Fprintln(cmd.ErrOrStderr(), noSessionsText(dir))
					return err
				}
				return listSessions(f, out, shown, all)
			})
		},
	}
	cmd.Flags().StringVar(&dir, "cwd", "", "list only the sessions of the directory `DIR`")
	cmd.Flags().IntVarP(&limit, "number", "n", 0, "list at most `N` sessions; default: all")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

// listSessions lists some of all sessions, for a person or for programs.
func listSessions(f *cli.Flags, w io.Writer, sessions, all []store.Session) error {
	if cli.IsTerminal(os.Stdout) {
		return sessionsScreen(w, sessions, all, config.HomeDir(f.Getenv), cli.Columns())
	}
	return sessionsLines(w, sessions)
}

// noSessionsText returns the message for an empty list.
func noSessionsText(dir string) string {
	if dir == "" {
		return "No session is stored yet. A session is stored at its first prompt."
	}
	return fmt.Sprintf("No session of %s is stored.", cli.OneLine(dir))
}

// InDirectory returns the sessions of a directory, including those that name it by another
// path. "" means all directories.
func InDirectory(all []store.Session, dir string) ([]store.Session, error) {
	if dir == "" {
		return all, nil
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	wanted, err := os.Stat(dir)
	exists := err == nil
	same := map[string]bool{dir: true} // by cwd, so that each is examined once
	var out []store.Session
	for _, s := range all {
		if _, known := same[s.CWD]; !known && exists {
			info, err := os.Stat(s.CWD)
			same[s.CWD] = err == nil && os.SameFile(info, wanted)
		}
		if same[s.CWD] {
			out = append(out, s)
		}
	}
	return out, nil
}

// sessionsJSON prints sessions as session/list does, with further fields.
func sessionsJSON(w io.Writer, sessions []store.Session) error {
	type entry struct {
		ID      string    `json:"sessionId"`
		CWD     string    `json:"cwd"`
		Dirs    []string  `json:"additionalDirectories,omitempty"`
		Title   string    `json:"title,omitempty"`
		Created time.Time `json:"createdAt"`
		Updated time.Time `json:"updatedAt"`
	}
	entries := make([]entry, len(sessions))
	for i, s := range sessions {
		entries[i] = entry{s.ID, s.CWD, s.Dirs, s.Title, s.Created, s.Updated}
	}
	return cli.WriteJSON(w, entries)
}

// sessionsLines formats sessions for programs that read lines.
func sessionsLines(w io.Writer, sessions []store.Session) error {
	var b strings.Builder
	for _, s := range sessions {
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\n", cli.OneLine(s.ID), s.Updated.Format(time.RFC3339), cli.OneLine(s.CWD), cli.OneLine(s.Title))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// sessionsScreen formats sessions for a person; a line of the terminal has width
// columns. It shortens ids to unambiguous prefixes, and home to "~".
func sessionsScreen(w io.Writer, sessions, all []store.Session, home string, width int) error {
	const gap = 2
	n := ShortID(all)
	ids, dirs := make([]string, len(sessions)), make([]string, len(sessions))
	widestID, widestDir := 0, 0
	for i, s := range sessions {
		ids[i], dirs[i] = cli.OneLine(s.ID[:min(n, len(s.ID))]), cli.OneLine(cli.Tilde(s.CWD, home))
		widestID, widestDir = max(widestID, layout.Columns(ids[i])), max(widestDir, layout.Columns(dirs[i]))
	}
	left := max(width-widestID-len(cli.TimeLayout)-3*gap, 30)
	widestDir = min(widestDir, left*2/5)
	var b strings.Builder
	for i, s := range sessions {
		title := layout.Cut(cmp.Or(cli.OneLine(s.Title), "no title"), left-widestDir)
		id, dir := cli.Pad(ids[i], widestID), cli.Pad(cli.FitEnd(dirs[i], widestDir), widestDir)
		fmt.Fprintf(&b, "%s  %s  %s  %s\n", id, s.Updated.Local().Format(cli.TimeLayout), dir, title)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// ShortID returns the length in bytes at which the prefixes of all ids differ.
func ShortID(all []store.Session) int {
	n := 8
	for seen := (map[string]bool{}); ; n += 4 {
		clear(seen)
		cut := false
		for _, s := range all {
			seen[s.ID[:min(n, len(s.ID))]] = true
			cut = cut || n < len(s.ID)
		}
		if len(seen) == len(all) || !cut {
			return n
		}
	}
}
