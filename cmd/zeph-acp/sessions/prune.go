package sessions

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors/undo/rewind"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
	"github.com/zeph-acp/zeph-acp/session/store"
)

// pruneFlags are the command-line flags of sessions prune.
type pruneFlags struct {
	age, dir string
	yes      bool
}

func newPrune(f *cli.Flags) *cobra.Command {
	p := &pruneFlags{}
	cmd := &cobra.Command{
		Use:   "prune --older-than AGE",
		Short: "Delete sessions that have not changed for some time",
		Long: `List the sessions that have not changed for some time, and delete them after a yes. A
session with a running turn stays. Without a terminal nothing is deleted, unless --yes is
set.

  zeph-acp sessions prune --older-than 30d
  zeph-acp sessions prune --older-than 12h --cwd . --yes`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if p.age == "" {
				return cli.Usagef("want the age of the sessions: sessions prune --older-than 30d")
			}
			age, err := cli.ParseAge(p.age)
			if err != nil {
				return cli.Usagef("--older-than: %w", err)
			}
			return cli.WithApp(cmd, f, func(l *config.Loaded, a *app.App) error { return p.prune(cmd, f, l, a, time.Now().Add(-age)) })
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&p.age, "older-than", "", "delete the sessions without a change in the last `AGE`: a number with h, d or w, such as 30d")
	fs.StringVar(&p.dir, "cwd", "", "delete only sessions of the directory `DIR`")
	fs.BoolVar(&p.yes, "yes", false, "delete without asking")
	return cmd
}

// prune deletes the sessions without a change since before, after a yes.
func (p *pruneFlags) prune(cmd *cobra.Command, f *cli.Flags, l *config.Loaded, a *app.App, before time.Time) error {
	all, err := Stored(cmd.Context(), l, a)
	if err != nil {
		return err
	}
	shown, err := InDirectory(all, p.dir)
	if err != nil {
		return err
	}
	var old []store.Session
	for _, s := range shown {
		if s.Updated.Before(before) {
			old = append(old, s)
		}
	}
	if len(old) == 0 {
		_, err := fmt.Fprintln(cmd.ErrOrStderr(), "No session is that old.")
		return err
	}
	if !p.yes {
		if err := listSessions(f, cmd.OutOrStdout(), old, all); err != nil {
			return err
		}
		question := fmt.Sprintf("Delete %s permanently?", quantity.Count(len(old), "session"))
		if !cli.Confirm(cmd, question, "Nothing was deleted", "--yes deletes these sessions") {
			return nil
		}
	}
	return deleteOld(cmd, l, a, old, before)
}

// deleteOld deletes sessions, shrinks the database, and prints the space that this freed.
func deleteOld(cmd *cobra.Command, l *config.Loaded, a *app.App, old []store.Session, before time.Time) error {
	ctx, kept := cmd.Context(), filepath.Join(l.Paths.Data, rewind.DirName)
	files, n, sessions := treeSize(kept), 0, a.Sessions()
	for _, s := range old {
		deleted, err := sessions.DeleteOld(ctx, s.ID, before)
		if err != nil {
			return fmt.Errorf("after %s: %w", quantity.Count(n, "deleted session"), err)
		}
		if deleted {
			n++
			continue
		}
		fmt.Fprintf(cmd.ErrOrStderr(), "%s is in use and stays.\n", sessionName(s))
	}
	text := "Deleted " + quantity.Count(n, "session")
	freed, err := a.Store.Shrink(ctx)
	if err == nil {
		text += fmt.Sprintf(": the database is %s smaller", sizeText(freed))
	} else {
		text += fmt.Sprintf(": new sessions use their room first, since the database could not shrink (%v)", err)
	}
	if freed := files - treeSize(kept); freed > 0 {
		text += fmt.Sprintf(", and %s of files for /rewind were removed", sizeText(freed))
	}
	_, err = fmt.Fprintln(cmd.OutOrStdout(), text+".")
	return err
}

func sizeText(bytes int64) string {
	if bytes < 1e6 {
		return fmt.Sprintf("%.1f kB", float64(max(bytes, 0))/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(bytes)/1e6)
}

// treeSize returns the size of the files below a directory, in bytes.
func treeSize(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { // unreadable entries do not count
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				bytes += info.Size()
			}
		}
		return nil
	})
	return bytes
}
