// Package filter is the command "zeph-acp filter", which filters output as a tool call
// would, and lists the rules.
package filter

import (
	"bufio"
	"fmt"
	"hash/maphash"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/app"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/cli"
	"github.com/zeph-acp/zeph-acp/cmd/zeph-acp/headless"
	"github.com/zeph-acp/zeph-acp/executors/command"
	"github.com/zeph-acp/zeph-acp/filter"
	"github.com/zeph-acp/zeph-acp/filter/redact"
	"github.com/zeph-acp/zeph-acp/filter/strategy"
	"github.com/zeph-acp/zeph-acp/filter/text"
	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// NewCommand returns the command filter.
func NewCommand(f *cli.Flags) *cobra.Command {
	var command string
	var code int
	var explain, list bool
	cmd := &cobra.Command{
		Use:   "filter --command CMD",
		Short: "Print a command's output as the output filters leave it",
		Long: `Read a command's output from stdin and print it as a model would get it. The amount that
was removed, and a warning about credentials, go to stderr.

  go test ./... 2>&1 | zeph-acp filter --command "go test ./..." --exit 1 --explain

It applies the built-in rules and your filters.toml.`,
		Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !list && strings.TrimSpace(command) == "" {
				return cli.Usagef(`want the command that wrote the output: try "zeph-acp filter --command 'go test ./...' <OUTPUT"`)
			}
			l, err := f.Load(cmd)
			if err != nil {
				return err
			}
			filters, warnings := app.OutputFilter(l)
			l.Warnings = append(l.Warnings, warnings...)
			if !l.Config.Tools.Filters.Enabled {
				l.Warnings = append(l.Warnings, "tools.filters.enabled is false: there are no rules")
			}
			cli.PrintWarnings(cmd, l.Warnings)
			switch {
			case list && explain:
				return listPatterns(cmd.OutOrStdout(), filters)
			case list:
				return listRules(cmd.OutOrStdout(), filters)
			}
			return filterStdin(cmd, filters, command, code, explain)
		},
	}
	cmd.Flags().StringVar(&command, "command", "", "the command line `CMD` that wrote the output")
	cmd.Flags().IntVar(&code, "exit", 0, "the command's exit code `N`; -1 if a signal ended it")
	cmd.Flags().BoolVar(&explain, "explain", false, "print to stderr each rule that was used and the lines that it removed")
	cmd.Flags().BoolVar(&list, "list", false, "describe the rules in their order instead; with --explain, print their patterns")
	return cmd
}

// filterStdin filters stdin, of any length, in little memory.
func filterStdin(cmd *cobra.Command, f *filter.Filter, command string, code int, explain bool) error {
	notes := bufio.NewWriter(cmd.ErrOrStderr())
	defer notes.Flush()
	explainRule := func(filter.Applied, *text.Lines, *text.Lines) {}
	if explain {
		explainRule = explainer(notes)
		explainCommand(notes, command)
	}
	o, err := f.Explain(command, code, cmd.InOrStdin(), explainRule)
	if err != nil {
		return fmt.Errorf("filter the output: %w", err)
	}
	defer o.Close()
	if explain && len(o.Rules) == 0 {
		fmt.Fprintln(notes, "no rule matches: the output is only sanitised and redacted")
	}
	if _, err := io.Copy(cmd.OutOrStdout(), o.Text.Spool().Reader()); err != nil {
		return fmt.Errorf("write the filtered output: %w", err)
	}
	for _, line := range []string{o.Stats(), redact.Warning(o.Found)} {
		if line != "" {
			fmt.Fprintln(notes, line)
		}
	}
	return nil
}

// explainCommand prints the command that rules are matched against.
func explainCommand(w io.Writer, script string) {
	out := command.OutputsOf(script)
	switch {
	case out.Command == "":
		fmt.Fprintln(w, "command: no command of the script writes any output")
	case out.Selected:
		fmt.Fprintf(w, "command: %s; a later command of the pipeline selects its lines, so no kind of line is dropped\n", cli.OneLine(out.Command))
	case out.Mixed:
		fmt.Fprintf(w, "command: %s; other commands of the script may have written too\n", cli.OneLine(out.Command))
	default:
		fmt.Fprintf(w, "command: %s\n", cli.OneLine(out.Command))
	}
}

const (
	// maxShown is the number of lines that are shown of those that a rule removed or added.
	maxShown = 200
	// maxMemos is the number of lines of a rule's output that are compared with its input.
	maxMemos = 1 << 20
)

// explainer returns a function that explains each rule's effect.
func explainer(w io.Writer) func(by filter.Applied, before, after *text.Lines) {
	return func(by filter.Applied, before, after *text.Lines) {
		fmt.Fprintf(w, "rule %s (%s): %s, ", cli.OneLine(by.Rule), by.Strategy, by.Confidence)
		switch {
		case by.Failed != nil:
			fmt.Fprintf(w, "nothing changed: it panicked, which is a bug worth a report:\n%s\n", headless.Visible(by.Failed.Error()))
		case before != after:
			fmt.Fprintf(w, "%d lines -> %d lines\n", before.Count(), after.Count())
			if err := differences(w, before, after); err != nil {
				fmt.Fprintf(w, "  (the lines cannot be shown: %v)\n", err)
			}
		case by.Confidence == strategy.Fallback:
			fmt.Fprintln(w, "nothing changed: the rule did not recognise the output")
		default:
			fmt.Fprintln(w, "nothing changed: there was nothing to remove")
		}
	}
}

// differences lists the lines that occur in only one of the texts, at any position.
func differences(w io.Writer, before, after *text.Lines) error {
	if after.Count() > maxMemos {
		_, err := fmt.Fprintln(w, "  (too many lines remain to show the removed ones)")
		return err
	}
	seed, remaining := maphash.MakeSeed(), map[uint64]int{} // the lines of after, by hash
	if err := after.Each(func(line []byte) { remaining[maphash.Bytes(seed, line)]++ }); err != nil {
		return err
	}
	removed, added := linePrinter{w: w, sign: "-"}, linePrinter{w: w, sign: "+"}
	err := before.Each(func(line []byte) {
		if sum := maphash.Bytes(seed, line); remaining[sum] > 0 {
			remaining[sum]--
		} else {
			removed.line(line)
		}
	})
	removed.end("taken out")
	if err != nil {
		return err
	}
	err = after.Each(func(line []byte) {
		if sum := maphash.Bytes(seed, line); remaining[sum] > 0 {
			remaining[sum]--
			added.line(line)
		}
	})
	added.end("written")
	return err
}

// linePrinter prints the first lines of many, each after a sign.
type linePrinter struct {
	w     io.Writer
	sign  string
	count int
}

func (l *linePrinter) line(text []byte) {
	if l.count++; l.count <= maxShown && len(text) > 0 {
		fmt.Fprintf(l.w, "%s %s\n", l.sign, headless.Visible(string(text)))
	}
}

func (l *linePrinter) end(what string) {
	if l.count > maxShown {
		fmt.Fprintf(l.w, "%s … %s %s\n", l.sign, quantity.Count(l.count-maxShown, "more line"), what)
	}
}
