// Package plugin is the command "zeph-acp plugin", which adds, lists, updates and removes plug-ins.
package plugin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/config"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/helper"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/plugin/bundle"
)

// NewCommand returns the command plugin.
func NewCommand(f *cli.Flags) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "plugin",
		Short: "Add, list, update and remove plug-ins",
		Args:  cli.NoCommand,
		RunE:  cli.NeedsCommand,
	}
	cmd.AddCommand(newAdd(f), newList(f), newUpdate(f), newRemove(f))
	return cmd
}

// keeper is the plug-ins of the user, and the means to fetch others.
type keeper struct {
	cmd   *cobra.Command
	store *bundle.Store
	open  func(context.Context, bundle.Source) (*bundle.Folder, error)
	home  string
}

// withKeeper calls do with the plug-ins of the user.
func withKeeper(cmd *cobra.Command, f *cli.Flags, do func(context.Context, *keeper) error) error {
	return cli.WithApp(cmd, f, func(l *config.Loaded, a *app.App) error {
		a.Reaper = helper.NewReaper()
		ctx, stop := cli.StopOnSignal(cmd.Context(), func() {})
		defer stop()
		runner := app.NetworkPrograms(l.Config, a.Reaper)
		k := &keeper{cmd: cmd, store: a.Plugins(), home: config.HomeDir(f.Getenv)}
		k.open = func(ctx context.Context, s bundle.Source) (*bundle.Folder, error) {
			if s.URL != "" {
				fmt.Fprintf(cmd.ErrOrStderr(), "Fetching %s\n", cli.OneLine(s.String()))
			}
			return bundle.Open(ctx, runner, s)
		}
		return do(ctx, k)
	})
}

func newAdd(f *cli.Flags) *cobra.Command {
	yes := false
	cmd := &cobra.Command{
		Use:   "add DIR|GIT-URL [NAME]",
		Short: "Add the plug-in in a folder or a git repository",
		Long: `Add the plug-in in a folder or a git repository: commands, sub-agents, skills, hooks and
MCP servers in the form of Claude Code, Codex or Gemini CLI. All of them are shown with their
text, and you are asked. Until you agree, nothing of the plug-in runs. It is copied, and its hash is
kept: if a file changes later, the plug-in is off.

If the source is a marketplace, NAME is one of its plug-ins.`,
		Example: `  zeph-acp plugin add ./my-plugin
  zeph-acp plugin add https://github.com/obra/superpowers
  zeph-acp plugin add 'https://github.com/obra/superpowers#v6.2.0'
  zeph-acp plugin add https://github.com/anthropics/claude-plugins-official commit-commands
  zeph-acp plugin add 'https://github.com/wshobson/agents#main:plugins/agent-teams'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) < 1 || len(args) > 2 {
				return cli.Usagef("want a folder or the address of a git repository, and for a marketplace a name: try %q", cmd.CommandPath()+" --help")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			return withKeeper(cmd, f, func(ctx context.Context, k *keeper) error { return k.add(ctx, args[0], append(args, "")[1], yes) })
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "add it without a question, and without showing its text")
	return cmd
}

// add adds the plug-in of a source.
func (k *keeper) add(ctx context.Context, source, listed string, yes bool) error {
	s, err := bundle.ParseSource(source)
	if err != nil {
		return cli.Usagef("%w", err)
	}
	p, err := bundle.Fetch(ctx, k.open, s, listed)
	if choice, ok := errors.AsType[*bundle.ChoiceError](err); ok {
		return k.listMarketplace(source, choice.Marketplace)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", cli.OneLine(strings.TrimSpace(source+" "+listed)), err)
	}
	all, err := k.store.Records()
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(all, func(r bundle.Record) bool { return strings.EqualFold(r.Name, p.Name) }); i >= 0 {
		return fmt.Errorf("there is already a plug-in %s, from %s: %q fetches its changes, and %q removes it",
			all[i].Name, cli.OneLine(all[i].Source), "zeph-acp plugin update "+all[i].Name, "zeph-acp plugin remove "+all[i].Name)
	}
	if err := k.show(p, !yes); err != nil {
		return err
	}
	if !yes && !cli.Confirm(k.cmd, "Add the plug-in "+p.Name+"?", "Nothing was added", "read the above, and add --yes if you want it") {
		return &cli.ExitError{Code: cli.ExitFailure}
	}
	r := bundle.Record{Name: p.Name, Source: s.String(), Listed: listed, Commit: p.Commit, Added: time.Now().UTC().Truncate(time.Second)}
	if err := k.store.Add(p, r); err != nil {
		return err
	}
	_, err = fmt.Fprintf(k.cmd.OutOrStdout(), "Added %s. New sessions use it.\n", p.Name)
	return err
}

// listMarketplace prints the plug-ins of a marketplace. The user must name one.
func (k *keeper) listMarketplace(source string, m *bundle.Marketplace) error {
	var rows [][]string
	for _, l := range m.Plugins {
		about := l.Description
		if l.Unusable != "" {
			about = "cannot be added: " + l.Unusable
		}
		rows = append(rows, []string{cli.OneLine(l.Name), cli.OneLine(about)})
	}
	if err := cli.WriteRows(k.cmd.OutOrStdout(), rows, cli.ScreenWidth()); err != nil {
		return err
	}
	return cli.Usagef("this is a marketplace: add one of its plug-ins with %q", "zeph-acp plugin add "+cli.OneLine(source)+" NAME")
}

func newRemove(f *cli.Flags) *cobra.Command {
	return &cobra.Command{
		Use:     "remove NAME",
		Short:   "Remove a plug-in with its folder, its approval and its data",
		Example: `  zeph-acp plugin remove greetings`,
		Args:    cli.NeedsOne("the name of a plug-in"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withKeeper(cmd, f, func(_ context.Context, k *keeper) error {
				found, err := k.store.Remove(args[0])
				if err == nil && !found {
					err = k.unknown(args[0])
				}
				if err != nil {
					return err
				}
				_, err = fmt.Fprintf(cmd.OutOrStdout(), "Removed %s.\n", args[0])
				return err
			})
		},
	}
}

// unknown returns the error about a name that no plug-in has.
func (k *keeper) unknown(name string) error {
	return fmt.Errorf("there is no plug-in %s: %q lists them", cli.OneLine(name), "zeph-acp plugin list")
}

// entry is a plug-in in the list.
type entry struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	State   string `json:"state"`         // on or off
	Why     string `json:"why,omitempty"` // it is off
	Brings  string `json:"brings,omitempty"`
	Source  string `json:"source"`
	Listed  string `json:"listed,omitempty"`
	Commit  string `json:"commit,omitempty"`
	Hash    string `json:"hash,omitempty"`
}

func newList(f *cli.Flags) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the plug-ins with their state, source and hash",
		Example: `  zeph-acp plugin list
  zeph-acp plugin list --json`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withKeeper(cmd, f, func(_ context.Context, k *keeper) error {
				all, err := k.entries()
				if err != nil {
					return err
				}
				if asJSON {
					return cli.WriteJSON(cmd.OutOrStdout(), all)
				}
				if len(all) == 0 {
					fmt.Fprintln(cmd.ErrOrStderr(), `No plug-in is added: "zeph-acp plugin add --help" shows how to add one.`)
				}
				var rows [][]string
				for _, e := range all {
					source := cli.OneLine(cli.Tilde(e.Source, k.home))
					if e.Listed != "" {
						source += " " + cli.OneLine(e.Listed)
					}
					rows = append(rows, []string{e.Name, e.Version, e.State, shortHash(e.Hash), source, cli.OneLine(e.Brings + e.Why)})
				}
				return cli.WriteRows(cmd.OutOrStdout(), rows, cli.ScreenWidth())
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print a JSON array")
	return cmd
}

// shortHash returns the beginning of a hash, enough to compare it.
func shortHash(hash string) string { return hash[:min(len(hash), len("sha256:")+12)] }

// entries returns the plug-ins for the list.
func (k *keeper) entries() ([]entry, error) {
	records, err := k.store.Records()
	if err != nil {
		return nil, err
	}
	all := []entry{}
	for _, r := range records {
		e := entry{Name: r.Name, State: "on", Source: r.Source, Listed: r.Listed, Commit: r.Commit}
		p, err := k.store.Stored(r.Name)
		if err == nil {
			e.Version, e.Hash, e.Brings = p.Version, p.Tree.Hash(), newReport(p).brings()
		}
		if _, off := k.store.Load(r.Name); off != nil {
			e.State, e.Why, e.Brings = "off", off.Error(), ""
		}
		all = append(all, e)
	}
	return all, nil
}

func newUpdate(f *cli.Flags) *cobra.Command {
	yes := false
	cmd := &cobra.Command{
		Use:   "update [NAME...]",
		Short: "Fetch plug-ins again, show what has changed, and ask",
		Long: `Fetch plug-ins again from their sources, all of them if none is named. The difference is
shown, and you are asked. A plug-in whose stored files were changed is restored.`,
		Example: `  zeph-acp plugin update
  zeph-acp plugin update greetings --yes`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return withKeeper(cmd, f, func(ctx context.Context, k *keeper) error {
				records, err := k.store.Records()
				if err != nil {
					return err
				}
				for _, name := range args {
					if !slices.ContainsFunc(records, func(r bundle.Record) bool { return r.Name == name }) {
						return k.unknown(name)
					}
				}
				var wrong error
				for _, r := range records {
					if len(args) > 0 && !slices.Contains(args, r.Name) {
						continue
					}
					if err := k.update(ctx, r, yes); err != nil {
						wrong = errors.Join(wrong, fmt.Errorf("%s: %w", r.Name, err))
					}
				}
				return wrong
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "use the new version without a question")
	return cmd
}

// update fetches a plug-in again.
func (k *keeper) update(ctx context.Context, r bundle.Record, yes bool) error {
	s, err := bundle.ParseSource(r.Source)
	if err != nil {
		return err
	}
	fresh, err := bundle.Fetch(ctx, k.open, s, r.Listed)
	if err != nil {
		return err
	}
	if fresh.Name != r.Name {
		return fmt.Errorf("its source now has another plug-in, %s: remove this one, and add that", fresh.Name)
	}
	out := k.cmd.OutOrStdout()
	off := k.store.Check(r.Name)
	r.Commit = fresh.Commit
	if k.store.IsApproved(fresh) {
		if off == nil {
			_, err := fmt.Fprintf(out, "%s is up to date.\n", r.Name)
			return err
		}
		if err := k.store.Add(fresh, r); err != nil {
			return err
		}
		_, err := fmt.Fprintf(out, "%s was changed here, and is restored as you approved it.\n", r.Name)
		return err
	}
	old, err := k.store.Files(r.Name)
	if err != nil {
		cli.Warnf(k.cmd, "%v", err)
	}
	if err := k.show(fresh, false); err != nil {
		return err
	}
	fmt.Fprintln(out)
	if err := showDifference(out, old, fresh.Tree); err != nil {
		return err
	}
	if off != nil {
		cli.Warnf(k.cmd, "the difference is from the files here, which are not the ones that you approved")
	}
	if !yes && !cli.Confirm(k.cmd, "Use this version of "+r.Name+"?", r.Name+" was not changed", "read the above, and add --yes if you want it") {
		return &cli.ExitError{Code: cli.ExitFailure}
	}
	if err := k.store.Add(fresh, r); err != nil {
		return err
	}
	_, err = fmt.Fprintf(out, "Updated %s. New sessions use it.\n", r.Name)
	return err
}
