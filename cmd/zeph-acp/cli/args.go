package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/zeph-acp/zeph-acp/filter/text/quantity"
)

// NoArgs rejects arguments.
func NoArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usagef("%s takes no argument, got %q: try %q", CommandPath(cmd), args[0], cmd.CommandPath()+" --help")
	}
	return nil
}

// NoCommand rejects arguments of a command that only has subcommands.
func NoCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	var names []string
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	hint := fmt.Sprintf("try %q", cmd.CommandPath()+" --help")
	switch near, habit := nearest(args[0], names), commandHabits[args[0]]; {
	case habit != "" && !cmd.HasParent():
		hint = fmt.Sprintf("did you mean %q?", cmd.Name()+" "+habit)
	case near != "":
		hint = fmt.Sprintf("did you mean %q?", near)
	case cmd.HasParent():
		hint = "want " + strings.Join(names, ", ")
	case len(args) > 1 || strings.Contains(args[0], " "):
		hint = fmt.Sprintf("a prompt needs %q or %q before it", cmd.Name()+" chat", cmd.Name()+" run")
	}
	return Usagef("unknown command %q: %s", args[0], hint)
}

// NeedsCommand runs a command that only has subcommands: it prints them as an error.
func NeedsCommand(cmd *cobra.Command, _ []string) error {
	cmd.SetOut(cmd.ErrOrStderr())
	return errors.Join(cmd.Help(), &ExitError{Code: ExitUsage})
}

// CommandPath returns the names of a command without the program's.
func CommandPath(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()+" ")
}

// NeedsOne returns a check for one argument; the error message calls it noun.
func NeedsOne(noun string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return Usagef("want %s, got %s: try %q", noun, quantity.Count(len(args), "argument"), cmd.CommandPath()+" --help")
		}
		return nil
	}
}

// NeedsSome returns a check for one argument or more; the error message calls them noun.
func NeedsSome(noun string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return Usagef("want %s: try %q", noun, cmd.CommandPath()+" --help")
		}
		return nil
	}
}

// AtMostOne returns a check for at most one argument, which noun names.
func AtMostOne(noun string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return Usagef("want at most %s, got %s: try %q", noun, quantity.Count(len(args), "argument"), cmd.CommandPath()+" --help")
		}
		return nil
	}
}
