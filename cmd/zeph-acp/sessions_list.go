package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless/layout"
	"github.com/zeph-acp/zeph-acp/session/store"
)

func newSessionsList(f *flags) *cobra.Command {
	var dir string
	var asJSON bool
	var most int
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the stored sessions, the newest first",
		Long: `List the stored sessions, the newest first: id, time of the last change,
directory, title.

In a terminal ids and directories are shortened to fit a line. Elsewhere each line
holds the four in full, with a tab between them and the time in UTC.`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if most < 0 {
				return usageError("-n %d: want a number of sessions, or 0 for all", most)
			}
			return withSessions(cmd, f, func(_ *app.App, all []store.Session) error {
				shown, err := inDirectory(all, dir)
				if err != nil {
					return err
				}
				if most > 0 {
					shown = shown[:min(most, len(shown))]
				}
				out := cmd.OutOrStdout()
				switch {
				case asJSON:
					return listJSON(jsonOutput{out}, shown)
				case len(shown) == 0:
					_, err := fmt.Fprintln(cmd.ErrOrStderr(), noneStored(dir))
					return err
				case isTerminal(os.Stdout):
					return listScreen(out, shown, all, config.HomeDir(f.getenv), columns())
				default:
					return listLines(out, shown)
				}
			})
		},
	}
	cmd.Flags().StringVar(&dir, "cwd", "", "list only the sessions of the directory `DIR`")
	cmd.Flags().IntVarP(&most, "number", "n", 0, "list at most `N` sessions; default: all")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

func noneStored(dir string) string {
	if dir == "" {
		return "No session is stored yet. A session is stored at its first prompt."
	}
	return fmt.Sprintf("No session of %s is stored.", oneLine(dir))
}

// inDirectory returns the sessions of a directory, under any of its paths; "" means
// all.
func inDirectory(all []store.Session, dir string) ([]store.Session, error) {
	if dir == "" {
		return all, nil
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	wanted, err := os.Stat(dir)
	exists := err == nil
	same := map[string]bool{dir: true}
	var out []store.Session
	for _, s := range all {
		is, known := same[s.CWD]
		if !known && exists {
			info, err := os.Stat(s.CWD)
			is = err == nil && os.SameFile(info, wanted)
			same[s.CWD] = is
		}
		if is {
			out = append(out, s)
		}
	}
	return out, nil
}

// listJSON prints sessions as session/list does, with further fields.
func listJSON(w io.Writer, sessions []store.Session) error {
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
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(entries)
}

// listLines formats sessions for programs that read lines.
func listLines(w io.Writer, sessions []store.Session) error {
	var b strings.Builder
	for _, s := range sessions {
		fmt.Fprintf(&b, "%s\t%s\t%s\t%s\n", oneLine(s.ID), s.Updated.Format(time.RFC3339), oneLine(s.CWD), oneLine(s.Title))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// listScreen formats sessions for a person; a line of the terminal has width
// columns. It shortens ids to unambiguous prefixes, and home to "~".
func listScreen(w io.Writer, sessions, all []store.Session, home string, width int) error {
	const gap, when = 2, "2006-01-02 15:04"
	n := shortID(all)
	ids, dirs, widestID, widest := make([]string, len(sessions)), make([]string, len(sessions)), 0, 0
	for i, s := range sessions {
		ids[i], dirs[i] = oneLine(s.ID[:min(n, len(s.ID))]), oneLine(tilde(s.CWD, home))
		widestID, widest = max(widestID, cells(ids[i])), max(widest, cells(dirs[i]))
	}
	left := max(width-widestID-len(when)-3*gap, 30)
	widest = min(widest, left*2/5)
	var b strings.Builder
	for i, s := range sessions {
		title := fitWidth(cmp.Or(oneLine(s.Title), "no title"), left-widest)
		fmt.Fprintf(&b, "%s  %s  %s  %s\n", padded(ids[i], widestID), s.Updated.Local().Format(when), padded(fitEnd(dirs[i], widest), widest), title)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// shortID returns the length in bytes at which the prefixes of all ids differ.
func shortID(all []store.Session) int {
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

// columns returns the width of the terminal on stdout.
func columns() int {
	if width, _, err := term.GetSize(int(os.Stdout.Fd())); err == nil && width > 0 {
		return width
	}
	return 80
}

func tilde(path, home string) string {
	if rest, ok := strings.CutPrefix(path, home); ok && home != "" && (rest == "" || os.IsPathSeparator(rest[0])) {
		return "~" + rest
	}
	return path
}

// fitWidth truncates the end of a text that is too wide.
func fitWidth(text string, width int) string { return layout.Cut(text, width) }

// fitEnd truncates the beginning of a text that is too wide, since the end of a
// path is more informative.
func fitEnd(text string, width int) string {
	runes, over := []rune(text), cells(text)-width
	if over <= 0 {
		return text
	}
	for over++; over > 0 && len(runes) > 0; runes = runes[1:] { // for the …
		over -= cells(string(runes[0]))
	}
	return "…" + string(runes)
}

func padded(text string, width int) string {
	return text + strings.Repeat(" ", max(width-cells(text), 0))
}

// cells returns how many columns a text occupies on a terminal.
func cells(text string) int { return layout.Columns(text) }
