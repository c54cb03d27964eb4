// Package memory is the command "zeph-acp memory", which lists, shows, adds, deletes and
// exports saved facts.
package memory

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/executors/tools/memory"
	"github.com/zeph-acp/zeph-acp/executors/workspace"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// NewCommand returns the command memory.
func NewCommand(f *cli.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "memory",
		Short: "List, show, add, delete or export saved facts",
		Long: `List, show, add, delete or export the facts that memory_save keeps for later
sessions, even while an agent runs. A fact belongs to one project or to all.

  zeph-acp memory add "Releases are cut from the branch release"
  zeph-acp memory list`,
		Args: cli.NoCommand,
		RunE: cli.NeedsCommand,
	}
	cmd.AddCommand(newList(f), newShow(f), newAdd(f), newDelete(f), newExport(f))
	return cmd
}

// withMemory runs do with the memory of a project, and with the selected entries, both the
// project's and the shared ones. Without a database the list is empty, and no database is
// created.
func withMemory(cmd *cobra.Command, f *cli.Flags, in cli.ProjectFlags, do func(m *memory.Memory, entries []memory.Entry) error) error {
	return cli.WithApp(cmd, f, func(l *config.Loaded, a *app.App) error {
		roots, err := in.Roots()
		if err != nil {
			return err
		}
		m := a.Memory(l.Config, roots)
		if m.Store == nil {
			return cli.ErrNoSessions
		}
		if !l.HasDatabase() {
			return do(m, nil)
		}
		projects := []string{m.Project, ""}
		if in.AllProjects {
			projects = nil
		}
		entries, err := m.Store.Memories(cmd.Context(), projects...)
		if err != nil {
			return err
		}
		return do(m, entries)
	})
}

// entryJSON is an entry in JSON.
type entryJSON struct {
	ID      int64             `json:"id"`
	Project string            `json:"project"` // empty: all projects
	Text    string            `json:"text"`
	Session string            `json:"sessionId,omitempty"`
	Created time.Time         `json:"createdAt"`
	Updated time.Time         `json:"updatedAt"`
	Files   map[string]string `json:"files,omitempty"` // SHA-256, by path
	Labels  json.RawMessage   `json:"labels,omitempty"`
}

// entriesJSON returns entries in the form for JSON.
func entriesJSON(entries []memory.Entry) []entryJSON {
	out := make([]entryJSON, len(entries))
	for i, e := range entries {
		out[i] = entryJSON{e.ID, e.Project, e.Text, e.Session, e.Created, e.Updated, e.Files, e.Labels}
	}
	return out
}

func newList(f *cli.Flags) *cobra.Command {
	var in cli.ProjectFlags
	asJSON := false
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the entries of a project and those for all projects",
		Example: "  zeph-acp memory list",
		Long: `List the entries of a project and those for all projects, the oldest first: number, time
of the last change, project ("*" for all), text.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withMemory(cmd, f, in, func(_ *memory.Memory, entries []memory.Entry) error {
				if asJSON {
					return cli.WriteExport(cmd.OutOrStdout(), entriesJSON(entries))
				}
				return listEntries(cmd, entries)
			})
		},
	}
	in.Register(cmd, "the entries of")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

// listEntries prints a line for each entry.
func listEntries(cmd *cobra.Command, entries []memory.Entry) error {
	if len(entries) == 0 {
		fmt.Fprintln(cmd.ErrOrStderr(), "Nothing is saved.")
	}
	screen := cli.IsTerminal(os.Stdout)
	var rows [][]string
	for _, e := range entries {
		at := e.Updated.Format(time.RFC3339)
		if screen {
			at = e.Updated.Local().Format(cli.TimeLayout)
		}
		rows = append(rows, []string{strconv.FormatInt(e.ID, 10), at, cmp.Or(cli.OneLine(e.Project), "*"), cli.OneLine(e.Text)})
	}
	return cli.WriteRows(cmd.OutOrStdout(), rows, cli.ScreenWidth())
}

func newShow(f *cli.Flags) *cobra.Command {
	return &cobra.Command{
		Use:     "show ID",
		Short:   "Show an entry, its origin and its files",
		Example: "  zeph-acp memory show 3",
		Args:    cli.NeedsOne("the number of an entry"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withMemory(cmd, f, cli.ProjectFlags{AllProjects: true}, func(m *memory.Memory, entries []memory.Entry) error {
				e, err := findEntry(entries, args[0])
				if err != nil {
					return err
				}
				if e.Project != "" { // its files are compared where they are
					m.Project = e.Project
					if m.Roots, err = workspace.New(e.Project); err != nil {
						m.Roots = nil
					}
				}
				return showEntry(cmd.OutOrStdout(), m, e)
			})
		},
	}
}

// showEntry prints an entry with its text last.
func showEntry(w io.Writer, m *memory.Memory, e memory.Entry) error {
	var b strings.Builder
	fmt.Fprintf(&b, "Entry %d, for %s\n", e.ID, cmp.Or(cli.OneLine(e.Project), "all projects"))
	fmt.Fprintf(&b, "Saved %s", e.Created.Local().Format(cli.TimeLayout))
	if e.Updated.After(e.Created) {
		fmt.Fprintf(&b, ", last %s", e.Updated.Local().Format(cli.TimeLayout))
	}
	if e.Session == "" {
		b.WriteString(", by zeph-acp memory add\n")
	} else {
		fmt.Fprintf(&b, ", in session %s\n", cli.OneLine(e.Session))
	}
	if len(e.Files) > 0 {
		fmt.Fprintf(&b, "Files: %s\n", cli.OneLine(strings.Join(slices.Sorted(maps.Keys(e.Files)), ", ")))
	}
	for _, change := range m.Stale(e) {
		fmt.Fprintf(&b, "May be out of date: %s\n", cli.OneLine(change))
	}
	if len(e.Labels) > 0 {
		fmt.Fprintf(&b, "Labels of its session: %s\n", cli.OneLine(string(e.Labels)))
	}
	b.WriteString("\n")
	for line := range strings.Lines(e.Text) {
		b.WriteString(cli.OneLine(strings.TrimSuffix(line, "\n")) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// findEntry returns the entry with that number.
func findEntry(entries []memory.Entry, id string) (memory.Entry, error) {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return memory.Entry{}, cli.Usagef("want the number of an entry, got %q", id)
	}
	if i := slices.IndexFunc(entries, func(e memory.Entry) bool { return e.ID == n }); i >= 0 {
		return entries[i], nil
	}
	return memory.Entry{}, fmt.Errorf("there is no entry %d: %q lists the saved ones", n, "zeph-acp memory list --all-projects")
}

func newAdd(f *cli.Flags) *cobra.Command {
	var in cli.ProjectFlags
	var fact memory.Fact
	cmd := &cobra.Command{
		Use:     "add TEXT...",
		Short:   "Save a fact for later sessions; - reads it from stdin",
		Example: `  zeph-acp memory add "The staging database listens on port 5433"`,
		Args:    cli.NeedsSome("the text of the fact"),
		RunE: func(cmd *cobra.Command, args []string) error {
			fact.Text = strings.Join(args, " ")
			if fact.Text == "-" {
				text, err := io.ReadAll(cmd.InOrStdin())
				if err != nil {
					return err
				}
				fact.Text = string(text)
			}
			return withMemory(cmd, f, in, func(m *memory.Memory, _ []memory.Entry) error {
				saved, err := m.Save(cmd.Context(), fact)
				if err != nil {
					return fmt.Errorf("add: %w", err)
				}
				_, err = fmt.Fprintln(cmd.OutOrStdout(), saved.ForUser())
				return err
			})
		},
	}
	cmd.Flags().StringVar(&in.Dir, "cwd", "", "save for the project `DIR` instead of the current directory")
	cmd.Flags().BoolVar(&fact.Global, "global", false, "save for all projects")
	cmd.Flags().StringArrayVar(&fact.Files, "file", nil, "a `FILE` that the fact is about; may be repeated")
	cmd.Flags().Int64Var(&fact.Replaces, "replaces", 0, "replace the text of the entry `ID`")
	return cmd
}

func newDelete(f *cli.Flags) *cobra.Command {
	return &cobra.Command{
		Use:     "delete ID...",
		Short:   "Delete entries permanently, without asking",
		Example: "  zeph-acp memory delete 3 4",
		Args:    cli.NeedsSome("the number of an entry"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withMemory(cmd, f, cli.ProjectFlags{AllProjects: true}, func(m *memory.Memory, entries []memory.Entry) error {
				return deleteEntries(cmd, m, entries, args)
			})
		},
	}
}

// deleteEntries deletes the entries that exist and reports the others.
func deleteEntries(cmd *cobra.Command, m *memory.Memory, entries []memory.Entry, ids []string) error {
	var unknown error
	for _, id := range ids {
		e, err := findEntry(entries, id)
		if err == nil {
			err = m.Delete(cmd.Context(), e.ID)
		}
		if errors.Is(err, fs.ErrNotExist) { // named twice, or deleted meanwhile
			continue
		}
		if err != nil {
			cli.PrintError(err, cmd.ErrOrStderr())
			unknown = &cli.ExitError{Code: cli.ExitFailure}
			continue
		}
		if _, err := fmt.Fprintf(cmd.OutOrStdout(), "Deleted entry %d: %s\n", e.ID, cli.OneLine(e.Text)); err != nil {
			return err
		}
	}
	return unknown
}

func newExport(f *cli.Flags) *cobra.Command {
	var in cli.ProjectFlags
	var file string
	cmd := &cobra.Command{
		Use:     "export",
		Short:   "Print the entries as a JSON document",
		Example: "  zeph-acp memory export > facts.json",
		Args:    cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withMemory(cmd, f, in, func(_ *memory.Memory, entries []memory.Entry) error {
				doc := struct {
					Memories []entryJSON `json:"memories"`
				}{entriesJSON(entries)}
				count := quantity.Count(len(entries), "entry")
				return cli.WriteNew(cmd, file, count, func(w io.Writer) error { return cli.WriteExport(w, doc) })
			})
		},
	}
	in.Register(cmd, "the entries of")
	cmd.Flags().StringVarP(&file, "output", "o", "", "write to the new file `FILE` instead of stdout")
	return cmd
}
